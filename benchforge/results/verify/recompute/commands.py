"""The commands again, from the parts: each word that does not depend on where a trial ran."""

import sys
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from benchforge.model.files.file import Parsed
from benchforge.model.trial.trial import Trial
from benchforge.parts.fault import covering
from benchforge.parts.part import Driver, Part, Server, Service
from benchforge.parts.site import Site, Target
from benchforge.results.recomputed.verified import Recomputed, Values
from benchforge.results.verify.recompute import divided
from benchforge.suite.cases.case import Case
from benchforge.suite.mix.record import FILE

_Argv = dict[str, tuple[str, ...]]


def words(trial: Parsed[Trial], case: Case, driver: Driver) -> Values:
    """Yield the words of commands that are the same wherever a trial runs."""
    try:
        first, second = (_commands(trial.model, case, driver, host) for host in (1, 2))
    except Exception:  # noqa: BLE001 - a plugin's code, without what it had in the trial
        return
    packages = {_package(part) for part in case.parts}
    for number, process in enumerate(trial.model.processes):
        argv, other = first.get(process.label, ()), second.get(process.label, ())
        if not argv or len(argv) != len(other):
            continue
        if len(argv) != len(process.argv):
            message = f"{len(process.argv)} words, but the suite's have {len(argv)}"
            yield trial.fault(message, "processes", number, "argv")
            continue
        for index, (word, again) in enumerate(zip(argv, other, strict=True)):
            if word == again and not any(package in word for package in packages):
                yield Recomputed(trial, ("processes", number, "argv", index), word)


def _package(part: Part) -> str:
    """Return where the part's package is installed: another machine has it elsewhere."""
    return str(Path(sys.modules[type(part).__module__.partition(".")[0]].__file__ or "-").parent)


def _commands(trial: Trial, case: Case, driver: Driver, host_number: int) -> _Argv:
    """Return the words of all that a trial starts, by the label of its process, in some place."""
    argv: _Argv = {}
    certificate: Path | None = None
    gives: dict[str, dict[str, dict[str, str]]] = {"backend": {}, "upstream": {}}
    services: list[tuple[str, str, Service]] = [
        *(("backend", label, part) for label, part in case.backends),
        *(("upstream", label, part) for label, part in case.upstreams),
        ("server", case.name.server, case.server),
    ]
    for number, (role, label, part) in enumerate(services):
        ports = {name: 100 * host_number + 10 * number + nth for nth, name in enumerate(part.ports)}
        address = _address(trial, f"{role}-{label}")
        peers = tuple(host.address for host in trial.hosts.values())
        site = replace(_site(label, part, host_number, ports, gives), address=address, peers=peers)
        if role == "server" and isinstance(part, Server):
            stored_port, port = urlsplit(part.url(site)).port, urlsplit(trial.url).port
            its = {
                name: port or own_port if own_port == stored_port else own_port
                for name, own_port in ports.items()
            }
            site = replace(site, ports=its)
            certificate = part.certificate(site)
        if (command := part.command(site)) is not None:
            argv[f"{role}-{label}"] = command.argv
        gives.setdefault(role, {})[label] = dict(part.gives(site))
    target = Target(
        url=trial.url,
        request=case.request.framed,
        folder=Path(f"/{host_number}/folder"),
        programs=_programs(driver, host_number),
        python=Path(f"/{host_number}/python"),
        ca_file=certificate,
        suite_folder=Path(f"/{host_number}/suite"),
        turns=None if case.turns is None else Path(f"/{host_number}/turns"),
        stream=None if case.workload is None else Path(f"/{host_number}/{FILE}"),
        kinds=() if case.workload is None else tuple(case.workload.shares),
    )
    label = f"{driver.kind}-{case.name.driver}"
    loading = driver if case.turns is None else covering(driver)
    tools = divided.shares(trial, loading).values() or [(label, loading)]
    for name, share in tools:
        for number, command in enumerate(share.commands(target)):
            argv[f"{name}-{number}" if number else name] = command.argv
    return argv


def _address(trial: Trial, name: str) -> str:
    """Return where a service listened: at its host's address, if it had one."""
    hosts = (host.address for host in trial.hosts.values() if name in host.parts)
    return next(hosts, "127.0.0.1")


def _site(
    label: str,
    part: Service,
    host: int,
    ports: dict[str, int],
    gives: dict[str, dict[str, dict[str, str]]],
) -> Site:
    return Site(
        label=label,
        folder=Path(f"/{host}/folder"),
        scratch=Path(f"/{host}/scratch"),
        address="127.0.0.1",
        ports=ports,
        python=Path(f"/{host}/python"),
        programs=_programs(part, host),
        backends=gives["backend"],
        suite_folder=Path(f"/{host}/suite"),
        as_root=host == 1,
        upstreams=gives["upstream"],
    )


def _programs(part: Part, host: int) -> dict[str, Path]:
    return {need.name: Path(f"/{host}/{need.name}") for need in part.needs()}
