"""What parts on several hosts cannot do, or cannot yet, each with its place in the suite.

Nothing is measured otherwise than the suite says.
"""

from collections.abc import Iterator, Mapping, Sequence

from benchforge.model.trial.observation import Role
from benchforge.parts.part import Backend, Driver, RunsPython, Server, ServesCode, Service
from benchforge.suite.scenarios.turns import turns_of
from benchforge.suite.scenarios.upstreams import reached
from benchforge.suite.suite import Declared, Scenario, Suite
from benchforge.suite.toml.faults import Fault
from benchforge_engines.reached import faults as reached_faults

_ROLES: Mapping[str, Sequence[Role]] = {
    "servers": ("server", "upstream"),
    "backends": ("backend",),
    "loaders": ("loader",),
    "clients": ("loader",),
}


def faults(suite: Suite, scenarios: Mapping[str, Scenario]) -> Iterator[Fault]:
    """Yield what a suite asks for that parts on several hosts do not have, or not yet."""
    labels: dict[str, None] = {}
    yield from reached_faults(suite)
    for label, scenario in scenarios.items():
        used = list(_used(suite, scenario))
        named = {host for _, _, host in used}
        if named == {None}:
            continue
        labels |= {host: None for host in named if host is not None}
        yield from _of_scenario(suite, label, scenario)
        for place, part, host in used:
            yield from _of_part(suite, place, part, host)
        yield from _socket_faults(used)
        yield from _divided_faults(suite, scenario)
    if labels:
        yield from _of_suite(suite)


def _used(suite: Suite, scenario: Scenario) -> Iterator[tuple[str, Declared, str | None]]:
    """Yield table, part and host of all that a scenario starts."""
    for place, roles in _ROLES.items():
        for label in getattr(scenario, place):
            if (part := getattr(suite, place).get(label)) is not None:
                hosts = suite.hosts_of(roles[0], part)
                yield place, part, next(iter(hosts), None)
    for label in reached(scenario, suite.servers).labels:
        hosts = suite.hosts_of("upstream", suite.servers[label])
        yield "servers", suite.servers[label], next(iter(hosts), None)


def _of_suite(suite: Suite) -> Iterator[Fault]:
    if suite.tuning.sysctl:
        hint = "tune the hosts themselves, or measure on one host"
        yield Fault(("tuning", "sysctl"), "parts on hosts use the hosts' own network", hint)
    if suite.placement != "off":
        hint = "name hosts only: [placement.hosts]"
        yield Fault(("placement",), "CPUs of parts on hosts cannot be set yet", hint)
    if suite.secrets:
        hint = "leave secrets and {env.NAME} out, or measure on one host"
        yield Fault(("hosts",), "a suite with secrets cannot use hosts yet", hint)


def _of_scenario(suite: Suite, label: str, scenario: Scenario) -> Iterator[Fault]:
    if turns_of(scenario, suite.repeat) is not None:
        at = (
            ("scenarios", label)
            if scenario.interleave is None
            else ("scenarios", label, "interleave")
        )
        hint = 'set interleave = "off": each server is then measured alone'
        yield Fault(at, "servers on hosts cannot take turns: no clock stops several machines", hint)
    if scenario.kinds:
        hint = "measure a mix on one host, or give the scenario one request"
        yield Fault(("scenarios", label, "kinds"), "hosts cannot send a mix of requests yet", hint)
    if scenario.find is not None:
        hint = "search on one host, or give the load tool a fixed rate"
        yield Fault(("scenarios", label, "find"), "hosts cannot search for a rate yet", hint)


def _of_part(suite: Suite, place: str, declared: Declared, host: str | None) -> Iterator[Fault]:
    at, part = (place, declared.label), declared.part
    if host is None:
        role = _ROLES[place][0]
        hint = f'write host = "LABEL" here, or {role} = "LABEL" in [placement.hosts]'
        yield Fault(at, "it has no host, and other parts of its scenario have one", hint)
        return
    if isinstance(part, Service) and part.outside():
        yield Fault(at, "it runs already, so that no host can start it", "leave its host out")
    if isinstance(part, Service) and part.host_names():
        hint = "leave it out, and give the server the address: {backends.LABEL.url}"
        yield Fault((*at, "names"), "host names hold on one machine only", hint)
    if isinstance(part, ServesCode) and part.ref is not None:
        yield Fault((*at, "ref"), "a host cannot serve a commit yet", "leave it out")
    elif isinstance(part, ServesCode) and part.code(suite.path.parent) is not None:
        option = "directory" if part.directory is not None else "app"
        hint = "use a built-in app or a program of the host"
        yield Fault((*at, option), "benchforge does not bring your code to a host yet", hint)
    if isinstance(part, RunsPython) and part.runtime is not None:
        hint = "leave it out: the part uses the Python that benchforge brings"
        yield Fault((*at, "runtime"), "a host cannot build a runtime yet", hint)
    if getattr(part, "tls", False):
        hint = "measure TLS on one host"
        yield Fault((*at, "tls"), "parts on hosts cannot speak TLS yet", hint)


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
