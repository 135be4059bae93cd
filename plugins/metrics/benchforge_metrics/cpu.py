"""CPU time for each good response."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from benchforge.plugin import Metric, Role, Sample, Trial, Usage, Window, hookimpl


class Cpu(Metric):
    """CPU seconds of a role's processes, over the whole load, per good response."""

    name: ClassVar[str] = "cpu"
    unit: ClassVar[str] = "s"
    in_turns: ClassVar[bool] = True
    better: ClassVar[Literal["higher", "lower"]] = "lower"

    of: tuple[Role, ...] = ("server", "upstream", "backend", "loader")
    "Role of the processes whose CPU time counts."

    def parts(self) -> tuple[str | None, ...]:
        """Return the roles that were asked for."""
        return self.of

    def of_trial(self, trial: Trial, label: str, window: Window) -> Iterator[Sample]:
        """Yield a sample for each role that the trial has, in CPU seconds a response."""
        if trial.observation is None:
            for role in self.of:
                yield self._unknown(label, role, "nothing was observed")
            return
        for role in self.of:
            usages = [usage for usage in trial.observation.usage if usage.role == role]
            if usages:
                yield self._of_role(trial, label, role, usages, window)

    def _of_role(
        self, trial: Trial, label: str, role: Role, usages: list[Usage], window: Window
    ) -> Sample:
        reading = trial.reading
        seconds = [usage.cpu_s for usage in usages if usage.cpu_s is not None]
        if len(seconds) < len(usages):
            why = "; ".join(usage.why for usage in usages if usage.cpu_s is None and usage.why)
            return self._unknown(label, role, why or "its CPU time was not measured")
        if reading is None or reading.good is None:
            return self._unknown(label, role, reading.bounds if reading else "no reading")
        if not reading.good:
            return self._unknown(label, role, "no good response")
        value = sum(seconds) / reading.good
        estimator = window.whole or None
        return Sample(metric=label, unit=self.unit, value=value, of=role, estimator=estimator)

    def _unknown(self, label: str, role: Role, why: str) -> Sample:
        return Sample(metric=label, unit=self.unit, value=None, of=role, why=why)


@hookimpl
def benchforge_parts() -> list[type[Metric]]:
    """Return cpu."""
    return [Cpu]
