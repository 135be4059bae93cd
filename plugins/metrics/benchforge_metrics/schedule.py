"""The rate that a load tool kept, and its own delays."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, Literal

from benchforge.plugin import Reading, Schedule, Window
from benchforge_metrics.of_reading import OfReading, Value

if TYPE_CHECKING:
    from benchforge.plugin import Trial


class RateMetric(OfReading):
    """Requests per second that were due, that were sent, and that were answered.

    Only loads with a rate have it. If fewer were sent than due, all connections were busy or the
    tool itself was late: `lateness` shows which.
    """

    name: ClassVar[str] = "rate"
    unit: ClassVar[str] = "requests/s"
    better: ClassVar[Literal["higher", "lower"]] = "higher"
    fixed_parts: ClassVar[tuple[str | None, ...]] = ("due", "sent", "answered")

    def values(self, trial: "Trial", reading: Reading, window: Window) -> Iterator[Value]:
        if (schedule := reading.schedule) is None:
            return
        counts = {"due": schedule.intended, "sent": schedule.sent, "answered": reading.responses}
        for part, count in counts.items():
            value = None if count is None else count / reading.seconds
            reason = "the tool does not tell" if value is None else ""
            yield Value(value, reason or (_missed(schedule) if part == "sent" else ""), of=part)


class Lateness(OfReading):
    """The delay of the load tool itself, and the wait for a free connection.

    Both have the 99th percentile and the maximum, over all requests that became due. Lateness is
    caused by the tool or its machine, waiting by the server or by too few connections. Both are
    part of each latency.
    """

    name: ClassVar[str] = "lateness"
    unit: ClassVar[str] = "s"
    fixed_parts: ClassVar[tuple[str | None, ...]] = ("p99", "max", "waited p99", "waited max")

    def values(self, trial: "Trial", reading: Reading, window: Window) -> Iterator[Value]:
        if (schedule := reading.schedule) is None:
            return
        for name, histogram in (("", schedule.lateness), ("waited ", schedule.queueing)):
            if histogram is None:
                continue
            p99_us = histogram.quantile(0.99) or 0  # nothing waited is 0
            for part, microseconds in (("p99", p99_us), ("max", histogram.max_us)):
                yield Value(microseconds / 1e6, of=f"{name}{part}")


def _missed(schedule: Schedule) -> str:
    """Return the number of requests that were due and never sent; "" if it is 0 or unknown."""
    if schedule.intended is None or schedule.sent in {None, schedule.intended}:
        return ""
    missed = schedule.intended - (schedule.sent or 0)
    return f"{missed} of {schedule.intended} requests that were due were never sent"
