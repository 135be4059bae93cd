"""What a server answers when it is asked one by one, who it is, and what ran out."""

import dataclasses
import http.client
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchforge.model.answer import Answer
from benchforge.model.probes import Alike, Complaint, Listener, Probes
from benchforge.run.ask import Like, Question, ask, reason
from benchforge.run.here import Here, Running

BEFORE, AFTER = 20, 5
WITHIN_S = 1.0  # on each side: a server that takes its time is asked less often
_KEPT = 8
_READ_BYTES = 1 << 20  # of the beginning of each log, and of its end
_LINE = 200
# What the C library says of EMFILE, ENFILE and EADDRNOTAVAIL, and others in their own words.
_PHRASES = (
    ("descriptors", b"too many open files"),
    ("ports", b"cannot assign requested address"),
    ("ports", b"can't assign requested address"),
    ("ports", b"address not available"),
)


@dataclass(frozen=True)
class Seen:
    """What came of a question: an answer and what is wrong with it, or why there is none."""

    answer: Answer | None
    wrong: str | None

    @property
    def kind(self) -> tuple[int, str, str] | None:
        """By what answers are alike; None without one."""
        if self.answer is None:
            return None
        type_ = self.answer.headers.get("content-type", "")
        return self.answer.status, type_, self.answer.sha256


def held_to_itself(question: Question, body: bytes) -> Question:
    """With same_body a server has to answer the same itself, also where it is the first of all."""
    if not question.expect.same_body or question.like is not None:
        return question
    return dataclasses.replace(question, like=Like(question.label, body))


def asked(here: Here, question: Question, count: int, *, keep_alive: bool) -> list[Seen]:
    """Ask so often, one after the other, for a second at most, and return what came back."""
    seen: list[Seen] = []
    begun = time.monotonic()
    root, request, ca_file = question.root, question.request, question.ca_file
    while len(seen) < count and (not seen or time.monotonic() - begun < WITHIN_S):
        try:
            one = ask(here, root, request, ca_file, keep_alive=keep_alive)
            seen.append(Seen(one.answer, question.wrong(one)))  # bodies may be large: not kept
        except (OSError, http.client.HTTPException) as error:
            seen.append(Seen(None, reason(error)))
    return seen


def probes(before: Sequence[Seen], after: Sequence[Seen]) -> Probes:
    """Return what came back on both sides of the load, each kind of answer once."""
    every = (*before, *after)
    counts = [Counter(one.kind for one in side if one.kind) for side in (before, after)]
    first_of = {one.kind: one.answer for one in reversed(every) if one.answer and one.kind}
    kinds = (counts[0] + counts[1]).most_common()
    wrong = Counter(one.wrong for one in every if one.answer and one.wrong)
    unanswered = Counter(one.wrong for one in every if one.answer is None and one.wrong)
    return Probes(
        before=counts[0].total(),
        after=counts[1].total(),
        kinds=len(kinds),
        alike=tuple(
            Alike(answer=first_of[kind], before=counts[0][kind], after=counts[1][kind])
            for kind, _ in kinds[:_KEPT]
        ),
        wrong=dict(wrong.most_common(_KEPT)),
        unanswered=dict(unanswered.most_common(_KEPT)),
    )


def listener(here: Here, question: Question, port: int, before: Listener | None) -> Listener:
    """Return who listens where the server was asked, and did so before."""
    if question.running is None:
        return Listener(address=question.root, ours=None, why="it was running already")
    if before is not None and before.ours is not True:
        return before
    ours = here.owns(question.running, port)
    why = "/proc does not show who listens on its port" if ours is None else ""
    return Listener(address=question.root, ours=ours, why=why)


def complaints(processes: Iterable[Running]) -> tuple[Complaint, ...]:
    """Return the first line of each process in which it says that it ran out of something.

    Of a long log the beginning and the end are read.
    """
    found: dict[tuple[str, str], Complaint] = {}
    for running in processes:
        for log in (running.stdout, running.stderr):
            try:
                with log.open("rb") as file:
                    text = file.read(_READ_BYTES)
                    file.seek(max(file.tell(), log.stat().st_size - _READ_BYTES))
                    text += file.read(_READ_BYTES)
            except OSError:
                continue
            for of, phrase in _PHRASES:
                if (line := _line_with(phrase, text)) and (running.label, of) not in found:
                    one = {"label": running.label, "of": of, "line": line}
                    found[running.label, of] = Complaint.model_validate(one)
    return tuple(found.values())


def _line_with(phrase: bytes, text: bytes) -> str:
    at = text.lower().find(phrase)
    if at < 0:
        return ""
    begins = text.rfind(b"\n", 0, at) + 1
    return text[begins:].partition(b"\n")[0].decode(errors="replace").strip()[:_LINE]
