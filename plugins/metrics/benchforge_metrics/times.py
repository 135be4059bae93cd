"""Times of the load, of the tool's process, and of whole processes that hyperfine starts."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean, stdev
from typing import TYPE_CHECKING, ClassVar, Literal

from benchforge.plugin import Reading, Window
from benchforge_metrics.of_reading import OfReading, Value

if TYPE_CHECKING:
    from benchforge.plugin import Trial

OF_A_RESPONSE = "in turns: for each response; only ratios are valid"
PER_RESPONSE = "s/response"
NOT_TOLD = "the tool does not tell its CPU time during the load"
Of = Literal["mean", "sd", "min", "max", "user", "system"]
_STATISTICS: Mapping[str, Callable[[Sequence[float]], float]]
_STATISTICS = {"mean": fmean, "sd": stdev, "min": min, "max": max}


class Wall(OfReading):
    """Seconds of the load as the tool reports them, and of the whole process of the tool.

    The process is timed from outside, so its time includes its start and, for a Python client, the
    import of the library. Use it with a number of requests: a load with a duration takes that
    long. In turns it is the time of the load for each response.
    """

    name: ClassVar[str] = "wall"
    unit: ClassVar[str] = "s"
    in_turns: ClassVar[bool] = True

    of: tuple[Literal["load", "process"], ...] = ("load",)
    "Interval to measure: the load as the tool reports it, or the lifetime of the tool's process."

    def values(self, trial: "Trial", reading: Reading, window: Window) -> Iterator[Value]:
        for part in self.of:
            value: float | None = reading.seconds
            if part == "process":
                value = None if trial.observation is None else trial.observation.seconds
            reason = "nothing was observed" if value is None else _not_all_well(reading)
            unit = estimator = ""
            if trial.turns is not None:
                unit = PER_RESPONSE
                value, reason, estimator = _in_turns(reading, part)
            yield Value(value, reason, estimator, part, unit=unit)


def _in_turns(reading: Reading, part: str) -> tuple[float | None, str, str]:
    """Return the time for each response, why it is unknown, and how it was formed."""
    if part == "process" or not reading.responses:
        return None, "in turns: a process stands still for most of its time", ""
    return reading.seconds / reading.responses, _not_all_well(reading), OF_A_RESPONSE


def _not_all_well(reading: Reading) -> str:
    """Return why the time is not that of good responses alone; "" when it is."""
    requests = reading.responses + (reading.unanswered or 0)
    return "" if reading.good == requests else f"of {requests} requests: {reading.bounds}"


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

    def values(self, trial: "Trial", reading: Reading, window: Window) -> Iterator[Value]:
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


class ProcessTime(OfReading):
    """Seconds of a whole process, including its start and end, over the runs of a trial.

    The statistics are mean, standard deviation (of the runs, n - 1), minimum and maximum; `user`
    and `system` are means of the CPU time. Runs of one trial share a server, so their spread is
    not that between trials.
    """

    name: ClassVar[str] = "process_time"
    unit: ClassVar[str] = "s"

    of: tuple[Of, ...] = ("mean", "sd", "min", "max", "user", "system")
    "Statistics over the runs of the command."

    def values(self, trial: "Trial", reading: Reading, window: Window) -> Iterator[Value]:
        runs = len(reading.process_s)
        for part in self.of:
            value = _value(reading, part)
            reason = "" if value is not None else f"{runs} timed processes tell no {part}"
            yield Value(value, reason, f"of {runs} runs", part)


def _value(reading: Reading, part: Of) -> float | None:
    times = reading.process_s
    if part in {"user", "system"}:
        return reading.process_user_s if part == "user" else reading.process_system_s
    return _STATISTICS[part](times) if len(times) >= (2 if part == "sd" else 1) else None
