"""The output of pace: one JSON document, read whole or not at all."""

from itertools import pairwise
from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, JsonValue, model_validator

from benchforge.plugin import Histogram
from benchforge.plugin.load_tools import ToolJson

Count = Annotated[int, Field(ge=0, le=2**62)]
Positive = Annotated[int, Field(ge=1, le=2**62)]
HttpStatus = Annotated[int, Field(ge=100, le=999)]
Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Status = Annotated[str, Field(pattern="^[1-9][0-9][0-9]$")]
Sampled = tuple[HttpStatus, Count, Digest, Positive, str | None]


class _Printed(ToolJson):
    model_config = ConfigDict(extra="forbid")


class HistogramDump(_Printed):
    """A histogram: bucket and count, in order."""

    counts: list[tuple[Count, Positive]]
    sum_us: Count
    max_us: Count

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        if any(value >= other for (value, _), (other, _) in pairwise(self.counts)):
            raise ValueError("the buckets are not in order")
        if fault := self.histogram.fault():
            raise ValueError(fault)
        return self

    @property
    def histogram(self) -> Histogram:
        """The histogram."""
        return Histogram(counts=dict(self.counts), sum_us=self.sum_us, max_us=self.max_us)

    @property
    def count(self) -> int:
        """How many durations were recorded."""
        return sum(count for _, count in self.counts)


class ErrorCounts(_Printed):
    """Requests without a complete response, each in one class."""

    connect: Count
    tls: Count
    reset: Count
    closed: Count
    cut: Count
    malformed: Count
    extra: Count
    take: Count = 0
    "Answers without a value that a later step of a flow takes."
    timeout: Count

    @property
    def by_class(self) -> dict[str, int]:
        """Numbers by class; without `take` where there is none."""
        return {name: n for name, n in self.model_dump().items() if n or name != "take"}


class KindCounts(_Printed):
    """The counts that all requests and each kind of a mix have."""

    responses: Count
    errors: ErrorCounts
    received_bytes: Count
    bodies: list[tuple[HttpStatus, Count, Positive]] = Field(default_factory=list)
    "Status, length and number of responses; missing are those whose length was not kept."
    latency: dict[Status, HistogramDump]
    in_flight: HistogramDump


class StageCounts(_Printed):
    """What a part of a stage has of the counts."""

    durations: HistogramDump
    "Time of each response, from its due time."
    failed: Count
    in_flight: Count


