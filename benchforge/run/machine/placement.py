"""CPUs of each role of a trial, and a check that its processes stay there."""

import contextlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from benchforge.model.suite.placement import ActualPlacement, Placement, StrayProcesses, by_cpus
from benchforge.model.trial.check import Check, Status
from benchforge.model.trial.observation import Usage
from benchforge.model.values.case_name import Role
from benchforge.model.values.cpus import Cpus
from benchforge.run.machine.quiet import text
from benchforge.run.sandbox.keeper import below, family
from benchforge.suite.cases.parts import roles_of
from benchforge.suite.suite import Suite
from benchforge.suite.toml.faults import SuiteErrors
from benchforge.suite.toml.source import located

ID = "placement"
Places = Mapping[Role, Cpus]

_ROLES: tuple[Role, ...] = get_args(Role)
_LOADERS_SHARE = 4  # a load tool that keeps up with a server needs less than the server
_SYSTEM = Path("/")
_TOPOLOGY = "sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"


@dataclass(frozen=True)
class CpuTopology:
    """The CPUs that may be used here, by cores: those of one core share its speed."""

    cores: tuple[Cpus, ...]

    @property
    def usable(self) -> Cpus:
        """All of them."""
        return Cpus.of(cpu for core in self.cores for cpu in core)


def machine(root: Path = _SYSTEM, usable: Iterable[int] | None = None) -> CpuTopology:
    """Return the CPUs that this process may use; without a topology, each is a core."""
    unassigned = set(os.sched_getaffinity(0) if usable is None else usable)
    cores: list[Cpus] = []
    while unassigned:
        first = min(unassigned)
        try:
            siblings = set(Cpus.parse(text(root, _TOPOLOGY.format(first))))
        except ValueError:
            siblings = set()
        core = Cpus.of({first, *(siblings & unassigned)})
        unassigned -= set(core)
        cores.append(core)
    return CpuTopology(tuple(cores))


def places(suite: Suite, topology: CpuTopology) -> Places:
    """Return the CPUs of each role that has its own. Raises SuiteErrors for CPUs not here."""
    match suite.placement:
        case Placement() as placement:
            return _given(suite, placement, topology.usable)
        case "auto":
            return _apart(topology.cores)
        case "off":
            return {}


def _given(suite: Suite, placement: Placement, usable: Cpus) -> Places:
    by_role: dict[Role, Cpus] = {
        role: cpus for role in _ROLES if (cpus := getattr(placement, role)) is not None
    }
    no_cpu, hint = "this machine gives no CPU", f"available CPUs: {usable}"
    if faults := [
        located(suite.document, ("placement", role), f"{no_cpu} {Cpus.of(absent)}", hint)
        for role, cpus in by_role.items()
        if (absent := sorted(set(cpus) - set(usable)))
    ]:
        raise SuiteErrors(faults)
    return by_role


def _apart(cores: tuple[Cpus, ...]) -> Places:
    """Give the load tool a quarter of the cores, one at least, and all others the rest."""
    count = max(1, len(cores) // _LOADERS_SHARE)
    if count == len(cores):
        return {}
    loader = Cpus.of(cpu for core in cores[-count:] for cpu in core)
    others = Cpus.of(cpu for core in cores[:-count] for cpu in core)
    return {role: loader if role == "loader" else others for role in _ROLES}


def describe_placement(suite: Suite, cpus_of_roles: Places, topology: CpuTopology) -> Iterator[str]:
    """Yield a line that says who runs where, and one for each core that the load tool shares."""
    if not cpus_of_roles:
        reason = ": placement = 'auto' needs two cores" if suite.placement == "auto" else ""
        yield f"CPUs {topology.usable}, shared by all{reason}"
        return
    roles = roles_of(suite)
    used = {role: cpus_of_roles.get(role, topology.usable) for role in _ROLES if role in roles}
    yield f"CPUs: {by_cpus({role: str(cpus) for role, cpus in used.items()})}"
    loader = set(used.get("loader", ()))
    others = {cpu for role, cpus in used.items() if role != "loader" for cpu in cpus}
    if cores := [str(core) for core in topology.cores if loader & set(core) and others & set(core)]:
        shared = "one core" if len(cores) == 1 else "cores"
        yield f"warning: the load tool shares {shared} with others: CPUs {', '.join(cores)}"


class Stay:
    """Looks where processes and threads may run, as the kernel says, until the load's end."""

    def __init__(self, cpus_of_roles: Places) -> None:
        self._given = cpus_of_roles
        self._seen: dict[str, set[int]] = {}
        self._elsewhere: dict[int, tuple[str, str, str]] = {}

    def look(self, label: str, role: Role, pids: Iterable[int]) -> None:
        """Look at the processes of a part, by their pids as seen from outside."""
        if (cpus := self._given.get(role)) is not None:
            self._look(label, pids, {cpus})

    def look_at_rest(self, init_pid: int) -> None:
        """Look at processes below a trial's keeper that belong to no part."""
        if self._given:
            of_parts = {pid for pids in self._seen.values() for pid in pids}
            rest = below({init_pid}, family()) - {init_pid} - of_parts
            anywhere = Cpus.of(os.sched_getaffinity(0))
            self._look("", rest, {self._given.get(role, anywhere) for role in _ROLES})

    def _look(self, label: str, pids: Iterable[int], allowed: set[Cpus]) -> None:
        for pid in pids:
            held = _cpus_held(pid)
            if held:
                self._seen.setdefault(label, set()).add(pid)
            if astray := held - allowed:
                cpus = " or ".join(sorted(map(str, astray)))
                self._elsewhere[pid] = (label, text(_SYSTEM, f"proc/{pid}/comm") or "", cpus)

    def placed(self) -> ActualPlacement | None:
        """Return what was seen; None where nobody has CPUs of its own."""
        if not self._given:
            return None
        counts = Counter(self._elsewhere.values())
        return ActualPlacement(
            cpus={role: str(cpus) for role, cpus in self._given.items()},
            seen={label: len(pids) for label, pids in self._seen.items() if label},
            elsewhere=tuple(
                StrayProcesses(label=label, program=program, cpus=cpus, processes=count)
                for (label, program, cpus), count in counts.items()
            ),
        )


def _cpus_held(pid: int) -> set[Cpus]:
    held: set[Cpus] = set()
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - numbers, not paths
            with contextlib.suppress(OSError):
                held.add(Cpus.of(os.sched_getaffinity(int(thread))))
    return held


def check(placed: ActualPlacement, usage: Iterable[Usage]) -> Check:
    """Return whether all stayed; unknown where no process of a part with CPUs was seen."""
    strays = placed.elsewhere
    astray = [f"{s.program} of {s.label or 'nobody'} may use CPUs {s.cpus}" for s in strays]
    labels = (part.label for part in usage if part.role in placed.cpus)
    unseen = [label for label in labels if label not in placed.seen]
    status: Status = "warn" if astray else "unknown" if unseen else "pass"
    says = {
        "warn": f"not on the CPUs that they were given: {'; '.join(astray)}",
        "unknown": f"on which CPUs it runs was not seen: {', '.join(unseen)}",
        "pass": "every process that was seen stayed on its CPUs",
    }
    return Check(
        id=ID,
        scope="trial",
        subject="behaviour",
        status=status,
        value=sum(stray.processes for stray in strays),
        threshold="0 processes elsewhere",
        source="sched_getaffinity of each thread",
        message=says[status],
    )
