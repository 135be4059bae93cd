"""How long a whole process takes, as hyperfine times it."""

from collections.abc import Iterator
from statistics import fmean, stdev
from typing import ClassVar, Literal

from benchforge.plugin import Metric, Reading, Sample, Trial, Window

Of = Literal["mean", "sd", "min", "max", "user", "system"]


class ProcessTime(Metric):
    """Seconds of a whole process, including its start and end, over the runs of a trial.

    The statistics are mean, standard deviation (of the runs, n - 1), minimum and maximum; `user`
    and `system` are means of the CPU time. Runs of one trial share a server, so their spread is
    not that between trials.
    """

    name: ClassVar[str] = "process_time"
    unit: ClassVar[str] = "s"
    better: ClassVar[Literal["higher", "lower"]] = "lower"

    of: tuple[Of, ...] = ("mean", "sd", "min", "max", "user", "system")
    "Statistics over the runs of the command."

    def of_trial(self, trial: Trial, label: str, window: Window) -> Iterator[Sample]:
        """Yield a sample for each of `of`, in seconds; unknown where no process was timed."""
        if trial.reading is None:
            return
        runs = len(trial.reading.process_s)
        for of in self.of:
            value = _value(trial.reading, of)
            why = "" if value is not None else f"{runs} timed processes tell no {of}"
            estimator = f"of {runs} runs"
            yield Sample(
                metric=label, unit=self.unit, value=value, of=of, why=why, estimator=estimator
            )


def _value(reading: Reading, of: Of) -> float | None:
    times = reading.process_s
    match of:
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
