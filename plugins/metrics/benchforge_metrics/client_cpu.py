"""CPU time of the tool itself during the load."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from benchforge.plugin import Reading, Trial, Window
from benchforge_metrics.of_reading import OfReading, Value
from benchforge_metrics.wall import OF_A_RESPONSE, PER_RESPONSE

NOT_TOLD = "the tool does not tell its CPU time during the load"


class ClientCpu(OfReading):
    """CPU seconds of the load tool's process for all requests of the load, without its start.

    `cpu` covers the tool's whole life, per good response. The kernel estimates how user and system
    share a process's time; their sum is exact. In turns it is the time for each response.
    """

    name: ClassVar[str] = "client_cpu"
    unit: ClassVar[str] = "s"
    in_turns: ClassVar[bool] = True

    of: tuple[Literal["total", "user", "system"], ...] = ("total", "user", "system")
    "Kind of CPU time."

    def values(self, trial: Trial, reading: Reading, window: Window) -> Iterator[Value]:
        user, system = reading.cpu_user_s, reading.cpu_system_s
        total = None if user is None or system is None else user + system
        values = {"total": total, "user": user, "system": system}
        responses, unit, estimator = 1, "", ""
        if trial.turns is not None:
            responses, unit, estimator = reading.responses, PER_RESPONSE, OF_A_RESPONSE
        for part in self.of:
            seconds = values[part]
            value = None if seconds is None or not responses else seconds / responses
            reason = NOT_TOLD if value is None else ""
            yield Value(value, reason, estimator, part, unit=unit)
