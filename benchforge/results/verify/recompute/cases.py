"""The cases again, from the suite's text: names, requests, drivers, commands, streams."""

import sys
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from benchforge.errors import BenchforgeError
from benchforge.model.files.file import Parsed
from benchforge.model.trial.trial import Trial
from benchforge.parts.fault import covering
from benchforge.parts.part import Driver, Part, Server
from benchforge.parts.site import Site, Target
from benchforge.results.recomputed.verified import Recomputed, Values, plain
from benchforge.results.verify.recompute import divided
from benchforge.results.verify.recompute.recomputed import KeptTrial, Result
from benchforge.run.trial.scope import driver_label, services_of
from benchforge.suite.cases.case import Case, as_text
from benchforge.suite.cases.expand import expand
from benchforge.suite.load import of_result
from benchforge.suite.mix.record import FILE, amount
from benchforge.suite.mix.stream import Mix
from benchforge.text.safe import HIDDEN

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
                ports = {key: port if each == stored_port else each for key, each in ports.items()}
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


_Digests = dict[tuple[str, int, int], tuple[str, tuple[int, ...]]]
"Digest and counts of a stream, by scenario, block and number of records."


def cases(result: Result) -> Values:
    """Each case of the header, and the request and the driver of each trial."""
    header = result.header.model
    if header.code_digests is None:
        reason = f"benchforge {header.benchforge} did not write which code and data the parts had"
        yield result.again("cases", cannot=reason)
        return
    try:
        cases_again = expand(of_result(header, result.registry))
        if len(cases_again) != len(header.cases):
            message = f"{len(header.cases)} cases, but the suite has {len(cases_again)}"
            yield result.header.fault(message, "cases")
            return
        by_name: dict[str, Case] = {}
        for number, case in enumerate(cases_again):
            by_name[case.name.model_dump_json()] = case
            if not has_secret(case):
                yield result.again("cases", number, value=plain(case.name))
    except BenchforgeError as error:
        yield result.again("cases", cannot=error.message.splitlines()[0])
        return
    for trial in result.trials:
        measured = by_name.get(trial.model.case.model_dump_json())
        if measured is not None and not has_secret(measured):
            if measured.workload is not None and not measured.workload.whole:
                continue  # its requests are made of a file that the result does not hold
            yield Recomputed(trial, ("request",), plain(measured.request))
            driver = result.driver(KeptTrial(trial, trial.model))
            yield Recomputed(trial, ("driver_digest",), measured._replace(driver=driver).driven)
            yield from words(trial, measured, driver)


def has_secret(case: Case) -> bool:
    """Whether a secret is part of a case: without it nothing of the case can be computed again."""
    texts = [as_text(part) for part in (*case.parts, case.request, case.expect)]
    return any(HIDDEN in text for text in (*texts, case.workload.text if case.workload else ""))


def streams(result: Result) -> Values:
    """The requests of each mix, and how many there were of each kind."""
    mixed = [trial for trial in result.trials if trial.model.stream is not None]
    if not mixed:
        return
    try:
        workloads = of_result(result.header.model, result.registry).workloads
    except BenchforgeError as error:
        yield Recomputed(mixed[0], ("stream",), cannot=error.message.splitlines()[0])
        return
    made: _Digests = {}
    for trial in mixed:
        workload = workloads.get(trial.model.case.scenario)
        if workload is None:
            yield trial.fault("its scenario has no kinds", "stream")
        elif not workload.whole:
            reason = "its requests are made of a file that the result does not hold"
            yield Recomputed(trial, ("stream", "sha256"), cannot=reason)
        else:
            yield from _stream(result, trial, workload, made)


def _stream(result: Result, trial: Parsed[Trial], workload: Mix, made: _Digests) -> Values:
    stream, block = trial.model.stream, trial.model.block
    assert stream is not None  # noqa: S101 - of a mix
    records = amount(result.driver(KeptTrial(trial, trial.model)))
    key = trial.model.case.scenario, block, records
    if key not in made:
        made[key] = workload.digest(result.header.model.seed, block, records)
    sha256, counts = made[key]
    yield Recomputed(trial, ("stream", "records"), records)
    yield Recomputed(trial, ("stream", "sha256"), sha256)
    if list(stream.kinds) != list(workload.shares):
        message = f"the suite has the kinds {', '.join(workload.shares)}"
        yield trial.fault(message, "stream", "kinds")
        return
    for (label, share), count in zip(workload.shares.items(), counts, strict=True):
        path = "stream", "kinds", label
        yield Recomputed(trial, (*path, "share"), share)
        yield Recomputed(trial, (*path, "records"), count)
        yield Recomputed(trial, (*path, "request"), plain(workload.first[label][0]))
