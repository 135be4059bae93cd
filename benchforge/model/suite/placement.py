"""Placement of parts on CPUs and hosts: as declared, and as it was."""

import re
from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, Field, PositiveInt

from benchforge.model.values.cpus import Cpus
from benchforge.model.values.frozen import Frozen


def _ipv4(text: str) -> str:
    numbers = text.split(".")
    if len(numbers) != 4 or not all(re.fullmatch(r"0|[1-9]\d{0,2}", number) for number in numbers):  # noqa: PLR2004
        raise ValueError("should be an IPv4 address, such as 10.0.0.1")
    if max(map(int, numbers)) > 255 or numbers[0] in {"0", "127"}:  # noqa: PLR2004
        raise ValueError("should be an IPv4 address that other hosts can reach, such as 10.0.0.1")
    return text


def _word(text: str) -> str:
    # A word that begins with - would be an option of ssh.
    if not re.fullmatch(r"[^-\s\x00-\x1f][^\s\x00-\x1f]*", text):
        raise ValueError("should be one word that does not begin with '-'")
    return text


class EngineTable(Frozen):
    """The table [engine]: what carries benchforge's calls to the hosts."""

    use: str = "ssh"
    "Engine: `ssh`, or `dask` for the workers of a dask cluster that runs already."
    scheduler: Annotated[str, AfterValidator(_word)] | None = None
    'Address of the scheduler of dask, such as "tls://10.0.0.1:8786".'
    ca: str | None = None
    "Path of the certificate of the cluster's authority, relative to the suite."
    certificate: str | None = None
    "Path of the certificate with which benchforge connects to the scheduler."
    key: str | None = None
    "Path of the key of that certificate."


class HostTable(Frozen):
    """A table [hosts.x]: a machine that runs parts of a trial."""

    ssh: Annotated[str, AfterValidator(_word)] | None = None
    "Destination for OpenSSH: user@host, or a name of ~/.ssh/config."
    worker: Annotated[str, AfterValidator(_word)] | None = None
    "Name of a worker of dask, or of a resource that one worker has, with the engine `dask`."
    address: Annotated[str, AfterValidator(_ipv4)] | None = None
    """IPv4 address at which the other hosts reach it. Default: the address that ssh connects to; \
the engine `dask` has none."""
    python: Annotated[str, AfterValidator(_word)] | None = None
    """Python on the host, of the same minor version as benchforge's own. Default: python3.N or \
python3 on the account's PATH."""
    labels: tuple[str, ...] = ()
    "Words that describe the host in the plan and in reports."


class HostsByRole(Frozen):
    """The table [placement.hosts]: hosts of parts that name none themselves."""

    server: str | None = None
    "Host of the measured servers."
    upstream: str | None = None
    "Host of the servers behind a proxy."
    backend: str | None = None
    "Host of the backends."
    loader: str | tuple[str, ...] | None = None
    "Host of the load tools and clients, or hosts among which each load is divided evenly."


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


class Tuning(Frozen):
    """The table [tuning]. It applies inside each trial, never to the machine."""

    sysctl: dict[str, int | str] = Field(default_factory=dict)
    """Kernel settings such as net.core.somaxconn, each with its value. Only settings of a private \
network can be applied."""
    limits: dict[str, PositiveInt] = Field(default_factory=dict)
    """Resource limits such as nofile, each with the soft and hard limit of every process in the \
trial."""


class AppliedTuning(Frozen):
    """Outcome of a tuning in one trial."""

    applied: dict[str, str]
    "Settings in force, as read back, by their names in the suite: sysctl.X, limits.Y."
    refused: dict[str, str]
    "Reasons why other settings are not in force, by name."

    @property
    def in_words(self) -> str:
        """Description: the number of settings in force, and the reason for each other one."""
        refused = [f"{name.partition('.')[2]} ({reason})" for name, reason in self.refused.items()]
        applied = f"{len(self.applied)} applied"
        return f"{applied}; not applied: {', '.join(refused)}" if refused else applied
