"""How well a load tool kept a rate that it was asked for."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from benchforge.plugin import Reading, Trial, Window
from benchforge_metrics.of_reading import OfReading, Value

_PERCENTILE = 0.99


class RateMetric(OfReading):
    """Requests per second that were due, that were sent, and that were answered.

    Only loads with a rate have it. If fewer were sent than due, all connections were busy or the
    tool itself was late: `lateness` shows which.
    """

    name: ClassVar[str] = "rate"
    unit: ClassVar[str] = "requests/s"
    better: ClassVar[Literal["higher", "lower"]] = "higher"
    fixed_parts: ClassVar[tuple[str | None, ...]] = ("due", "sent", "answered")

    def values(self, trial: Trial, reading: Reading, window: Window) -> Iterator[Value]:
        """Yield the three, each in requests per second of the load."""
        if reading.schedule is None:
            return
        schedule, missed = reading.schedule, _missed(reading)
        for part, count in (
            ("due", schedule.intended),
            ("sent", schedule.sent),
            ("answered", reading.responses),
        ):
            value = None if count is None else count / reading.seconds
            reason = "the tool does not tell" if value is None else missed if part == "sent" else ""
            yield Value(value, reason, of=part)


class Lateness(OfReading):
    """The delay of the load tool itself, and the wait for a free connection.

    Both have the 99th percentile and the maximum, over all requests that became due. Lateness is
    caused by the tool or its machine, waiting by the server or by too few connections. Both are
    part of each latency.
    """

    name: ClassVar[str] = "lateness"
    unit: ClassVar[str] = "s"
    fixed_parts: ClassVar[tuple[str | None, ...]] = ("p99", "max", "waited p99", "waited max")

    def values(self, trial: Trial, reading: Reading, window: Window) -> Iterator[Value]:
        """Yield p99 and the most of both, in seconds; nothing waited is 0."""
        schedule = reading.schedule
        if schedule is None:
            return
        for name, histogram in (("", schedule.lateness), ("waited ", schedule.queueing)):
            if histogram is None:
                continue
            p99 = histogram.quantile(_PERCENTILE) or 0
            for part, microseconds in (("p99", p99), ("max", histogram.max_us)):
                yield Value(microseconds / 1e6, of=f"{name}{part}")


def _missed(reading: Reading) -> str:
    """Return how many requests were due and never sent; "" when none, or when nobody knows."""
    schedule = reading.schedule
    if schedule is None or schedule.intended is None or schedule.sent is None:
        return ""
    missed = schedule.intended - schedule.sent
    if not missed:
        return ""
    return f"{missed} of {schedule.intended} requests that were due were never sent"
