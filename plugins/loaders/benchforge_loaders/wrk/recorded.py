"""The file that the hook inside wrk writes: its numbers are wrk's own, after its correction."""

from itertools import pairwise
from typing import Annotated, Self

from pydantic import ConfigDict, Field

from benchforge.plugin.load_tools import Count, ToolJson

Positive = Annotated[int, Field(ge=1, le=2**53)]
Microseconds = Annotated[float, Field(ge=0)]


class WrkCounts(ToolJson):
    """What wrk counted; latencies in microseconds, in order, each with its count."""

    model_config = ConfigDict(extra="forbid")

    duration_us: Positive
    requests: Count
    bytes: Count
    connect: Count
    read: Count
    write: Count
    status: Count
    timeout: Count
    mean_us: Microseconds
    stdev_us: Microseconds
    latency_us: list[tuple[Count, Positive]] = Field(default_factory=list)
    error: str = ""
    "Reason why the hook could not read the latencies."

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Read the file. Raises ValueError that says where and what, when it is not whole."""
        recorded = cls.from_json(text)
        if fault := recorded.error or recorded.fault():
            raise ValueError(fault)
        return recorded

    def fault(self) -> str | None:
        """Return what cannot be, in one line; None when all is well."""
        if "latency_us" not in self.model_fields_set:
            return "latency_us: missing"
        if any(one >= next_one for (one, _), (next_one, _) in pairwise(self.latency_us)):
            return "latency_us: not in order"
        if max(self.status, self.timeout) > self.requests:
            return f"more bad responses ({self.status}, {self.timeout}) than {self.requests}"
        return None
