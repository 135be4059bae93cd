"""The monitor of a mix: it sends a stream of its own, and says which kinds have wrong answers."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import JsonValue

from benchforge.model.trial.answers.answer import Expect
from benchforge.model.trial.answers.monitor import Monitor, MonitorAnswer
from benchforge.model.values.cpus import Cpus
from benchforge.run.http import asker
from benchforge.run.http.monitor import Monitoring, Record, SeenAnswer
from benchforge.run.http.request import HttpProbe
from benchforge.suite.mix.drivers import flow_values
from benchforge.suite.mix.holes import Value, expected
from benchforge.suite.mix.record import StreamRecord
from benchforge.suite.mix.tables import FlowStep, RequestKind
from benchforge.suite.mix.written import extra_headers
from benchforge.suite.suite import Moments
from benchforge.suite.toml.models import typed
from benchforge.text import door

_RECORDS, _STEPS = 400, 1000
"Different records of a monitor, after which it begins again; numbers of a record's requests."
_TAKEN, _MOST_TAKEN = "taken.json", 16 << 20

Dealt = Iterable[tuple[StreamRecord, Mapping[str, Value]]]
"Records, each with the values of its holes."


class _Planned(NamedTuple):
    """What the monitor sends first in a record, and in its later steps."""

    record: StreamRecord
    values: Mapping[str, Value]


class MixMonitoring(Monitoring):
    """A monitor that sends records of a stream, with the shares of the load."""

    program = Path(__file__).parent / "drivers/mix_asker.py"
    paths = (Path(asker.__file__).parent, Path(flow_values.__file__).parent)

    def __init__(
        self,
        dealt: Dealt,
        rows: Mapping[str, RequestKind | FlowStep],
        flows: Mapping[str, JsonValue],
        *place: Any,
    ) -> None:
        super().__init__(*place)
        self._planned = [_Planned(*one) for one in islice(dealt, _RECORDS)]
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
        extra = [extra_headers(one, self._load, self._probe.root) for one in requests]
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

    def judged(self, right: HttpProbe, of_probes: frozenset[str], folder: Path) -> Monitor:
        """Return what it proves of all kinds."""
        monitor = super().judged(right, of_probes, folder)
        return monitor.model_copy(update={"head": "scenario"})

    def _label(self, kind: SeenAnswer) -> tuple[_Planned, str]:
        """Return the record of an answer, and the label of its kind."""
        number, step = divmod(kind.of, _STEPS)
        planned = self._planned[number % len(self._planned)]
        return planned, list(self._rows)[planned.record.kind + step]

    def _right(self, kind: SeenAnswer, right: HttpProbe) -> HttpProbe:
        """Return the probe of a request's kind, with its own values and those that were taken."""
        taken = self._taken
        if taken is None:
            taken = self._taken = json.loads(door.read(self._folder, _TAKEN, _MOST_TAKEN))
        planned, label = self._label(kind)
        values = {**planned.values, **taken.get(str(kind.of), {})}
        expect = typed(Expect, expected(self._rows[label].expect, values))  # type: ignore[arg-type]
        return replace(right, expect=expect, like=None)

    def _alike(
        self, record: Record, answers: list[MonitorAnswer]
    ) -> tuple[Record, list[MonitorAnswer]]:
        """Return one answer for each kind, status, content type and judgement."""
        places: dict[tuple[object, ...], int] = {}
        kinds: list[SeenAnswer] = []
        kept: list[MonitorAnswer] = []
        of: list[int] = []
        for kind, answer in zip(record.kinds, answers, strict=True):
            _, label = self._label(kind)
            key = label, kind.status, kind.content_type, bool(answer.wrong), answer.judged
            if key not in places:
                places[key] = len(kinds)
                # Bodies differ as requests do: another one than that of a probe says nothing.
                kept.append(answer.model_copy(update={"kind": label, "other_body": False}))
                update = {"of": 0, "kind": label, "wrong": answer.wrong}
                kinds.append(kind.model_copy(update=update))
            of.append(places[key])
        moments = tuple(
            (at_s, tuple((of[number], seconds) for number, seconds in seen), why)
            for at_s, seen, why in record.moments
        )
        update = {"kinds": tuple(kinds), "moments": moments}
        return record.model_copy(update=update), kept
