"""Time of a number of requests."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from benchforge.plugin import Reading, Trial, Window
from benchforge_metrics.of_reading import OfReading, Value

OF_A_RESPONSE = "in turns: for each response; only ratios are valid"
PER_RESPONSE = "s/response"


class Wall(OfReading):
    """Seconds of the load as the tool reports them, and of the whole process of the tool.

    The process is timed from outside, so its time includes its start and, for a Python client, the
    import of the library. Use it with a number of requests: a load with a duration takes that
    long. In turns it is the time of the load for each response.
    """

    name: ClassVar[str] = "wall"
    unit: ClassVar[str] = "s"
    in_turns: ClassVar[bool] = True

    of: tuple[Literal["load", "process"], ...] = ("load",)
    "Interval to measure: the load as the tool reports it, or the lifetime of the tool's process."

    def values(self, trial: Trial, reading: Reading, window: Window) -> Iterator[Value]:
        for part in self.of:
            value: float | None = reading.seconds
            if part == "process":
                value = None if trial.observation is None else trial.observation.seconds
            reason = "nothing was observed" if value is None else _not_all_well(reading)
            unit = estimator = ""
            if trial.turns is not None:
                unit = PER_RESPONSE
                value, reason, estimator = _in_turns(reading, part)
            yield Value(value, reason, estimator, part, unit=unit)


def _in_turns(reading: Reading, part: str) -> tuple[float | None, str, str]:
    """Return the time for each response, why it is unknown, and how it was formed."""
    if part == "process" or not reading.responses:
        return None, "in turns: a process stands still for most of its time", ""
    return reading.seconds / reading.responses, _not_all_well(reading), OF_A_RESPONSE


def _not_all_well(reading: Reading) -> str:
    """Return why the time is not that of good responses alone; "" when it is."""
    requests = reading.responses + (reading.unanswered or 0)
    return "" if reading.good == requests else f"of {requests} requests: {reading.bounds}"
