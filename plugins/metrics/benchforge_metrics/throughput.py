"""Responses per second."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from benchforge.plugin import Measurand, Metric, Sample, Trial, Window, after_cut


class Throughput(Metric):
    """Good responses per second of load; with `count = "all"`, complete responses of any status.

    The warm-up is excluded if it is known: the number of responses is then multiplied by the share
    that ended after the warm-up, and divided by the seconds after it.
    """

    name: ClassVar[str] = "throughput"
    measurand: ClassVar[Measurand] = "responses per second"
    unit: ClassVar[str] = "requests/s"
    in_turns: ClassVar[bool] = True
    of_kinds: ClassVar[bool] = True
    better: ClassVar[Literal["higher", "lower"]] = "higher"
    fixed_parts: ClassVar[tuple[str | None, ...]] = (None,)

    count: Literal["good", "all"] = "good"
    "Responses that count: good ones, or complete ones of any status."

    def of_trial(self, trial: Trial, label: str, window: Window) -> Iterator[Sample]:
        """Yield one sample, in 1/s; unknown where only bounds of the good responses are known."""
        reading, left = trial.reading, after_cut(trial, window)
        if reading is None:
            return
        counted = reading.responses if self.count == "all" else reading.good
        if counted is None:
            yield Sample(metric=label, unit=self.unit, value=None, why=reading.bounds)
        elif trial.turns is not None:
            value, estimator = counted / reading.seconds, "in turns: only ratios are valid"
            yield Sample(metric=label, unit=self.unit, value=value, estimator=estimator)
        elif left is None:
            value, estimator = counted / reading.seconds, "of the whole load: it cannot be cut"
            yield Sample(metric=label, unit=self.unit, value=value, estimator=estimator)
        else:
            value = counted * left.share / left.seconds
            estimator = left.note
            if estimator and counted < reading.responses:
                estimator += ", good ones by their share of all responses"
            yield Sample(metric=label, unit=self.unit, value=value, estimator=estimator or None)
