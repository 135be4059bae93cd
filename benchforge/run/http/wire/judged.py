"""Judgement of the answers on a load's own connections, and their number."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from benchforge.model.trial.answers.json_body import Undecodable, decoded
from benchforge.model.trial.answers.monitor import MonitorAnswer
from benchforge.run.http.monitor import KEPT, KEPT_BODY, SeenAnswer, judged_answer, unjudged_answer
from benchforge.run.http.request import HttpProbe
from benchforge.run.http.wire.capture import CapturedWindow
from benchforge.run.http.wire.exchanges import Exchange, exchanges
from benchforge.run.http.wire.message import HttpMessage
from benchforge.run.http.wire.record import RECORD, WRONG_BODY, WireRecord, WireWindow
from benchforge.text import door

_MOST_BODIES = 64  # distinct ones; of others only the judgement is kept apart
_NO_ANSWER = HttpMessage("", "", 0, {}, b"", 0)


class Right(NamedTuple):
    """What is right for a request: its kind's label in a mix, and a probe, or None if unknown."""

    kind: str
    probe: HttpProbe | None


RightOf = Callable[[HttpMessage], Sequence[Right]]
"What may be right for a request: nothing if it is not known. An answer is wrong if all say so."


class Judge:
    """Judges the answers in windows; `of_probes` are the digests of the bodies that probes got."""

    def __init__(self, right_of: RightOf, of_probes: frozenset[str]) -> None:
        self._right_of, self._of_probes = right_of, of_probes
        self._answers: list[MonitorAnswer] = []
        self._numbers: dict[tuple[object, ...], int] = {}
        self._cache: dict[tuple[object, ...], int] = {}
        self._wrong: list[bytes] = []

    def record(self, captured: Iterable[CapturedWindow], port: int, load_s: float) -> WireRecord:
        """Return the record of windows; `load_s` is when the measured load began."""
        windows: list[WireWindow] = []
        cpu_s = 0.0
        for window in captured:
            cpu_s += window.cpu_s if window.phase == "load" else 0.0
            pairs = exchanges(window.packets, port, window.until_s)
            cut = Counter(self._kind(pair) for pair in pairs if pair.understood and not pair.answer)
            whole_pairs = [pair for pair in pairs if pair.answer or not pair.understood]
            answers = [(self._number(pair), round(pair.seconds, 6)) for pair in whole_pairs]
            windows.append(
                WireWindow(
                    place=window.phase,
                    start_s=round(window.begun_s - load_s, 6),
                    open_s=window.open_s,
                    answers=tuple(answers),
                    cut=dict(cut),
                    lost_packets=window.lost,
                )
            )
        return WireRecord(answers=tuple(self._answers), windows=tuple(windows), cpu_s=cpu_s)

    def write(self, folder: Path, record: WireRecord) -> None:
        """Write a record and the first wrong bodies beside a trial. Raises OSError."""
        door.write(folder, RECORD, record.model_dump_json().encode(), lasting=False)
        for number, body in enumerate(self._wrong, 1):
            door.write(folder, WRONG_BODY.format(number), body[:KEPT_BODY], lasting=False)

    def _kind(self, pair: Exchange) -> str:
        return next((right.kind for right in self._right_of(pair.request)), "")

    def _number(self, pair: Exchange) -> int:
        rights = self._right_of(pair.request) if pair.answer else ()
        reply = pair.answer or _NO_ANSWER
        body, headers = reply.body, reply.headers
        kind = headers.get("content-type", ""), headers.get("content-encoding", "")
        digest = hashlib.sha256(body).hexdigest()
        key = len(rights), reply.status, kind, digest
        if key in self._cache:  # of thousands a load has few distinct ones
            return self._cache[key]
        summary = SeenAnswer(
            status=reply.status,
            content_type=kind[0],
            encoding=kind[1],
            length=len(body),
            sha256=digest,
            kept=True,
        )
        try:
            text: bytes | None = decoded(body, summary.encoding)
        except Undecodable:
            text = None
        number = self._distinct(self._judged(summary, text, rights), text or body)
        if not any(right.kind for right in rights):  # of a kind, what is right differs
            self._cache[key] = number
        return number

    def _judged(
        self, summary: SeenAnswer, body: bytes | None, rights: Sequence[Right]
    ) -> MonitorAnswer:
        """Return the first judgement that it is right, or else the first one."""
        unknown = unjudged_answer(summary)
        answers = []
        for right in rights:
            answer = unknown
            if right.probe is not None:
                answer = judged_answer(summary, body, right.probe, self._of_probes)
            # Bodies of a mix differ as its requests do.
            other = answer.other_body and not right.kind
            answers.append(answer.model_copy(update={"kind": right.kind, "other_body": other}))
        return next((answer for answer in answers if not answer.wrong), (*answers, unknown)[0])

    def _distinct(self, answer: MonitorAnswer, body: bytes) -> int:
        """Return the number of what was judged; of many bodies only the judgements are apart."""
        alike = answer.kind, answer.status, answer.content_type, bool(answer.wrong), answer.judged
        key: tuple[object, ...] = (*alike, answer.other_body)
        if not answer.kind and len(self._answers) < _MOST_BODIES:
            key = (*key, answer.sha256)
        if key not in self._numbers:
            self._numbers[key] = len(self._answers)
            self._answers.append(answer)
            if answer.wrong and len(self._wrong) < KEPT:
                self._wrong.append(body)
        return self._numbers[key]


def right_of_request(probe: HttpProbe) -> RightOf:
    """Return what is right where the load sends one request."""
    method, path = probe.request.method, probe.request.path
    right = (Right("", probe),)
    return lambda sent: right if (sent.method, sent.target) == (method, path) else ()
