"""On which CPUs a suite puts what, and where it really ran."""

from collections.abc import Mapping

from pydantic import Field, PositiveInt

from benchforge.model.values.cpus import Cpus
from benchforge.model.values.frozen import Frozen


class Placement(Frozen):
    """The table [placement]: what is not named may use all CPUs."""

    server: Cpus | None = None
    'CPUs of the measured server, such as "0-3,8" or [0, 1].'
    upstream: Cpus | None = None
    "CPUs of the servers behind a proxy."
    backend: Cpus | None = None
    "CPUs of the backends."
    loader: Cpus | None = None
    "CPUs of the load tool or client."


class StrayProcesses(Frozen):
    """Processes of a trial that left the CPUs on which they were put."""

    label: str
    "Of the part; empty for those that no part's process leads to any more."
    program: str
    "What the kernel calls them."
    cpus: str
    "Those that they may use instead."
    processes: PositiveInt
    "How many were seen."


class ActualPlacement(Frozen):
    """On which CPUs a trial was put, and whether it stayed there."""

    cpus: dict[str, str]
    "Of each role that has CPUs of its own."
    seen: dict[str, PositiveInt] = Field(default_factory=dict)
    "By part: how many of its processes were looked at, threads included, until the load's end."
    elsewhere: tuple[StrayProcesses, ...] = ()
    "Those that were not where they belong; empty where all were."

    @property
    def in_words(self) -> str:
        """For a person: who was put where."""
        return by_cpus(self.cpus)


def by_cpus(cpus: Mapping[str, str]) -> str:
    """Return roles and their CPUs for a person: "server, backend 0-2; loader 3"."""
    together: dict[str, list[str]] = {}
    for role, numbers in cpus.items():
        together.setdefault(numbers, []).append(role)
    return "; ".join(f"{', '.join(roles)} {numbers}" for numbers, roles in together.items())
