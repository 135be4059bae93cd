"""Findings of doctor: programs, interpreters, packages, code, the machine itself, and hosts."""

import contextlib
import importlib.metadata
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import click

from benchforge.cli.console.lock import waits
from benchforge.cli.console.say import say, show
from benchforge.cli.machine.doctor.finding import MachineFinding, ok, unknown, warn
from benchforge.cli.machine.doctor.machine import machine
from benchforge.errors import BenchforgeError, CannotKeep, ProgramMissing, Unusable
from benchforge.model.values.distribution import from_clone, own_distribution
from benchforge.parts.command import Command, Need
from benchforge.parts.kinds import Kind
from benchforge.parts.part import Part, RunsPython, Service
from benchforge.parts.registry import Registry
from benchforge.remote.engine import on_hosts
from benchforge.run.checkout import with_code
from benchforge.run.disk.leftovers import cache
from benchforge.run.disk.scratch import scratch_folder
from benchforge.run.locate import locate, missing
from benchforge.run.programs.interpreters import all_interpreters, find
from benchforge.run.programs.needed import Needed, Users, as_they_say, how, no_site, of_runtime
from benchforge.run.programs.runtimes import ask_interpreter
from benchforge.run.sandbox.host import LocalHost
from benchforge.run.sandbox.machine_lock import measuring
from benchforge.run.sandbox.sandbox import Sandbox
from benchforge.run.trial.context import ground
from benchforge.suite.cases.expand import expand
from benchforge.suite.cases.parts import uses_hosts
from benchforge.suite.plan import plan
from benchforge.suite.secrets import redact
from benchforge.suite.suite import Suite
from benchforge.text.readable import amount, counted, figure, listed

_SHOWN = 3
_KINDS: tuple[Kind, ...] = ("server", "backend", "loader", "client")
_EXTRA = re.compile(r"^([\w.-]+).*\bextra == ['\"]([\w-]+)['\"]")


def program_findings(
    needs: Mapping[Need, Users], suite_folder: Path, versions: Mapping[str, str]
) -> Iterator[MachineFinding]:
    """Yield each program; those that come together and are there are one finding."""
    for group in _together(need for need in needs if need.kind == "program"):
        names_by_folder: dict[Path, list[str]] = {}
        for need in group:
            if path := locate(need.name, suite_folder):
                names_by_folder.setdefault(path.parent, []).append(need.name)
            else:
                yield MachineFinding("missing", need.name, f"for {users(needs[need])}", how(need))
        for folder, names in names_by_folder.items():
            others = f", with {', '.join(names[1:])}" if names[1:] else ""
            version = next((versions[name] for name in names if name in versions), "")
            version_text = f": {version}" if version else ""
            yield ok(Path(names[0]).name, f"{folder / Path(names[0]).name}{version_text}{others}")


def _together(needs: Iterable[Need]) -> Iterable[list[Need]]:
    groups: dict[str, list[Need]] = {}
    for need in needs:
        groups.setdefault(need.debian or need.name, []).append(need)
    return groups.values()


def users(places: Users) -> str:
    """Return who needs something, for a person."""
    entries = [f"{path} ({', '.join(names)})" if names else path for path, names in places.items()]
    return listed(entries, _SHOWN)


def of_runtimes(
    sandbox: Sandbox, suite: Suite, form: Needed, folder: Path
) -> Iterator[MachineFinding]:
    """Yield each runtime that a suite's cases need."""
    for label, modules in form.modules.items():
        name, runtime = f"runtimes.{label}", suite.runtimes[label]
        scratch = Path(tempfile.mkdtemp(dir=folder))  # interpreters append to their files
        try:
            python = find(sandbox, runtime.python, label, suite.path.parent, scratch)
        except ProgramMissing as error:
            if runtime.download and "/" not in runtime.python:
                yield warn(name, f"{runtime.python!r} is missing; a run downloads it")
            else:
                says = error.message.removeprefix(f"runtime {label}: ")
                yield MachineFinding("missing", name, says, error.hint)
            continue
        if runtime.requires:
            built = "an environment is built from it once"
            yield ok(name, f"{python} ({python.path}); {built}: {', '.join(runtime.requires)}")
            continue
        lacks = ask_interpreter(sandbox, label, python.path, modules, scratch)["lacks"]
        if lacks:
            says = f"{python} ({python.path}) lacks {', '.join(lacks)}"
            cure = of_runtime(label, runtime, python.path, lacks)
            yield MachineFinding("missing", name, says, cure)
        else:
            yield ok(name, f"{python} ({python.path}), with {', '.join(modules) or 'no package'}")


