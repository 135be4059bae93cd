"""Probes: a server's answers one by one, who it is, and which resource ran out."""

import contextlib
import dataclasses
import http.client
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from benchforge.model.trial.answers.answer import Answer, Request
from benchforge.model.trial.answers.monitor import EqualAnswers, Exhaustion, Listener, Probes, Sizes
from benchforge.model.trial.reading import Load
from benchforge.parts.content import opened
from benchforge.run.http.request import Asking, HttpProbe, Version, ask, reason
from benchforge.run.sandbox.sandbox import Running, Sandbox

BEFORE, BEFORE_HTTP2, AFTER = 20, 320, 5
"Requests on each side; over HTTP/2 they share a connection, and some servers fail late on it."
WITHIN_S = 1.0  # on each side: a server that takes its time is asked less often
_KEPT = 8
_READ_BYTES = 1 << 20  # of the beginning of each log, and of its end
_LINE = 200
_NOBODYS = Request(path="/benchforge-asks-for-what-is-not-there")
# What a framework writes below an error, where it is told to help its developers.
_PAGES = ((b"<code>DEBUG = True</code>", "Django's page for DEBUG = True"),)
# What the C library says of EMFILE, ENFILE and EADDRNOTAVAIL, and others in their own words.
_PHRASES = (
    ("descriptors", b"too many open files"),
    ("ports", b"cannot assign requested address"),
    ("ports", b"can't assign requested address"),
    ("ports", b"address not available"),
)


class ProbeResult(NamedTuple):
    """What came of a question: an answer and what is wrong with it, or why there is none."""

    answer: Answer | None
    wrong: str | None

    @property
    def kind(self) -> tuple[int, str, str] | None:
        """By what answers are alike; None without one."""
        if self.answer is None:
            return None
        type_ = self.answer.headers.get("content-type", "")
        return self.answer.status, type_, self.answer.content_sha256


Results = Sequence[ProbeResult]


def ask_repeatedly(
    sandbox: Sandbox, question: HttpProbe, count: int, load: Load | None
) -> list[ProbeResult]:
    """Ask so often as the load tool does, one after the other, for a second at most."""
    keep_alive = load is None or load.keep_alive is not False
    results: list[ProbeResult] = []
    begun = time.monotonic()
    with contextlib.closing(Asking(sandbox, question, keep_alive=keep_alive)) as asking:
        while len(results) < count and (not results or time.monotonic() - begun < WITHIN_S):
            try:
                reply = asking.answer()  # its body may be large: not kept
                results.append(ProbeResult(reply.answer, question.wrong(reply)))
            except (OSError, http.client.HTTPException) as error:
                results.append(ProbeResult(None, reason(error)))
    return results


def probes(
    earlier: Results, later: Results, version: Version, signs: tuple[str, ...] | None = None
) -> Probes:
    """Return what came back on both sides of the load, each kind of answer once."""
    sides, results = (earlier, later), (*earlier, *later)
    counts = [Counter(result.kind for result in side if result.kind) for side in sides]
    first_of = {each.kind: each.answer for each in reversed(results) if each.answer and each.kind}
    kinds = (counts[0] + counts[1]).most_common()
    wrong = Counter(result.wrong for result in results if result.answer and result.wrong)
    unanswered = Counter(each.wrong for each in results if each.answer is None and each.wrong)
    return Probes(
        before=counts[0].total(),
        after=counts[1].total(),
        distinct=len(kinds),
        most_frequent=tuple(
            EqualAnswers(answer=first_of[kind], before=counts[0][kind], after=counts[1][kind])
            for kind, _ in kinds[:_KEPT]
        ),
        sizes=_sizes([result.answer for result in results if result.answer and not result.wrong]),
        version=version if version != "either" else "",
        wrong=dict(wrong.most_common(_KEPT)),
        unanswered=dict(unanswered.most_common(_KEPT)),
        debug=signs,
    )


def _sizes(right: Sequence[Answer]) -> Sizes | None:
    heads = [answer.wire_bytes - answer.length for answer in right if answer.wire_bytes is not None]
    bodies = [answer.length for answer in right]
    if not heads:
        return None
    return Sizes(
        shortest_body=min(bodies),
        longest_body=max(bodies),
        shortest_head=min(heads),
        longest_head=max(heads),
    )


def debug(sandbox: Sandbox, question: HttpProbe) -> tuple[str, ...] | None:
    """Return signs of a development mode in the answer to a path that nobody serves, or None."""
    try:
        page = ask(sandbox, dataclasses.replace(question, request=_NOBODYS)).body
    except (OSError, http.client.HTTPException):
        return None
    return tuple(name for mark, name in _PAGES if mark in page)


def listener(
    sandbox: Sandbox, question: HttpProbe, port: int, earlier_listener: Listener | None
) -> Listener:
    """Return who listens where the server was asked, and did so before."""
    if question.running is None:
        return Listener(address=question.root, is_server=None, why="it was running already")
    if earlier_listener is not None and earlier_listener.is_server is not True:
        return earlier_listener
    is_owned = sandbox.owns(question.running, port)
    cause = "/proc does not show who listens on its port" if is_owned is None else ""
    return Listener(address=question.root, is_server=is_owned, why=cause)


def complaints(processes: Iterable[Running], hide: Callable[[str], str]) -> tuple[Exhaustion, ...]:
    """Return the first line of each process that says that it ran out of a resource.

    Of a long log the beginning and the end are read; `hide` takes secrets out of a line.
    """
    first_complaints: dict[tuple[str, str], Exhaustion] = {}
    for running in processes:
        for log in (running.stdout, running.stderr):
            try:
                with opened(log) as file:
                    text = file.read(_READ_BYTES)
                    read, size = file.tell(), file.seek(0, os.SEEK_END)
                    file.seek(max(read, size - _READ_BYTES))
                    text += file.read(_READ_BYTES)
            except OSError:
                continue
            for resource, phrase in _PHRASES:
                key = running.label, resource
                if key not in first_complaints and (line := _line_with(phrase, text, hide)):
                    fields = {"label": running.label, "resource": resource, "line": line}
                    first_complaints[key] = Exhaustion.model_validate(fields)
    return tuple(first_complaints.values())


def _line_with(phrase: bytes, text: bytes, hide: Callable[[str], str]) -> str:
    position = text.lower().find(phrase)
    if position < 0:
        return ""
    begins = text.rfind(b"\n", 0, position) + 1
    line = text[begins:].partition(b"\n")[0].decode(errors="replace")
    return hide(line).strip()[:_LINE]  # first: a secret that was cut would not be seen
