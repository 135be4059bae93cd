"""A mix at a server that runs: users are logged in, and each kind was answered rightly."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import JsonValue

from benchforge.model.trial.answers.answer import Answer, Expect, Request
from benchforge.model.trial.answers.good_response import GoodResponse, right_of
from benchforge.model.trial.answers.monitor import MonitorAnswer, Probes
from benchforge.model.trial.reading import Load
from benchforge.model.trial.stream import Stream, StreamKind
from benchforge.model.values.cpus import Cpus
from benchforge.run.http import asker
from benchforge.run.http.monitor import Monitoring, Record, SeenAnswer
from benchforge.run.http.probes import ProbeResult, ask_repeatedly
from benchforge.run.http.probes import probes as probes_of
from benchforge.run.http.request import HttpProbe, until_right
from benchforge.run.http.wire.judged import Right, RightOf
from benchforge.run.http.wire.message import HttpMessage
from benchforge.run.sandbox.sandbox import Sandbox
from benchforge.suite.mix.drivers import flow_values
from benchforge.suite.mix.flows import Reply
from benchforge.suite.mix.holes import Value, expected
from benchforge.suite.mix.recognized import Recognizer, SentRequest
from benchforge.suite.mix.record import Share, StreamRecord
from benchforge.suite.mix.stream import VERSION, Mix
from benchforge.suite.mix.tables import FlowStep, RequestKind
from benchforge.suite.mix.written import extra_headers, written
from benchforge.suite.suite import SAFE, Moments
from benchforge.suite.toml.models import typed
from benchforge.text import door

_RECORDS, _STEPS = 400, 1000
"Different records of a monitor, after which it begins again; numbers of a record's requests."
_TAKEN, _MOST_TAKEN = "taken.json", 16 << 20

Dealt = Iterable[tuple[StreamRecord, Mapping[str, Value]]]
"Records, each with the values of its holes."
Rows = Mapping[str, RequestKind | FlowStep]


class MixMonitoring(Monitoring):
    """A monitor that sends records of a stream, with the shares of the load."""

    program = Path(__file__).parent / "drivers/mix_asker.py"
    paths = (Path(asker.__file__).parent, Path(flow_values.__file__).parent)

    def __init__(
        self, dealt: Dealt, rows: Rows, flows: Mapping[str, JsonValue], *arguments: Any
    ) -> None:
        super().__init__(*arguments)
        self._planned = list(islice(dealt, _RECORDS))
        self._rows, self._flows = rows, flows
        self._taken: dict[str, dict[str, Value]] | None = None

    def start(
        self, python: Path, cpus: Cpus | None, moments: Moments, *, least: int, seed: int
    ) -> None:
        """Start the process, if there is a request that it may send."""
        if not self._planned:
            self._why = "each kind uses a feed with 'each once', whose rows are for the load"
            return
        super().start(python, cpus, moments, least=least * len(self._rows), seed=seed)

    @property
    def _begin(self) -> bytes:
        return b""

    def _content(self, head: bytes | None) -> bytes:
        """Return the records; what flows take is in a file of its own."""
        requests = [table.request for table in self._rows.values()]
        extra = [extra_headers(request, self._load, self._probe.root) for request in requests]
        flows = {**self._flows, "extra": [headers.decode() for headers in extra]}
        self._write("mix.flows", json.dumps(flows).encode())
        records = [
            {
                "of": number * _STEPS,
                "kind": record.kind,
                "sent": record.sent(extra[record.kind]).decode("latin-1"),
                "later": [json.loads(step) for step in record.later],
            }
            for number, (record, _) in enumerate(self._planned)
        ]
        return json.dumps(records).encode()

    def _label(self, kind: SeenAnswer) -> tuple[Mapping[str, Value], str]:
        """Return the values of what was sent first in a record, and the label of its kind."""
        number, step = divmod(kind.of, _STEPS)
        record, values = self._planned[number % len(self._planned)]
        return values, list(self._rows)[record.kind + step]

    def _right(self, kind: SeenAnswer, right: HttpProbe) -> HttpProbe:
        """Return the probe of a request's kind, with its own values and those that were taken."""
        taken = self._taken
        if taken is None:
            taken = self._taken = json.loads(door.read(self._folder, _TAKEN, _MOST_TAKEN))
        first_values, label = self._label(kind)
        values = {**first_values, **taken.get(str(kind.of), {})}
        expect = typed(Expect, expected(self._rows[label].expect, values))  # type: ignore[arg-type]
        return replace(right, expect=expect, like=None)

    def _alike(
        self, record: Record, answers: list[MonitorAnswer]
    ) -> tuple[Record, list[MonitorAnswer]]:
        """Return one answer for each kind, status, content type and judgement."""
        places: dict[tuple[object, ...], int] = {}
        kinds: list[SeenAnswer] = []
        answers_: list[MonitorAnswer] = []
        numbers: list[int] = []
        for kind, answer in zip(record.kinds, answers, strict=True):
            _, label = self._label(kind)
            key = label, kind.status, kind.content_type, bool(answer.wrong), answer.judged
            if key not in places:
                places[key] = len(kinds)
                # Bodies differ as requests do: another one than that of a probe says nothing.
                answers_.append(answer.model_copy(update={"kind": label, "other_body": False}))
                update = {"of": 0, "kind": label, "wrong": answer.wrong}
                kinds.append(kind.model_copy(update=update))
            numbers.append(places[key])
        moments = tuple(
            (at_s, tuple((numbers[number], seconds) for number, seconds in answers), reason)
            for at_s, answers, reason in record.moments
        )
        update = {"kinds": tuple(kinds), "moments": moments}
        return record.model_copy(update=update), answers_