def installed(registry: Registry) -> Needed:
    """Return the needs of all installed parts, with defaults and with each flag set.

    Only a suite shows what depends on an option without a default. A plugin that cannot be imported
    is left out: it breaks only the suites that name it.
    """
    form = Needed()
    for kind in _KINDS:
        for name in registry.names(kind):
            try:
                cls = registry.part(kind, name)
            except BenchforgeError:
                continue
            form.parts[kind, name, ""] = cls.model_construct()
            for need in _needs(cls):
                form.needs.setdefault(need, {})[f"{kind} {name}"] = {}
    return form


def _needs(cls: type[Part]) -> Iterator[Need]:
    flags = [name for name, field in cls.model_fields.items() if field.annotation is bool]
    for options in ({}, *({flag: True} for flag in flags)):
        try:
            yield from cls.model_construct(None, **options).needs()
        except AttributeError:  # of an option that only a suite gives
            continue


def package_findings(needs: Mapping[Need, Users]) -> Iterator[MachineFinding]:
    """Yield each needed module, with the version of its distribution."""
    modules = [need for need in needs if need.kind == "module"]
    absent = set(missing(modules))
    distributions = importlib.metadata.packages_distributions() if modules else {}
    for name in dict.fromkeys(need.name for need in modules):
        of_name = [need for need in modules if need.name == name]
        if of_name[0] in absent:
            places = {path: index for need in of_name for path, index in needs[need].items()}
            yield MachineFinding("missing", name, f"for {users(places)}", how(of_name[0]))
        else:
            brought_by = dict.fromkeys(distributions.get(name.partition(".")[0], ()))
            versions = [f"{dist} {importlib.metadata.version(dist)}" for dist in brought_by]
            yield ok(name, ", ".join(versions) or "of no distribution")


def extras() -> Iterator[MachineFinding]:
    """Yield each extra of benchforge, and whether its distributions are installed."""
    by_extra: dict[str, list[str]] = {}
    for requirement in own_distribution().requires or ():
        if (match := _EXTRA.match(requirement)) and match[2] != "all":
            by_extra.setdefault(match[2], []).append(match[1])
    for extra, names in by_extra.items():
        absent = [name for name in names if not any(importlib.metadata.distributions(name=name))]
        subject = f"extra {extra}"
        if absent:
            message = f"{', '.join(absent)}, of {len(names)}"
            yield MachineFinding("missing", subject, message, from_clone(extra))
        else:
            yield ok(subject, f"all of its {len(names)}")


_COLOURS = {"ok": "green", "warn": "yellow", "missing": "red", "unknown": "cyan"}
_SYSTEM = Path("/")
_NO_LINUX = "this is not Linux: you can check suites here, but not run them"

Report = Mapping[str, Sequence[MachineFinding]]


def report(
    suites: Sequence[Suite], forms: Sequence[Needed], needs: Mapping[Need, Users], folder: Path
) -> Report:
    """Return the findings for a suite in each of its forms, or for all installed parts."""
    with scratch_folder() as temp, _place(temp) as sandbox:
        parts = [part for form in forms for part in form.parts.values()]
        versions = versions_of(parts, sandbox, folder, temp) if isinstance(sandbox, Sandbox) else {}
        pythons = list(_interpreters(sandbox, suites, forms, temp))
        mode = sandbox.mode if isinstance(sandbox, Sandbox) else sandbox
    writes = {"results": Path("results").absolute()}
    refused: list[MachineFinding] = []
    try:
        writes["cache"] = cache("templates")
        if writes["cache"].name != "templates":  # that of this process alone
            says = "benchforge cannot write it: each command builds runtimes and templates anew"
            refused = [warn("cache", says, "set XDG_CACHE_HOME to a folder that you can write")]
    except CannotKeep as error:
        refused = [warn("cache", error.message, error.hint)]
    writes["trials"] = Path(tempfile.gettempdir())
    return {
        "programs": list(program_findings(needs, folder, versions)),
        "interpreters": pythons,
        "packages": [*package_findings(needs), *(() if suites else extras())],
        "code": list(dict.fromkeys(_code(suites))),
        "machine": [*machine(_SYSTEM, mode, writes), *refused],
    }


@contextlib.contextmanager
def _place(folder: Path) -> Iterator[Sandbox | str]:
    """Give a place as a trial has one, or why there is none."""
    if not sys.platform.startswith("linux"):
        yield _NO_LINUX
        return
    with contextlib.ExitStack() as stack:
        try:
            sandbox: Sandbox | str = stack.enter_context(LocalHost().trial(folder))
        except BenchforgeError as error:
            sandbox = f"no trial can be started: {error}"
        yield sandbox


