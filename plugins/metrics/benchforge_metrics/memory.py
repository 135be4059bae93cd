"""Memory, without counting shared pages twice."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from benchforge.plugin import Metric, Role, Sample, Trial, Usage, Window, hookimpl


class Memory(Metric):
    """The largest observed memory of a role's processes during the load.

    That is their proportional set sizes, and the shared memory (memfd and /dev/shm) that they hold
    open without mapping it.

    For several parts with one role, the largest values are added, although they may have occurred
    at different times.
    """

    name: ClassVar[str] = "memory"
    unit: ClassVar[str] = "B"
    better: ClassVar[Literal["higher", "lower"]] = "lower"

    of: tuple[Role, ...] = ("server", "upstream", "backend")
    "Role of the processes whose memory counts."

    def parts(self) -> tuple[str | None, ...]:
        """Return the roles that were asked for."""
        return self.of

    def of_trial(self, trial: Trial, label: str, window: Window) -> Iterator[Sample]:
        """Yield a sample for each role that the trial has, in bytes."""
        if trial.observation is None:
            for role in self.of:
                yield self._unknown(label, role, "nothing was observed")
            return
        for role in self.of:
            usages = [usage for usage in trial.observation.usage if usage.role == role]
            if usages:
                yield self._of_role(label, role, usages, window)

    def _of_role(self, label: str, role: Role, usages: list[Usage], window: Window) -> Sample:
        peaks = [usage.peak_pss_bytes for usage in usages if usage.peak_pss_bytes is not None]
        if len(peaks) < len(usages):
            why = "; ".join(u.why for u in usages if u.peak_pss_bytes is None and u.why)
            return self._unknown(label, role, why or "its memory was not measured")
        samples = min(usage.pss_samples for usage in usages)
        return Sample(
            metric=label,
            unit=self.unit,
            value=sum(peaks),
            of=role,
            estimator=", ".join(filter(None, (f"largest of {samples} samples", window.whole))),
        )

    def _unknown(self, label: str, role: Role, why: str) -> Sample:
        return Sample(metric=label, unit=self.unit, value=None, of=role, why=why)


@hookimpl
def benchforge_parts() -> list[type[Metric]]:
    """Return memory."""
    return [Memory]
