"""Responses per second."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from benchforge.plugin import Metric, Sample, Trial, hookimpl


class Throughput(Metric):
    """Good responses per second of load; with `count = "all"`, complete ones of any status."""

    name: ClassVar[str] = "throughput"
    unit: ClassVar[str] = "requests/s"
    better: ClassVar[Literal["higher", "lower"]] = "higher"

    count: Literal["good", "all"] = "good"
    "Which responses: good ones, or complete ones of any status."

    def of_trial(self, trial: Trial, label: str) -> Iterator[Sample]:
        """Yield one sample, in 1/s; unknown where only bounds of the good responses are known."""
        reading = trial.reading
        if reading is None:
            return
        counted = reading.responses if self.count == "all" else reading.good
        if counted is None:
            yield Sample(metric=label, unit=self.unit, value=None, why=reading.bounds)
        else:
            yield Sample(metric=label, unit=self.unit, value=counted / reading.seconds)


@hookimpl
def benchforge_parts() -> list[type[Metric]]:
    """Return throughput."""
    return [Throughput]
