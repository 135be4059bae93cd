"""Quantities of the processes of each role."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import ClassVar, Literal

from benchforge.plugin import Metric, Role, Sample, Trial, Usage, Window


class ByRole(Metric):
    """A quantity of the processes of each role that `of` lists and the trial has."""

    better: ClassVar[Literal["higher", "lower"]] = "lower"
    of: tuple[Role, ...]

    def of_trial(self, trial: Trial, label: str, window: Window) -> Iterator[Sample]:
        """Yield a sample for each role that the trial has."""
        for role in self.of:
            value, text = None, "nothing was observed"
            if trial.observation is not None:
                usages = [usage for usage in trial.observation.usage if usage.role == role]
                if not usages:
                    continue
                value, text = self.of_role(trial, usages, window)
            reason, estimator = (text, None) if value is None else ("", text or None)
            yield Sample(
                metric=label, unit=self.unit, value=value, of=role, why=reason, estimator=estimator
            )

    @abstractmethod
    def of_role(
        self, trial: Trial, usages: Sequence[Usage], window: Window
    ) -> tuple[float | None, str]:
        """Return the value with its estimator, or None with the reason."""
