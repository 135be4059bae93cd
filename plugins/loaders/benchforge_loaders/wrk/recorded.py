"""The file that the hook inside wrk writes: its numbers are wrk's own, after its correction."""

from itertools import pairwise
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from benchforge.plugin import bounded

# Lua knows numbers as doubles: whole ones are exact up to here.
Count = Annotated[int, Field(ge=0, le=2**53)]
Positive = Annotated[int, Field(ge=1, le=2**53)]
Microseconds = Annotated[float, Field(ge=0)]


class WrkCounts(BaseModel):
    """What wrk counted; latencies in microseconds, in order, each with its count."""

    model_config = ConfigDict(
        strict=True, frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True
    )

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
    latency_us: list[tuple[Count, Positive]] = []
    error: str = ""
    "Reason why the hook could not read the latencies."

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Read the file. Raises ValueError that says where and what, when it is not whole."""
        try:
            recorded = cls.model_validate_json(bounded(text))
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False)[0]
            where = ".".join(str(step) for step in first["loc"])
            raise ValueError(f"{where or 'JSON'}: {first['msg']}") from None
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
