"""What a doctor finds of this machine: programs, interpreters, packages, code and itself."""

import contextlib
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import click

from benchforge.cli.machine.doctor import programs
from benchforge.cli.machine.doctor.finding import MachineFinding, ok, unknown, warn
from benchforge.cli.machine.doctor.machine import machine
from benchforge.errors import BenchforgeError, CannotKeep, ProgramMissing
from benchforge.parts.command import Command, Need
from benchforge.parts.part import Part, RunsPython, Service
from benchforge.run.checkout import with_code
from benchforge.run.disk.leftovers import cache
from benchforge.run.disk.scratch import scratch_folder
from benchforge.run.locate import locate
from benchforge.run.programs.needed import Needed, Users, as_they_say, no_site
from benchforge.run.sandbox.host import LocalHost
from benchforge.run.sandbox.sandbox import Sandbox
from benchforge.suite.secrets import redact
from benchforge.suite.suite import Suite

_COLOURS = {"ok": "green", "warn": "yellow", "missing": "red", "unknown": "cyan"}
_SYSTEM = Path("/")
_NO_LINUX = "this is not Linux: you can check suites here, but not run them"

Report = Mapping[str, Sequence[MachineFinding]]


def report(
    suites: Sequence[Suite], forms: Sequence[Needed], needs: Mapping[Need, Users], folder: Path
) -> Report:
    """Return what is found of this machine: of a suite in each of its forms, or of all parts."""
    with scratch_folder() as scratch, _place(scratch) as sandbox:
        parts = [part for form in forms for part in form.parts.values()]
        versions = (
            versions_of(parts, sandbox, folder, scratch) if isinstance(sandbox, Sandbox) else {}
        )
        pythons = list(_interpreters(sandbox, suites, forms, scratch))
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
        "programs": list(programs.findings(needs, folder, versions)),
        "interpreters": pythons,
        "packages": [*programs.package_findings(needs), *(() if suites else programs.extras())],
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
        yield from programs.all_of_them(sandbox, folder)
    else:
        findings = (
            item
            for suite, form in zip(suites, forms, strict=True)
            for item in programs.of_runtimes(sandbox, suite, form, folder)
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
    """Return the versions of programs, each by the first one that a part needs.

    Of a part whose programs are not all there, or that runs elsewhere, nothing is asked.
    """
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
    """Yield the programs that a part needs, as far as its options tell."""
    with contextlib.suppress(AttributeError):
        yield from (need.name for need in part.needs() if need.kind == "program")
