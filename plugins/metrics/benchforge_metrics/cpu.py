"""CPU time for each good response."""

from collections.abc import Sequence
from typing import ClassVar

from benchforge.plugin import Role, Trial, Usage, Window
from benchforge_metrics.of_reading import ByRole


class Cpu(ByRole):
    """CPU seconds of a role's processes, over the whole load, per good response."""

    name: ClassVar[str] = "cpu"
    unit: ClassVar[str] = "s"
    in_turns: ClassVar[bool] = True

    of: tuple[Role, ...] = ("server", "upstream", "backend", "loader")
    "Role of the processes whose CPU time counts."

    def of_role(
        self, trial: Trial, usages: Sequence[Usage], window: Window
    ) -> tuple[float | None, str]:
        """Return CPU seconds a response."""
        reading = trial.reading
        seconds = [usage.cpu_s for usage in usages if usage.cpu_s is not None]
        if len(seconds) < len(usages):
            why = "; ".join(usage.why for usage in usages if usage.cpu_s is None and usage.why)
            return None, why or "its CPU time was not measured"
        if reading is None or reading.good is None:
            return None, reading.bounds if reading else "no reading"
        if not reading.good:
            return None, "no good response"
        return sum(seconds) / reading.good, window.whole
