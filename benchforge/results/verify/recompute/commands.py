"""The commands again, from the parts: each word that does not depend on where a trial ran."""

import sys
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from benchforge.model.files.file import Parsed
from benchforge.model.trial.trial import Trial
from benchforge.parts.fault import covering
from benchforge.parts.part import Driver, Part, Server
from benchforge.parts.site import Site, Target
from benchforge.results.recomputed.verified import Recomputed, Values
from benchforge.results.verify.recompute import divided
from benchforge.run.trial.scope import driver_label, services_of
from benchforge.suite.cases.case import Case
from benchforge.suite.mix.record import FILE

_Argv = dict[str, tuple[str, ...]]


def words(trial: Parsed[Trial], case: Case, driver: Driver) -> Values:
    """Yield the words of commands that are the same wherever a trial runs."""
    try:
        first, second = (_commands(trial.model, case, driver, host) for host in (1, 2))
    except Exception:  # noqa: BLE001 - a plugin's code, without what it had in the trial
        return
    # Another machine has the packages of parts elsewhere.
    modules = (sys.modules[type(part).__module__.partition(".")[0]] for part in case.parts)
    packages = {str(Path(module.__file__ or "-").parent) for module in modules}
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


def _commands(trial: Trial, case: Case, driver: Driver, host_number: int) -> _Argv:
    """Return the words of all that a trial starts, by the label of its process, in some place."""
    argv: _Argv = {}
    certificate: Path | None = None
    root = Path(f"/{host_number}")
    folder, python, suite_folder = root / "folder", root / "python", root / "suite"
    gives: dict[str, dict[str, dict[str, str]]] = {"backend": {}, "upstream": {}}
    addresses = {name: host.address for host in trial.hosts.values() for name in host.parts}
    for number, (role, label, part) in enumerate(services_of(case)):
        ports = {name: 100 * host_number + 10 * number + nth for nth, name in enumerate(part.ports)}
        site = Site(
            label=label,
            folder=folder,
            scratch=root / "scratch",
            address=addresses.get(f"{role}-{label}", "127.0.0.1"),
            peers=tuple(host.address for host in trial.hosts.values()),
            ports=ports,
            python=python,
            programs=_programs(part, root),
            backends=gives["backend"],
            suite_folder=suite_folder,
            as_root=host_number == 1,
            upstreams=gives["upstream"],
        )
        if role == "server" and isinstance(part, Server):
            stored_port, port = urlsplit(part.url(site)).port, urlsplit(trial.url).port
            if port:
                ports = {k: port if each == stored_port else each for k, each in ports.items()}
                site = replace(site, ports=ports)
            certificate = part.certificate(site)
        if (command := part.command(site)) is not None:
            argv[f"{role}-{label}"] = command.argv
        gives.setdefault(role, {})[label] = dict(part.gives(site))
    target = Target(
        url=trial.url,
        request=case.request.framed,
        folder=folder,
        programs=_programs(driver, root),
        python=python,
        ca_file=certificate,
        suite_folder=suite_folder,
        turns=None if case.turns is None else root / "turns",
        stream=None if case.workload is None else root / FILE,
        kinds=() if case.workload is None else tuple(case.workload.shares),
    )
    label = driver_label(case)
    loading = driver if case.turns is None else covering(driver)
    tools = divided.shares(trial, loading).values() or [(label, loading)]
    for name, share in tools:
        for number, command in enumerate(share.commands(target)):
            argv[f"{name}-{number}" if number else name] = command.argv
    return argv


def _programs(part: Part, root: Path) -> dict[str, Path]:
    return {need.name: root / need.name for need in part.needs()}
