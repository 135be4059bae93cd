"""Time of a whole process, as hyperfine measures it."""

from collections.abc import Iterator
from statistics import fmean, stdev
from typing import ClassVar, Literal

from benchforge.plugin import Reading, Trial, Window
from benchforge_metrics.of_reading import OfReading, Value

Of = Literal["mean", "sd", "min", "max", "user", "system"]


class ProcessTime(OfReading):
    """Seconds of a whole process, including its start and end, over the runs of a trial.

    The statistics are mean, standard deviation (of the runs, n - 1), minimum and maximum; `user`
    and `system` are means of the CPU time. Runs of one trial share a server, so their spread is
    not that between trials.
    """

    name: ClassVar[str] = "process_time"
    unit: ClassVar[str] = "s"

    of: tuple[Of, ...] = ("mean", "sd", "min", "max", "user", "system")
    "Statistics over the runs of the command."

    def values(self, trial: Trial, reading: Reading, window: Window) -> Iterator[Value]:
        runs = len(reading.process_s)
        for part in self.of:
            value = _value(reading, part)
            reason = "" if value is not None else f"{runs} timed processes tell no {part}"
            yield Value(value, reason, f"of {runs} runs", part)


def _value(reading: Reading, part: Of) -> float | None:
    times = reading.process_s
    match part:
        case "user":
            return reading.process_user_s
        case "system":
            return reading.process_system_s
        case "sd":
            return stdev(times) if len(times) > 1 else None
        case "mean":
            return fmean(times) if times else None
        case "min":
            return min(times, default=None)
        case "max":
            return max(times, default=None)
