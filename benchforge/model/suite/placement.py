"""On which CPUs a suite puts what, and where it really ran."""

from collections.abc import Mapping

from pydantic import Field, PositiveInt

from benchforge.model.suite.hosts import HostsByRole
from benchforge.model.values.cpus import Cpus
from benchforge.model.values.frozen import Frozen


class Placement(Frozen):
    """The table [placement]. Roles that it does not name may use all CPUs."""

    server: Cpus | None = None
    'CPUs of the measured server, such as "0-3,8" or [0, 1].'
    upstream: Cpus | None = None
    "CPUs of the servers behind a proxy."
    backend: Cpus | None = None
    "CPUs of the backends."
    loader: Cpus | None = None
    "CPUs of the load tool or client."
    hosts: HostsByRole | None = Field(default=None, exclude=True)
    "Hosts of roles, instead of `host` in each part."


class StrayProcesses(Frozen):
    """Processes of a trial that left the CPUs on which they were placed."""

    label: str
    "Label of the part; empty if the process no longer belongs to one."
    program: str
    "Name of the program, as the kernel reports it."
    cpus: str
    "CPUs that the processes may use instead."
    processes: PositiveInt
    "Number of such processes."


class ActualPlacement(Frozen):
    """Placement of a trial's processes on CPUs, and whether they stayed there."""

    cpus: dict[str, str]
    "CPUs of each role that has its own, by role."
    seen: dict[str, PositiveInt] = Field(default_factory=dict)
    "Number of processes and threads that were checked until the load's end, by part."
    elsewhere: tuple[StrayProcesses, ...] = ()
    "Processes on other CPUs; empty if all stayed."

    @property
    def in_words(self) -> str:
        """Description: the CPUs of each role."""
        return by_cpus(self.cpus)


def by_cpus(cpus: Mapping[str, str]) -> str:
    """Return roles and their CPUs for a person: "0-2 for server, backend; 3 for loader"."""
    together: dict[str, list[str]] = {}
    for role, numbers in cpus.items():
        together.setdefault(numbers, []).append(role)
    return "; ".join(f"{numbers} for {', '.join(roles)}" for numbers, roles in together.items())
