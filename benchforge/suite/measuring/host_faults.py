"""Faults of suites whose parts run on several hosts."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchforge.errors import Unusable
from benchforge.model.files.folder import HEADER
from benchforge.model.values.case_name import Role
from benchforge.parts.part import Backend, Driver, Part, RunsPython, Server, ServesCode, Service
from benchforge.suite.matrix import ROLES
from benchforge.suite.scenarios.references import reached
from benchforge.suite.scenarios.turns import turns_of
from benchforge.suite.suite import Declared, Scenario, Suite
from benchforge.suite.toml.faults import Fault
from benchforge.text.readable import conjoined, exact

LARGEST, MOST = 256 << 20, 50_000
"Bytes and files of all that one host gets."
_LEFT_OUT = frozenset(
    (".git", ".hg", ".svn", "__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".tox")
)
_ENVIRONMENT = "pyvenv.cfg"
_SHOWN = 3

_PATHS = ("directory", "dataset", "locustfile", "command", "app")
"Options that name files of the user's."
_ELSEWHERE = Path("/elsewhere")

_OPTIONS = ("scheduler", "ca", "certificate", "key")
_HOST_KEYS = {"ssh": "ssh", "dask": "worker"}


def within(files: Mapping[str, Path | str]) -> None:
    """Raise Unusable for more files or bytes than a host gets, with those that take most."""
    sizes = {name: file.stat().st_size for name, file in files.items() if isinstance(file, Path)}
    if sum(sizes.values()) <= LARGEST and len(files) <= MOST:
        return
    below: dict[str, int] = {}
    for name, size in sizes.items():
        parent = str(Path(*Path(name).parts[:2])) if "/" in name else name
        below[parent] = below.get(parent, 0) + size
    largest = sorted(below, key=lambda name: -below[name])[:_SHOWN]
    folders = conjoined([f"{name} ({below[name] >> 20} MiB)" for name in largest])
    all_of_them = f"{exact(len(files))} files of {sum(sizes.values()) >> 20} MiB"
    raise Unusable(
        f"{all_of_them} are more than a host gets: {exact(MOST)} files of {LARGEST >> 20} MiB",
        f"let directory name the folder of the app alone; largest: {folders}",
    )


def entries(root: Path) -> Iterator[tuple[str, Path | str]]:
    """Yield the files of a file or folder by relative names, and each link as what it leads to.

    Repositories, environments, caches and results are left out. Raises Unusable for what holds on
    this machine only.
    """
    if any((parent / _ENVIRONMENT).is_file() for parent in (root, *root.parents)):
        hint = 'name a runtime, and write {python}: command = ["{python}", ...]'
        raise Unusable(f"{root} is in a virtual environment, which holds on its machine only", hint)
    if root.is_file():
        yield "", root
        return
    real = root.resolve()
    for parent, folders, names in os.walk(real):
        folders[:] = sorted(folder for folder in folders if not _is_left_out(Path(parent), folder))
        links = [folder for folder in folders if (Path(parent) / folder).is_symlink()]
        for name in sorted([*names, *links]):
            path = Path(parent) / name
            entry = _link(path, real) if path.is_symlink() else path
            if entry is not None and (isinstance(entry, str) or entry.is_file()):
                yield str(path.relative_to(real)), entry


def _is_left_out(parent: Path, name: str) -> bool:
    path = parent / name
    return name in _LEFT_OUT or (path / _ENVIRONMENT).is_file() or (path / HEADER).is_file()


def _link(path: Path, root: Path) -> Path | str | None:
    """Return what a link becomes: a link below the root, a file from elsewhere, or nothing."""
    try:
        target = path.resolve(strict=True)
    except (OSError, RuntimeError):  # it leads nowhere
        return None
    if target.is_relative_to(root):
        return os.path.relpath(target, path.parent)
    if target.is_file():
        return target
    hint = "copy that folder, or name another directory that holds both"
    raise Unusable(f"{path} is a link to a folder outside of {root}: {target}", hint)


def prefixed(top: Path, rows: Iterable[tuple[str, Path | str]]) -> Iterator[tuple[str, Path | str]]:
    """Yield files by their names below a place."""
    for name, entry in rows:
        yield str(top / name), entry


class UsedPart(NamedTuple):
    """A part that a scenario starts."""

    role: Role
    table: str
    part: Declared
    hosts: tuple[str, ...]
    "Several for a load that is divided, none for benchforge's own machine."


def used(suite: Suite, scenario: Scenario) -> Iterator[UsedPart]:
    """Yield all parts that a scenario names, and the servers behind those."""
    for table, role in ROLES.items():
        for label in getattr(scenario, table):
            if (part := getattr(suite, table).get(label)) is not None:
                yield UsedPart(role, table, part, suite.hosts_of(role, part))
    for label in reached(scenario, suite.servers).labels:
        part = suite.servers[label]
        yield UsedPart("upstream", "servers", part, suite.hosts_of("upstream", part))


def faults(suite: Suite, scenarios: Mapping[str, Scenario]) -> Iterator[Fault]:
    """Yield what a suite asks for that parts on several hosts do not have, or not yet."""
    on_hosts = False
    yield from engine_faults(suite)
    for label, scenario in scenarios.items():
        uses = [(use.table, use.part, next(iter(use.hosts), None)) for use in used(suite, scenario)]
        hosts = {host for _, _, host in uses}
        if hosts == {None}:
            continue
        on_hosts |= any(hosts)
        if turns_of(scenario, suite.repeat) is not None:
            path = ("scenarios", label, *(() if scenario.interleave is None else ("interleave",)))
            message = "servers on hosts cannot take turns: no clock stops several machines"
            hint = 'set interleave = "off": each server is then measured alone'
            yield Fault(path, message, hint)
        for table, part, host in uses:
            yield from _of_part(suite, table, part, host)
        yield from _socket_faults(uses)
        yield from _divided_faults(suite, scenario)
    if on_hosts and suite.tuning.sysctl:
        hint = "tune the hosts themselves, or measure on one host"
        yield Fault(("tuning", "sysctl"), "parts on hosts use the hosts' own network", hint)


def _of_part(suite: Suite, table: str, declared: Declared, host: str | None) -> Iterator[Fault]:
    path, part = (table, declared.label), declared.part
    if host is None:
        hint = f'write host = "LABEL" here, or {ROLES[table]} = "LABEL" in [placement.hosts]'
        yield Fault(path, "it has no host, and other parts of its scenario have one", hint)
        return
    if isinstance(part, Service) and part.outside():
        yield Fault(path, "it runs already, so that no host can start it", "leave its host out")
    if isinstance(part, Service) and part.host_names():
        hint = "leave it out, and give the server the address: {backends.LABEL.url}"
        yield Fault((*path, "names"), "host names hold on one machine only", hint)
    yield from _file_faults(suite, table, declared)
    label = (part.runtime if isinstance(part, RunsPython) else None) or ""
    python = suite.runtimes[label].python if label in suite.runtimes else ""
    if "/" in python and not python.startswith("/"):
        hint = 'name a version, such as python = "3.12" with requires, or a path on the host'
        message = "a path from the suite's folder leads to no interpreter on a host"
        yield Fault(("runtimes", label, "python"), message, hint)


def _own(part: Part, suite_folder: Path) -> list[Path]:
    code = part.code(suite_folder) if isinstance(part, ServesCode) else None
    return [*part.reads(suite_folder), *filter(None, [code])]


def _file_faults(suite: Suite, table: str, declared: Declared) -> Iterator[Fault]:
    part, folder = declared.part, suite.path.parent
    option = next((option for option in _PATHS if option in declared.options), "use")
    path = (table, declared.label, option)
    if (own_files := _own(part, folder)) and own_files == _own(part, _ELSEWHERE):
        hint = "write a path relative to the suite's folder"
        message = "an absolute path leads to no file of yours on a host"
        yield Fault(path, message, hint)
        return
    try:
        for root in filter(Path.exists, part.reads(folder)):
            within(dict(prefixed(Path(root.name), entries(root))))
    except Unusable as error:
        yield Fault(path, error.message, error.hint)
    except OSError as error:
        yield Fault(path, f"{error.filename}: {error.strerror}", "hosts need this file")


def _socket_faults(used: Sequence[tuple[str, Declared, str | None]]) -> Iterator[Fault]:
    servers = {host for table, _, host in used if table == "servers"}
    for table, declared, host in used:
        part = declared.part
        others = sorted(other for other in servers - {host} if other is not None)
        behind = table == "backends" or (isinstance(part, Server) and part.behind_proxy_only())
        if isinstance(part, Backend) and others and not part.serves_hosts:
            option = ("host",) if declared.host else ()
            message = f"{part.name} cannot serve other hosts yet: {', '.join(others)}"
            hint = "put it on the host of its servers"
            yield Fault((table, declared.label, *option), message, hint)
        elif behind and others and getattr(part, "listen", "") == "unix":
            option = ("listen",) if "listen" in declared.options else ()
            message = f"its unix socket is on {host}, which {', '.join(others)} cannot reach"
            yield Fault((table, declared.label, *option), message, "say listen = 'tcp'")


def _divided_faults(suite: Suite, scenario: Scenario) -> Iterator[Fault]:
    for table in ("loaders", "clients"):
        for label in getattr(scenario, table):
            if (declared := getattr(suite, table).get(label)) is None:
                continue
            part, hosts = declared.part, suite.hosts_of("loader", declared)
            if len(set(hosts)) < len(hosts):
                path = ("placement", "hosts", "loader")
                yield Fault(path, "a host is named twice", "name it once")
            if len(hosts) > 1 and isinstance(part, Driver) and part.divided(0, len(hosts)) is None:
                message = f"its load cannot be divided evenly among {len(hosts)} hosts"
                hint = "use pace or wrk, with a multiple of that many connections"
                yield Fault((table, label), message, hint)


def engine_faults(suite: Suite) -> Iterator[Fault]:
    """Yield what the engines `ssh` and `dask` miss, or would not look at."""
    use = suite.engine.use
    if use not in _HOST_KEYS:
        return
    wanted, is_dask = _HOST_KEYS[use], use == "dask"
    for option in _OPTIONS:
        if is_dask and getattr(suite.engine, option) is None:
            hint = "the scheduler and benchforge show each other a certificate"
            yield Fault(("engine",), f"the engine dask needs {option!r}", hint)
        elif not is_dask and getattr(suite.engine, option) is not None:
            yield Fault(("engine", option), "the engine ssh has none", 'set use = "dask"')
    address = suite.engine.scheduler if is_dask else None
    if address is not None and not re.fullmatch(r"tls://[^\s/]+:\d{1,5}", address):
        hint = 'such as "tls://10.0.0.1:8786": without TLS, all on the network could run programs'
        yield Fault(("engine", "scheduler"), "not an address of a scheduler with TLS", hint)
    alternative, other = next(row for row in _HOST_KEYS.items() if row[0] != use)
    for label, host in suite.hosts.items():
        if getattr(host, wanted) is None:
            hint = f'write {wanted} = "..." in [hosts.{label}]'
            yield Fault(("hosts", label), f"the engine {use} needs {wanted!r}", hint)
        if getattr(host, other) is not None:
            hint = f'leave it out, or set use = "{alternative}" in [engine]'
            yield Fault(("hosts", label, other), f"the engine {use} does not use it", hint)
        if is_dask and host.address is None:
            hint = "write the IPv4 address at which other hosts reach it"
            yield Fault(("hosts", label), "the engine dask needs 'address'", hint)
