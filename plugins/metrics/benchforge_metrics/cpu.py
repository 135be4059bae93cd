"""CPU time for each good response."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from benchforge.plugin import Measurand, Role, Sample, Window
from benchforge_metrics.of_reading import ByRole, Estimated

if TYPE_CHECKING:
    from benchforge.plugin import Trial, Usage

_AFTER = "after the load"
_SHOWN = 0.01  # of the server's CPU time: with less, a column would say nothing


class Cpu(ByRole):
    """CPU seconds of a role's processes, over the whole load, per good response.

    What a server spends after the load is a part of its own, `after the load`, where it is 1 % of
    its CPU time or more. It is watched in the first block, until it idles or for two seconds.
    """

    name: ClassVar[str] = "cpu"
    unit: ClassVar[str] = "s"
    in_turns: ClassVar[bool] = True
    once: ClassVar[tuple[str, ...]] = (_AFTER,)
    measurand: ClassVar[Measurand] = "CPU time per response"

    of: tuple[Role, ...] = ("server", "upstream", "backend", "loader")
    "Role of the processes whose CPU time counts."

    def of_trial(self, trial: "Trial", label: str, window: Window) -> Iterator[Sample]:
        """Yield a sample for each role that the trial has, and one for the time after its load."""
        yield from super().of_trial(trial, label, window)
        observation, good = trial.observation, None if trial.reading is None else trial.reading.good
        if observation is None or observation.after is None or not good:
            return
        during_s = sum(usage.cpu_s or 0.0 for usage in observation.usage if usage.role == "server")
        if observation.after.cpu_s >= _SHOWN * during_s > 0:
            value = observation.after.cpu_s / good
            yield Sample(metric=label, unit=self.unit, value=value, of=_AFTER)

    def of_role(self, trial: "Trial", uses: "list[Usage]", window: Window) -> Estimated:
        reading = trial.reading
        seconds = [usage.cpu_s for usage in uses if usage.cpu_s is not None]
        if len(seconds) < len(uses):
            reason = "; ".join(usage.why for usage in uses if usage.cpu_s is None and usage.why)
            return None, reason or "its CPU time was not measured"
        if reading is None or reading.good is None:
            return None, reading.bounds if reading else "no reading"
        if not reading.good:
            return None, "no good response"
        return sum(seconds) / reading.good, window.whole