def _interpreters(
    sandbox: Sandbox | str, suites: Sequence[Suite], forms: Sequence[Needed], folder: Path
) -> Iterator[MachineFinding]:
    if isinstance(sandbox, str):
        yield unknown("interpreters", sandbox)
    elif not suites:
        for interpreter in dict.fromkeys(all_interpreters(sandbox, folder)):
            yield ok(str(interpreter), str(interpreter.path))
    else:
        findings = (
            item
            for suite, form in zip(suites, forms, strict=True)
            for item in of_runtimes(sandbox, suite, form, folder)
        )
        yield from dict.fromkeys(findings)


def _code(suites: Sequence[Suite]) -> Iterator[MachineFinding]:
    """Yield which commit each server's code is of. Raises SuiteErrors where a ref leads nowhere."""
    for suite in suites if sys.platform.startswith("linux") else ():
        try:
            codes = with_code(suite, LocalHost()).code
        except ProgramMissing:  # git, which stands among the programs
            continue
        for code in codes:
            determined = code.commit is not None and code.changed_files is not None
            state = ok if determined else unknown
            yield state(f"servers.{code.server}", redact(code.in_words, suite.secrets))


def lines(findings_by_title: Report) -> Iterator[str]:
    """Yield the findings for a terminal, in colours."""
    for title, findings in findings_by_title.items():
        if not findings:
            continue
        yield click.style(title, bold=True)
        width = max(len(finding.subject) for finding in findings)
        for finding in findings:
            state = click.style(f"{finding.state:8}", fg=_COLOURS[finding.state])
            do = f"; {finding.do}" if finding.do else ""
            yield f"{state} {finding.subject:{width}}  {finding.says}{do}"


def versions_of(
    parts: Iterable[Part], sandbox: Sandbox, suite_folder: Path, folder: Path
) -> dict[str, str]:
    """Return the versions of the programs that are there, by the first that a part needs."""
    commands: dict[str, Command] = {}
    for part in parts:
        if isinstance(part, RunsPython):  # its version is a package's
            continue
        try:
            if isinstance(part, Service) and part.outside():
                continue
            names = list(_programs(part))
            programs = {name: path for name in names if (path := locate(name, suite_folder))}
            if names and len(programs) == len(set(names)):
                python = Path(sys.executable)
                command = part.version(no_site(folder, python, programs, suite_folder))
                if command is not None:
                    commands.setdefault(names[0], command)
        except AttributeError:  # of an option that only a suite gives
            continue
    # A program may be named by its path: what it prints goes to a file of another name.
    numbered = {f"version-{number}": command for number, command in enumerate(commands.values())}
    answers = as_they_say(numbered, sandbox, folder)
    return dict(zip(commands, answers.values(), strict=True))


def _programs(part: Part) -> Iterator[str]:
    with contextlib.suppress(AttributeError):
        yield from (need.name for need in part.needs() if need.kind == "program")


def look_at_hosts(suite: Suite) -> int:
    """Connect all hosts, and print them and their links. Raises Unusable where a host lacks."""
    if not uses_hosts(suite):
        raise Unusable("--hosts: no part of the suite has a host", "see [hosts.LABEL] and host")
    suite = with_code(suite, LocalHost())
    graph = plan(expand(suite), suite.repeat, 0)
    with measuring(waits), on_hosts(suite, graph, ground(suite, ()), say) as context:
        for label, host in context.hosts.items():
            memory = host.facts.get("memory_kb")
            size = f", {figure(memory / (1 << 20))} GiB" if isinstance(memory, int) else ""
            facts = f"{host.facts.get('cpus_usable')} CPUs{size}, {host.facts.get('system')}"
            show(f"ok  {label}: {facts}, Python {host.facts.get('python')}: its parts lack nothing")
            for other, link in host.links.items():
                rate = figure(link.bytes_per_s * 8 / 1e6)
                trip = amount("s", link.round_trip_s)
                show(f"ok  {label} to {other}: {rate} Mbit/s, round trip {trip}")
        for label, runtime in context.runtimes.items():
            interpreter = f"{runtime.facts.implementation} {runtime.facts.version}"
            packages = counted(len(runtime.facts.packages), "package")
            show(f"ok  runtime {label}: {interpreter}, {packages}, the same on all of its hosts")
    return 0
