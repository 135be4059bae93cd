"""The monitor of a load: a process that sends the request at random moments, and what it proves."""

import contextlib
import hashlib
import json
import signal
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

import h2
from pydantic import NonNegativeFloat, NonNegativeInt

from benchforge.errors import BenchforgeError
from benchforge.model.trial.answers.answer import Answer, either, statuses_of
from benchforge.model.trial.answers.json_body import Undecodable, decoded
from benchforge.model.trial.answers.monitor import Monitor, MonitorAnswer
from benchforge.model.trial.reading import Load
from benchforge.model.values.cpus import Cpus
from benchforge.model.values.frozen import Frozen
from benchforge.parts.command import Command
from benchforge.run.http import asker
from benchforge.run.http.connect import ANSWER_WITHIN_S, address
from benchforge.run.http.request import HttpAnswer, HttpProbe
from benchforge.run.http.sniffers import RequestSniffer
from benchforge.run.sandbox.sandbox import Running, Sandbox
from benchforge.suite.suite import SAFE, Moments
from benchforge.text import door

LABEL = "monitor"
RECORD, MOST_RECORD = "monitor.json", 16 << 20
"The record beside a trial: each moment, with the kinds of its answers and their times."
WRONG_BODY = "monitor-wrong-{}"
BEGIN = 60
"Bytes of a body that no probe got, in a message."
LEAST, LEAST_OF_SEARCH = 4, 1  # moments in a load, as expected: a search has many loads
_SHARE = 0.002  # of the load's requests, at most
_SHARE_OF_TLS = _SHARE / 10  # a handshake costs about as much as ten requests
_HEARD_WITHIN_S = 0.2  # a load tool written in C sends its first request in a few milliseconds
_PATIENCE = 12  # looks, four in a second, until the request is sent as the scenario has it
_ENDS_WITHIN_S = 2.0
MOST_ANSWERS, KEPT, KEPT_BODY = 32, 8, 1 << 16
_MODULES = Path(asker.__file__).parent, Path(h2.__file__).parents[1]
"Folders from which the process imports our modules, and the library."


class SeenAnswer(Frozen):
    """Answers that are alike. Of a mix they are to a request, or, once judged, to a kind."""

    of: NonNegativeInt = 0
    kind: str = ""
    wrong: str = ""
    status: int
    content_type: str
    encoding: str
    length: NonNegativeInt
    sha256: str
    kept: bool


TimedKind = tuple[NonNegativeInt, NonNegativeFloat]


class Record(Frozen):
    """What the process of a monitor recorded."""

    requests: NonNegativeInt
    connections: NonNegativeInt
    cpu_s: NonNegativeFloat
    kinds: tuple[SeenAnswer, ...]
    moments: tuple[tuple[NonNegativeFloat, tuple[TimedKind, ...], str], ...]
    "Seconds from the first moment on; number of the kind and seconds of each answer; a reason."
    streams: NonNegativeInt = 0
    "Most requests on the connection that is held open, where each second moment was on it."
    oldest_s: NonNegativeFloat = 0.0