class PaceReport(KindCounts):
    """The document; times in microseconds where the name does not say another unit."""

    pace: Literal[1]
    python: str
    seconds: Annotated[float, Field(gt=0)]
    bin_ns: Annotated[int, Field(gt=0)]
    rate: Annotated[float, Field(gt=0)] | None
    timeout_us: Count
    started: Count
    sent: Count
    never_sent: Count
    reasons: dict[str, Count]
    connections: Count
    stray: Count
    waiting: Count
    body_lengths: list[Count]
    sampled: list[Sampled] = Field(default_factory=list)
    "Status, length, SHA-256, number of responses of the sample, and how their body begins."
    sampled_others: Count = 0
    "Responses of the sample with further bodies, of which no digest is kept."
    server: str | None
    service: HistogramDump
    first_byte: HistogramDump
    connect: HistogramDump
    lateness: HistogramDump
    waited: HistogramDump
    completed_by_bin: list[Count]
    failed_by_bin: list[Count]

    stages: list[list[StageCounts]] = Field(default_factory=list)
    "Counts of the parts of each stage; empty for one rate."
    kinds: list[KindCounts] = Field(default_factory=list)
    "Counts of each kind of a mix; empty without one."
    taken: list[Count] = Field(default_factory=list)
    "Number of records that each process took of a mix."
    began_again: Count = 0
    not_reached: dict[str, Count] = Field(default_factory=dict)
    "Number of flows that ended before a later step, by the number of its kind."

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Read the document. Raises ValueError that says where and what, when it is not whole."""
        report = cls.from_json(text)
        if fault := report.fault():
            raise ValueError(fault)
        return report

    @property
    def failed(self) -> int:
        """Requests that ended without a complete response."""
        return sum(self.errors.model_dump().values())

    def claims(self) -> dict[str, JsonValue]:
        """Return what has no place of its own in a reading."""
        return {
            "python": self.python,
            "by_status": {status: each.count for status, each in sorted(self.latency.items())},
            "reasons": dict(self.reasons),
            "started": self.started,
            "sent": self.sent,
            "never_sent": self.never_sent,
            "waiting_at_end": self.waiting,
            "stray": self.stray,
        }

    def bodies_fault(self) -> str | None:
        """Return which bodies are too many, in one line; None when all can be."""
        for status in {status for status, _, _ in self.bodies}:
            held = sum(count for code, _, count in self.bodies if code == status)
            timed = self.latency[str(status)].count if str(status) in self.latency else 0
            if held > timed:
                return f"bodies: {held} of status {status}, but {timed} responses"
        return None

    def fault(self) -> str | None:
        """Return which counts do not agree, in one line; None when all do."""
        counted = sum(each.count for each in self.latency.values())
        ended = {
            "latency": counted,
            "service": self.service.count,
            "first_byte": self.first_byte.count,
            "completed_by_bin": sum(self.completed_by_bin),
        }
        for name, count in ended.items():
            if count != self.responses:
                return f"{name}: {count} in it, but {self.responses} responses"
        if sum(self.failed_by_bin) != self.failed:
            return f"failed_by_bin: {sum(self.failed_by_bin)} in it, but {self.failed} errors"
        accounted = self.responses + self.failed + self.in_flight.count
        if accounted != self.started:
            return f"started: {self.started}, but {accounted} ended or were in flight"
        return (
            self._kinds_fault()
            or self._stages_fault()
            or self._impossible_sends()
            or self._impossible_time()
            or self.bodies_fault()
        )

    def _kinds_fault(self) -> str | None:
        if not self.kinds:
            return None
        for number, kind in enumerate(self.kinds):
            if (counted := sum(value.count for value in kind.latency.values())) != kind.responses:
                return f"kinds.{number}: {counted} in its latency, but {kind.responses} responses"
        if (of_kinds := sum(kind.responses for kind in self.kinds)) != self.responses:
            return f"kinds: {of_kinds} in them, but {self.responses} responses"
        if (taken := sum(self.taken)) != self.sent:
            return f"taken: {taken} records, but {self.sent} requests were sent"
        return None

    def _stages_fault(self) -> str | None:
        if not self.stages:
            return None
        parts = [part for stage in self.stages for part in stage]
        counted = {
            "responses": (sum(part.durations.count for part in parts), self.responses),
            "errors": (sum(part.failed for part in parts), self.failed),
            "in_flight": (sum(part.in_flight for part in parts), self.in_flight.count),
        }
        for name, (of_stages, all_of_them) in counted.items():
            if of_stages != all_of_them:
                return f"stages: {of_stages} {name} in them, but {all_of_them} in all"
        return None

    def _impossible_sends(self) -> str | None:
        if self.sent + self.never_sent + self.waiting != self.started:
            return f"sent: {self.sent} and those that were not do not make {self.started}"
        if self.rate is not None and self.lateness.count != self.started:
            return f"lateness: {self.lateness.count} in it, but {self.started} were due"
        if (sampled := sum(row[3] for row in self.sampled) + self.sampled_others) > self.sent:
            return f"sampled: {sampled} responses, but {self.sent} requests were sent"
        if self.responses > self.sent:
            return f"sent: {self.sent}, but {self.responses} responses"
        if self.connect.count > self.connections:
            return f"connect: {self.connect.count} in it, but {self.connections} connections"
        return None

    def _impossible_time(self) -> str | None:
        if any(each.max_us > self.timeout_us for each in self.latency.values()):
            return f"latency: longer than the timeout of {self.timeout_us} us"
        bins = -(-self.seconds * 1e9 // self.bin_ns)
        if not bins <= len(self.completed_by_bin) == len(self.failed_by_bin) <= bins + 1:
            return f"completed_by_bin: {len(self.completed_by_bin)} bins in {self.seconds} s"
        return None
