"""What parts on several hosts cannot do, or cannot yet, each with its place in the suite.

Nothing is measured otherwise than the suite says.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchforge.errors import Unusable
from benchforge.parts.part import Backend, Driver, Part, RunsPython, Server, ServesCode, Service
from benchforge.suite.measuring.engine_faults import faults as reached_faults
from benchforge.suite.measuring.host_files import ROLES, check, used
from benchforge.suite.scenarios.turns import turns_of
from benchforge.suite.suite import Declared, Scenario, Suite
from benchforge.suite.toml.faults import Fault

_PATHS = ("directory", "dataset", "locustfile", "command", "app")
"Options that name files of the user's."
_ELSEWHERE = Path("/elsewhere")


def faults(suite: Suite, scenarios: Mapping[str, Scenario]) -> Iterator[Fault]:
    """Yield what a suite asks for that parts on several hosts do not have, or not yet."""
    labels: dict[str, None] = {}
    yield from reached_faults(suite)
    for label, scenario in scenarios.items():
        parts = [
            (one.table, one.part, next(iter(one.hosts), None)) for one in used(suite, scenario)
        ]
        named = {host for _, _, host in parts}
        if named == {None}:
            continue
        labels |= {host: None for host in named if host is not None}
        yield from _of_scenario(suite, label, scenario)
        for place, part, host in parts:
            yield from _of_part(suite, place, part, host)
        yield from _socket_faults(parts)
        yield from _divided_faults(suite, scenario)
    if labels:
        yield from _of_suite(suite)


def _of_suite(suite: Suite) -> Iterator[Fault]:
    if suite.tuning.sysctl:
        hint = "tune the hosts themselves, or measure on one host"
        yield Fault(("tuning", "sysctl"), "parts on hosts use the hosts' own network", hint)


def _of_scenario(suite: Suite, label: str, scenario: Scenario) -> Iterator[Fault]:
    if turns_of(scenario, suite.repeat) is not None:
        at = (
            ("scenarios", label)
            if scenario.interleave is None
            else ("scenarios", label, "interleave")
        )
        hint = 'set interleave = "off": each server is then measured alone'
        yield Fault(at, "servers on hosts cannot take turns: no clock stops several machines", hint)


def _of_part(suite: Suite, place: str, declared: Declared, host: str | None) -> Iterator[Fault]:
    at, part = (place, declared.label), declared.part
    if host is None:
        role = ROLES[place]
        hint = f'write host = "LABEL" here, or {role} = "LABEL" in [placement.hosts]'
        yield Fault(at, "it has no host, and other parts of its scenario have one", hint)
        return
    if isinstance(part, Service) and part.outside():
        yield Fault(at, "it runs already, so that no host can start it", "leave its host out")
    if isinstance(part, Service) and part.host_names():
        hint = "leave it out, and give the server the address: {backends.LABEL.url}"
        yield Fault((*at, "names"), "host names hold on one machine only", hint)
    yield from _file_faults(suite, place, declared)
    label = (part.runtime if isinstance(part, RunsPython) else None) or ""
    python = suite.runtimes[label].python if label in suite.runtimes else ""
    if "/" in python and not python.startswith("/"):
        hint = 'name a version, such as python = "3.12" with requires, or a path on the host'
        message = "a path from the suite's folder leads to no interpreter on a host"
        yield Fault(("runtimes", label, "python"), message, hint)


def _own(part: Part, suite_folder: Path) -> list[Path]:
    """Return the files and folders that a suite names, also those of a commit."""
    code = part.code(suite_folder) if isinstance(part, ServesCode) else None
    return [*part.reads(suite_folder), *filter(None, [code])]


def _file_faults(suite: Suite, place: str, declared: Declared) -> Iterator[Fault]:
    """Yield why the files of a part cannot be brought to its host."""
    part, folder = declared.part, suite.path.parent
    option = next((one for one in _PATHS if one in declared.options), "use")
    roots = list(part.reads(folder))
    if (own := _own(part, folder)) and own == _own(part, _ELSEWHERE):
        hint = "write a path relative to the suite's folder"
        message = "an absolute path leads to no file of yours on a host"
        yield Fault((place, declared.label, option), message, hint)
        return
    try:
        check(root for root in roots if root.exists())
    except Unusable as error:
        yield Fault((place, declared.label, option), error.message, error.hint)


def _socket_faults(used: Sequence[tuple[str, Declared, str | None]]) -> Iterator[Fault]:
    """Yield each service that another host would have to reach, and cannot."""
    servers = {host for place, _, host in used if place == "servers"}
    for place, declared, host in used:
        others = sorted(other for other in servers - {host} if other is not None)
        behind = place == "backends" or (
            isinstance(declared.part, Server) and declared.part.behind_proxy_only()
        )
        if isinstance(declared.part, Backend) and others and not declared.part.serves_hosts:
            message = f"{declared.part.name} cannot serve other hosts yet: {', '.join(others)}"
            hint = "put it on the host of its servers"
            yield Fault(
                (place, declared.label, *(("host",) if declared.host else ())), message, hint
            )
        elif behind and others and getattr(declared.part, "listen", "") == "unix":
            option = ("listen",) if "listen" in declared.options else ()
            message = f"its unix socket is on {host}, which {', '.join(others)} cannot reach"
            yield Fault((place, declared.label, *option), message, "say listen = 'tcp'")


def _divided_faults(suite: Suite, scenario: Scenario) -> Iterator[Fault]:
    """Yield each load that its hosts cannot share evenly."""
    for place in ("loaders", "clients"):
        for label in getattr(scenario, place):
            declared = getattr(suite, place).get(label)
            hosts = () if declared is None else suite.hosts_of("loader", declared)
            if len(set(hosts)) < len(hosts):
                yield Fault(
                    ("placement", "hosts", "loader"), "a host is named twice", "name it once"
                )
            part = None if declared is None else declared.part
            if len(hosts) > 1 and isinstance(part, Driver) and part.divided(0, len(hosts)) is None:
                message = f"its load cannot be divided evenly among {len(hosts)} hosts"
                hint = "use pace or wrk, with a multiple of that many connections"
                yield Fault((place, label), message, hint)