class Monitoring:
    """A monitor that runs. It sends nothing before it has heard the load tool's first request."""

    program = Path(asker.__file__)
    paths: tuple[Path, ...] = ()

    def __init__(self, sandbox: Sandbox, folder: Path, probe: HttpProbe, load: Load | None) -> None:
        self._sandbox, self._folder, self._probe = sandbox, folder, probe
        self._load = load or Load()
        self.running: Running | None = None
        self._sniffer: RequestSniffer | None = None
        self._looks = 0
        self._sent = self._heard = False
        self._why = ""
        self._tls = probe.encrypted
        self._host, self._port = address(probe.root)
        self._http2 = probe.version == "HTTP/2"

    def start(
        self, python: Path, cpus: Cpus | None, moments: Moments, *, least: int, seed: int
    ) -> None:
        """Start the process: it is ready long before the load."""
        load, request = self._load, self._probe.request
        ages = self._http2 and self._begin and request.method in SAFE
        plan = {
            "folder": str(self._folder),
            "host": self._host,
            "port": self._port,
            "tls": self._tls,
            "http2": urlsplit(self._probe.root)[:2] if self._http2 else (),
            "rate": moments.per_s,
            "share": None if moments.exact else _SHARE_OF_TLS if self._tls else _SHARE,
            "least": least,
            "declared_s": max(load.declared_s, 0.1),
            "aging": self._content(None).decode("latin-1") if ages else "",
            "load_rate": load.rate,
            "concurrency": load.concurrency or load.connections or 1,
            "think_s": load.think_s,
            "within_s": ANSWER_WITHIN_S,
            "seed": seed,
            "paths": [str(path) for path in (*self.paths, *_MODULES)],
        }
        command = Command(python, "-I", "-S", self.program, self._folder / "plan")
        try:
            self._folder.mkdir(mode=0o700)
            self._write("plan", json.dumps(plan).encode())
            self.running = self._sandbox.start(LABEL, command, self._folder, {}, cpus)
        except (BenchforgeError, OSError) as error:  # a server may have made a folder of this name
            self._why = f"its process was not started: {error}"

    def listen(self) -> None:
        """Hear what the load tool sends from now on; on the host's network others send, too."""
        private = self._sandbox.mode.network == "private"
        if self.running is not None and private and not self._tls and not self._http2:
            self._sniffer = RequestSniffer(self._sandbox, self._port)

    def look(self) -> None:
        """Send the request once the load tool has sent its own; call it again and again."""
        if self._sent or self.running is None:
            return
        wait_s, self._looks = 0.0 if self._looks else _HEARD_WITHIN_S, self._looks + 1
        head = None
        if self._sniffer is not None and self._sniffer.open:
            head = self._sniffer.head(self._begin, wait_s)
            if head is None and self._looks <= _PATIENCE:
                return
            self._sniffer.close()
        self._heard, self._sent = head is not None, True
        with contextlib.suppress(OSError):  # a server removed the folder: there will be no record
            self._write(asker.REQUEST, self._content(head))

    @property
    def _begin(self) -> bytes:
        return f"{self._probe.request.method} {self._probe.request.path} HTTP/1.".encode()

    def _content(self, head: bytes | None) -> bytes:
        """Return what the process sends, given the head that the load tool sent."""
        closing = {"Connection": "close"} if self._load.keep_alive is False else {}
        return (head or self._probe.head(closing)) + (self._probe.request.body or "").encode()

    def _write(self, name: str, content: bytes) -> None:
        door.write(self._folder, name, content, lasting=False, mode=door.OWN)

    def end(self) -> None:
        """End the process: it writes its record."""
        if self._sniffer is not None:
            self._sniffer.close()
        if self.running is not None:
            self._sandbox.stop(self.running, _ENDS_WITHIN_S, signal.SIGTERM)

    def judged(self, right: HttpProbe, of_probes: frozenset[str], folder: Path) -> Monitor:
        """Return what the record proves; write it and wrong bodies into `folder`.

        `of_probes` are the digests of the bodies that probes got.
        """
        if self.running is None:
            return Monitor(why=self._why)
        try:
            record = record_of(door.read(self._folder, asker.RECORD, MOST_RECORD))
        except (OSError, ValueError):
            return Monitor(why="it ended without a whole record")
        answers: list[MonitorAnswer] = []
        wrong: list[bytes] = []
        for number, kind in enumerate(record.kinds):
            body = self._body(number, kind)
            answers.append(judged_answer(kind, body, self._right(kind, right), of_probes))
            if answers[-1].wrong and body is not None:
                wrong.append(body)
        for number, body in enumerate(wrong[:KEPT], 1):
            door.write(folder, WRONG_BODY.format(number), body[:KEPT_BODY], lasting=False)
        record, answers = self._alike(record, answers)
        door.write(folder, RECORD, record.model_dump_json().encode(), lasting=False)
        monitor = tallied(record, answers)
        head = "load tool" if self._heard and self._begin else "scenario"
        spoken = self._probe.version
        version = "HTTP/1.1" if spoken == "either" else spoken
        return monitor.model_copy(update={"head": head, "version": version})

    def _right(self, kind: SeenAnswer, right: HttpProbe) -> HttpProbe:
        return right

    def _alike(
        self, record: Record, answers: list[MonitorAnswer]
    ) -> tuple[Record, list[MonitorAnswer]]:
        """Return a record with what is kept of each kind of answer."""
        return record, answers

    def _body(self, number: int, kind: SeenAnswer) -> bytes | None:
        """Return a body, decoded; None where that is not known."""
        if not kind.kept:
            return None
        try:
            body = door.read(self._folder, f"body-{number}", asker.MOST_BODY)
            is_expected = hashlib.sha256(body).hexdigest() == kind.sha256
            return decoded(body, kind.encoding) if is_expected else None
        except (OSError, Undecodable):
            return None