BEFORE, AFTER = 3, 1
"Probes of each kind whose request changes nothing; others and later steps have one, before."


class KindProbes(NamedTuple):
    """The probes of one kind."""

    probe: HttpProbe
    first: Answer
    before: list[ProbeResult]


@dataclass(frozen=True)
class AnsweredMix:
    """A mix of which a server answered each kind, after the logins of all users."""

    plain: Mix
    "The mix before the logins."
    users: Mix
    sandbox: Sandbox
    server: HttpProbe
    load: Load | None
    seed: tuple[int, int]
    probes: dict[str, KindProbes]

    def right_of(self, probe: HttpProbe) -> RightOf:
        """Return what is right for a request by its kind; its values say the rest."""
        kinds = Recognizer(self.users)

        def right_of(message: HttpMessage) -> list[Right]:
            body = message.body.decode("utf-8", "replace")
            sent = SentRequest(message.method, message.target, message.headers, body)
            return [
                Right(label, None if expect is None else replace(probe, expect=expect, like=None))
                for label, expect in kinds.expects(sent)
            ]

        return right_of

    def written(self, share: Share, file: Path, secrets: frozenset[str]) -> Stream:
        """Write the requests of a load into a file. Raises BenchforgeError if a feed runs out."""
        return written((self.plain, self.users), share, self.server.root, self.seed, file, secrets)

    def judged(self, stream: Stream) -> Stream:
        """Return the stream with answers to probes after the load, and what is right of a kind."""
        kinds: dict[str, StreamKind] = {}
        for label, kind in stream.kinds.items():
            asks, count = self.probes[label], AFTER if _safe(self.plain, label) else 0
            later = ask_repeatedly(self.sandbox, asks.probe, count, self.load)
            probes = probes_of(asks.before, later, asks.probe.version)
            right = right_of_kind(self.plain, label, asks.first, probes if asks.before else None)
            kinds[label] = kind.model_copy(update={"probes": probes, "good_response": right})
        return stream.model_copy(update={"kinds": kinds})


def ready_at(
    workload: Mix, sandbox: Sandbox, server: HttpProbe, load: Load | None, seed: tuple[int, int]
) -> AnsweredMix:
    """Log all users of a mix in, and send a request of each kind until its answer is right.

    `server` is a probe of it, `seed` that of the run with the block. Raises TrialFailed.
    """
    within_s = float(server.part.ready_within)

    def right_answer(request: Request, expect: Expect) -> tuple[HttpProbe, Answer, Reply]:
        probe = replace(server, request=request, expect=expect, like=None)
        received = until_right(sandbox, probe, within_s)
        return probe, received.answer, Reply(received.answer.headers, received.body)

    logins = [right_answer(*login)[2] for login in workload.logins(*seed)]
    users = workload.logged_in(*seed, logins) if logins else workload
    probes: dict[str, KindProbes] = {}
    replies: dict[str, Reply] = {}
    for label, first in users.first.items():
        step = users.followed(label, replies) if label in users.after else first
        probe, answer, replies[label] = right_answer(*step)
        again = ask_repeatedly(sandbox, probe, BEFORE, load) if _safe(users, label) else []
        probes[label] = KindProbes(probe, answer, again)
    return AnsweredMix(workload, users, sandbox, server, load, seed, probes)


def monitoring(mix: Mix, seed: int, block: int) -> partial[MixMonitoring]:
    """Return what makes the monitor of a load, which sends a stream of its own."""
    monitored = mix.monitored
    dealt: Dealt = ()
    if monitored.kinds:
        dealt = monitored.dealt(seed, block, f"{VERSION}:{seed}:{block}:monitor")
    return partial(MixMonitoring, dealt, monitored.rows, monitored.flows if monitored.kinds else {})


def right_of_kind(workload: Mix, label: str, first: Answer, probes: Probes | None) -> GoodResponse:
    """Return what is right of a kind: with holes, its bodies may have any length."""
    request, expect = workload.first[label]
    right = right_of(expect, request, [first], probes)
    if expect.length is None and workload.varies(label):
        return GoodResponse(status=right.status, shortest=0, longest=None, binding=False)
    return right


def _safe(workload: Mix, label: str) -> bool:
    """Whether probes may repeat a request: of a flow only the first, which needs no other."""
    return workload.first[label][0].method in SAFE and label not in workload.after
