"""Quantities of what the load tool reported."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar, Literal, NamedTuple

from benchforge.plugin import Metric, Reading, Sample, Trial, Window


class Value(NamedTuple):
    """What a sample says, without the metric's own label and unit."""

    value: float | None
    why: str = ""
    estimator: str = ""
    of: str | None = None
    lower_bound: bool = False
    failed: int | None = None
    requests: int | None = None
    unit: str = ""
    "Unit of the value; empty for the metric's own."


class OfReading(Metric, ABC):
    """A quantity of the load tool's reading. A trial without a reading has no sample."""

    better: ClassVar[Literal["higher", "lower"]] = "lower"

    def of_trial(self, trial: Trial, label: str, window: Window) -> Iterator[Sample]:
        """Yield a sample for each value."""
        if trial.reading is not None:
            for value in self.values(trial, trial.reading, window):
                own = {"unit": value.unit or self.unit, "estimator": value.estimator or None}
                yield Sample(metric=label, **{**value._asdict(), **own})

    @abstractmethod
    def values(self, trial: Trial, reading: Reading, window: Window) -> Iterator[Value]:
        """Yield the values of a trial's reading."""