def record_of(text: bytes) -> Record:
    """Read a record. Raises ValueError where it is not whole."""
    record = Record.model_validate_json(text)
    if any(kind >= len(record.kinds) for _, answers, _ in record.moments for kind, _ in answers):
        raise ValueError("it names a kind of answer that it does not have")
    return record


def unjudged_answer(kind: SeenAnswer) -> MonitorAnswer:
    """Return a kind of answer without a judgement or a count."""
    fields = kind.model_dump(include={"status", "content_type", "length", "sha256"})
    return MonitorAnswer(**fields, answers=0, judged=False)


def judged_answer(
    kind: SeenAnswer, body: bytes | None, right: HttpProbe, of_probes: frozenset[str]
) -> MonitorAnswer:
    """Return a kind of answer with its judgement, without a count."""
    expected = right.expect.status
    right_status = kind.status in statuses_of(expected)
    wrong = "" if right_status else f"expected status {either(expected)}, got {kind.status}"
    sha256 = kind.sha256
    if body is not None:
        sha256 = hashlib.sha256(body).hexdigest()
        headers = {"content-type": kind.content_type}
        answer = Answer(
            status=kind.status, headers=headers, length=kind.length, sha256=sha256, seconds=0.0
        )
        wrong = right.wrong(HttpAnswer(answer, body)) or ""
    other_body = body is not None and not wrong and sha256 not in of_probes
    judgement = {
        "wrong": wrong,
        "judged": body is not None or wrong != "",
        "other_body": other_body,
        "begin": (body or b"")[:BEGIN].decode(errors="replace") if other_body else "",
    }
    return unjudged_answer(kind).model_copy(update=judgement)


def tallied(record: Record, kinds: Sequence[MonitorAnswer]) -> Monitor:
    """Return a record in numbers, given each kind of answer.

    A moment is wrong if one of its answers is: so an upper bound of the share of wrong moments
    holds for wrong answers, too.
    """
    counts = Counter(kind for _, answers, _ in record.moments for kind, _ in answers)
    each = [answers for _, answers, _ in record.moments]
    states = Counter(_state([kinds[kind] for kind, _ in answers]) for answers in each)
    firsts = sorted(answers[0][1] for answers in each[:: 2 if record.streams else 1] if answers)
    unanswered = Counter(reason for _, answers, reason in record.moments if not answers)
    return Monitor(
        moments=states["right"] + states["other"] + states["wrong"],
        wrong=states["wrong"],
        other_bodies=states["other"],
        unjudged=states["unjudged"],
        unanswered=dict(unanswered.most_common(KEPT)),
        requests=record.requests,
        connections=record.connections,
        answers=commonest(kinds, counts),
        median_s=_quantile(firsts, 0.5),
        p90_s=_quantile(firsts, 0.9),
        longest_s=_quantile(firsts, 1.0),
        held=sum(map(bool, each)) - len(firsts),
        streams=record.streams,
        oldest_s=record.oldest_s,
        cpu_s=record.cpu_s,
    )


def commonest(kinds: Sequence[MonitorAnswer], counts: Counter[int]) -> tuple[MonitorAnswer, ...]:
    """Return kinds of answers with their counts: the most frequent wrong ones, then others."""
    answers = [kind.model_copy(update={"answers": counts[nth]}) for nth, kind in enumerate(kinds)]
    frequent = sorted(answers, key=lambda answer: -answer.answers)
    wrong = [answer for answer in frequent if answer.wrong]
    others = [answer for answer in frequent if not answer.wrong]
    return (*wrong[:MOST_ANSWERS], *others[:MOST_ANSWERS])


def _state(answers: Sequence[MonitorAnswer]) -> str:
    if any(answer.wrong for answer in answers):
        return "wrong"
    if not all(answer.judged for answer in answers):
        return "unjudged"
    if not answers:
        return "unanswered"
    return "other" if any(answer.other_body for answer in answers) else "right"


def _quantile(ordered: Sequence[float], share: float) -> float | None:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else None
