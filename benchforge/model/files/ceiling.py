"""Ceiling of a load tool: its rate against a server that does nothing."""

from typing import Literal

from pydantic import NonNegativeInt, PositiveInt

from benchforge.model.trial.trial import Trial
from benchforge.model.values.case_name import Role
from benchforge.model.values.frozen import Frozen
from benchforge.text.readable import figure

_TOOL_BUSY = 0.8
"Of a CPU: beyond that the tool itself was at work all the time."


class Ceiling(Frozen):
    """Ceiling of a load tool: its measurement against the null server, once in a result."""

    format: Literal[2] = 2
    "Version of the file format."
    kind: Literal["ceiling"] = "ceiling"
    "Kind of this file."
    number: PositiveInt
    "Number of the ceiling: the name of its folder."
    body_bytes: NonNegativeInt
    "Length of the null server's body: that of the measured server's answer before the load."
    processes: PositiveInt
    "Number of processes of the null server."
    shares: PositiveInt = 1
    "Number of load tools that divide the load. The ceiling is that of one, on its own host."
    trial: Trial
    "Measurement of the ceiling. Its block and position are 1 and have no meaning."

    @property
    def host(self) -> str:
        """Label of the load tool's host; empty if it ran on benchforge's own machine."""
        return next(iter(self.trial.hosts_of(f"loader-{self.trial.case.driver}")), "")

    @property
    def per_second(self) -> float | None:
        """Responses per second; None if the measurement failed."""
        reading = self.trial.reading
        if not self.trial.measured or reading is None or not reading.responses:
            return None
        plan = reading.schedule
        if plan is not None and plan.intended:  # of random arrivals, which come in any number
            return plan.rate * min(1.0, reading.responses / plan.intended)
        return reading.responses / reading.seconds

    @property
    def only_a_floor(self) -> str:
        """Reason why the tool may reach more than it did here; empty if it would not."""
        if doubts := ", ".join(f"{doubt.id} {doubt.name}" for doubt in self.trial.doubts):
            return f"that measurement is not believed ({doubts})"
        tool, null = self._cpu("loader"), self._cpu("server")
        if tool is None or null is None:
            return "the CPU time of the tool or of the null server is not known"
        null /= self.processes
        if tool < _TOOL_BUSY and tool < null:
            used = f"{figure(null)} and {figure(tool)} of a CPU"
            return f"the null server worked more than the tool ({used})"
        return ""

    def _cpu(self, role: Role) -> float | None:
        """CPUs that the busiest thread of a role used, or its part as a whole; None is unknown."""
        observation, load = self.trial.observation, self.trial.load
        if observation is None or not observation.seconds:
            return None
        threads = (load.processes or 1) if load is not None and role == "loader" else 1
        used: list[float] = []
        for usage in observation.usage:
            if usage.role != role:
                continue
            if role == "loader" and usage.busiest_thread_cpu_s is not None:
                used.append(usage.busiest_thread_cpu_s)
            elif usage.cpu_s is None:
                return None
            else:
                used.append(usage.cpu_s / threads)
        return max(used) / observation.seconds if used else None
