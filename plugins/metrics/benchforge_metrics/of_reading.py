"""Quantities of what the load tool reported."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

from benchforge.plugin import Metric, Reading, Role, Sample, Window

if TYPE_CHECKING:
    from benchforge.plugin import Trial, Usage

Estimated = tuple[float | None, str]


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

    def of_trial(self, trial: "Trial", label: str, window: Window) -> Iterator[Sample]:
        if trial.reading is not None:
            for value in self.values(trial, trial.reading, window):
                units = {"unit": value.unit or self.unit, "estimator": value.estimator or None}
                yield Sample(metric=label, **{**value._asdict(), **units})

    @abstractmethod
    def values(self, trial: "Trial", reading: Reading, window: Window) -> Iterator[Value]:
        """Yield the values of a trial's reading."""


class ByRole(Metric):
    """A quantity of the processes of each role that `of` lists and the trial has."""

    better: ClassVar[Literal["higher", "lower"]] = "lower"
    of: tuple[Role, ...]

    def of_trial(self, trial: "Trial", label: str, window: Window) -> Iterator[Sample]:
        for role in self.of:
            value, text = None, "nothing was observed"
            if trial.observation is not None:
                uses = [usage for usage in trial.observation.usage if usage.role == role]
                if not uses:
                    continue
                value, text = self.of_role(trial, uses, window)
            reason, estimator = (text, None) if value is None else ("", text or None)
            yield Sample(
                metric=label, unit=self.unit, value=value, of=role, why=reason, estimator=estimator
            )

    @abstractmethod
    def of_role(self, trial: "Trial", uses: "list[Usage]", window: Window) -> Estimated:
        """Return the value with its estimator, or None with the reason."""
