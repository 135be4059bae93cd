"""The output of pace: one JSON document, read whole or not at all."""

from itertools import pairwise
from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, JsonValue, model_validator

from benchforge.plugin import Histogram
from benchforge.plugin.load_tools import ToolJson, require

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
        sound = all(value < other for (value, _), (other, _) in pairwise(self.counts))
        require(sound, "the buckets are not in order")
        require(not (fault := self.histogram.fault()), fault or "")
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
        report.check()
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

    def check(self) -> None:
        """Raise ValueError for counts that do not agree."""
        ended = {
            "latency": sum(each.count for each in self.latency.values()),
            "service": self.service.count,
            "first_byte": self.first_byte.count,
            "completed_by_bin": sum(self.completed_by_bin),
        }
        responses, failed, in_flight = self.responses, self.failed, self.in_flight.count
        for name, count in ended.items():
            require(count == responses, f"{name}: {count} in it, but {responses} responses")
        by_bin = sum(self.failed_by_bin)
        require(by_bin == failed, f"failed_by_bin: {by_bin} in it, but {failed} errors")
        accounted, started = responses + failed + in_flight, self.started
        message = f"started: {started}, but {accounted} ended or were in flight"
        require(accounted == started, message)
        if self.kinds:
            self._check_kinds()
        if self.stages:
            self._check_stages()
        self._check_sends()
        self._check_time()
        for status in {status for status, _, _ in self.bodies}:
            held = sum(count for code, _, count in self.bodies if code == status)
            timed = self.latency[str(status)].count if str(status) in self.latency else 0
            require(held <= timed, f"bodies: {held} of status {status}, but {timed} responses")

    def _check_kinds(self) -> None:
        for number, kind in enumerate(self.kinds):
            timed, responses = sum(each.count for each in kind.latency.values()), kind.responses
            message = f"kinds.{number}: {timed} in its latency, but {responses} responses"
            require(timed == responses, message)
        count, taken = sum(kind.responses for kind in self.kinds), sum(self.taken)
        message = f"kinds: {count} in them, but {self.responses} responses"
        require(count == self.responses, message)
        require(taken == self.sent, f"taken: {taken} records, but {self.sent} requests were sent")

    def _check_stages(self) -> None:
        parts = [part for stage in self.stages for part in stage]
        counts = {
            "responses": (sum(part.durations.count for part in parts), self.responses),
            "errors": (sum(part.failed for part in parts), self.failed),
            "in_flight": (sum(part.in_flight for part in parts), self.in_flight.count),
        }
        for name, (count, total) in counts.items():
            require(count == total, f"stages: {count} {name} in them, but {total} in all")

    def _check_sends(self) -> None:
        sent, started, connections = self.sent, self.started, self.connections
        sound = sent + self.never_sent + self.waiting == started
        require(sound, f"sent: {sent} and those that were not do not make {started}")
        late = self.lateness.count
        sound = self.rate is None or late == started
        require(sound, f"lateness: {late} in it, but {started} were due")
        sampled = sum(row[3] for row in self.sampled) + self.sampled_others
        require(sampled <= sent, f"sampled: {sampled} responses, but {sent} requests were sent")
        require(self.responses <= sent, f"sent: {sent}, but {self.responses} responses")
        count = self.connect.count
        require(count <= connections, f"connect: {count} in it, but {connections} connections")

    def _check_time(self) -> None:
        sound = all(each.max_us <= self.timeout_us for each in self.latency.values())
        require(sound, f"latency: longer than the timeout of {self.timeout_us} us")
        bins, count = -(-self.seconds * 1e9 // self.bin_ns), len(self.completed_by_bin)
        sound = bins <= count == len(self.failed_by_bin) <= bins + 1
        require(sound, f"completed_by_bin: {count} bins in {self.seconds} s")
