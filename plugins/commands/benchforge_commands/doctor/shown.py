"""`benchforge doctor`: the programs of this machine, and whether it is fit for benchmarking."""

import contextlib
import dataclasses
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Unpack

import click

from benchforge.cli.loaded import SuiteForm, loaded
from benchforge.cli.screen.say import keep_secret, say, show
from benchforge.errors import BenchforgeError, CannotKeep, ProgramMissing, Unusable
from benchforge.plugin import Need
from benchforge.registry import Registry
from benchforge.run.checkout.checkouts import with_code
from benchforge.run.disk.cache import cache
from benchforge.run.disk.scratch import scratch_folder
from benchforge.run.locate import missing, unpack_into
from benchforge.run.programs.needed import Needed, Users, fetchable, how, needed, together
from benchforge.run.sandbox.host import LocalHost
from benchforge.run.sandbox.sandbox import Sandbox
from benchforge.suite.secrets.redact import redact
from benchforge.suite.suite import Suite
from benchforge.suite.toml.faults import SuiteErrors
from benchforge.text.program import program
from benchforge_commands.check.profiles import load_all
from benchforge_commands.doctor import interpreters, packages, programs
from benchforge_commands.doctor.fetch import fetch
from benchforge_commands.doctor.finding import MachineFinding, ok, unknown, warn
from benchforge_commands.doctor.hosts import look_at_hosts
from benchforge_commands.doctor.installed import installed
from benchforge_commands.doctor.machine.machine import machine
from benchforge_commands.doctor.versions import versions_of

MISSING = 3
_COLOURS = {"ok": "green", "warn": "yellow", "missing": "red", "unknown": "cyan"}
_SYSTEM = Path("/")
_NO_LINUX = "this is not Linux: you can check suites here, but not run them"

Report = Mapping[str, Sequence[MachineFinding]]


def main(
    suite: Path | None, install: bool, hosts: bool, as_json: bool, **form: Unpack[SuiteForm]
) -> int:
    """Check which programs this machine has and whether it is fit for benchmarking."""
    if hosts:
        if suite is None:
            raise Unusable("--hosts: no suite is named", "name the suite that declares the hosts")
        return look_at_hosts(loaded(suite, Registry(), **form))
    suites, forms = _forms(suite, form)
    needs = together(forms)
    folder = Path() if suite is None else suite.parent
    if install:
        return _install(needs, folder, all_of_them=suite is not None)
    report = _report(suites, forms, needs, folder)
    if as_json:
        document = {
            part: [dataclasses.asdict(one) for one in findings] for part, findings in report.items()
        }
        show(json.dumps(document, indent=2))
    else:
        show("\n".join(_lines(report)), painted=True)
        if fetched := fetchable(missing(needs, folder)):
            words = [f"{program()} doctor --install", *([str(suite)] if suite else [])]
            say(f"hint: {' '.join(words)} fetches without root: {', '.join(fetched)}")
    lacks = any(one.state == "missing" for findings in report.values() for one in findings)
    return MISSING if suite is not None and lacks else 0


def _forms(path: Path | None, form: SuiteForm) -> tuple[Sequence[Suite], Sequence[Needed]]:
    """Return the forms of a suite and what each needs. Raises SuiteErrors when one is faulty."""
    registry = Registry()
    if path is None:
        return (), (installed(registry),)
    loaded = load_all(path, registry, **form)
    for suite in loaded.suites:
        keep_secret(suite.secrets)
    if loaded.faults:
        raise SuiteErrors(loaded.faults)
    return loaded.suites, [needed(suite) for suite in loaded.suites]


def _install(needs: Mapping[Need, Users], folder: Path, *, all_of_them: bool) -> int:
    """Fetch what is missing; `all_of_them` says that everything must be there then."""
    absent = missing(needs, folder)
    wanted = sorted({need.debian for need in absent if need.debian})
    complaints: Sequence[str] = ()
    if wanted:
        into = unpack_into()
        say(f"fetching from Debian into {into}: {', '.join(wanted)}")
        fetched = fetch(wanted, into, LocalHost())
        for line in fetched.packages:
            show(line)
        complaints = fetched.complaints
        for line in complaints:
            say(f"error: {line}")
    else:
        show("nothing to fetch: all Debian packages are installed")
    left = missing(absent, folder)
    for need in left:
        if need.debian or all_of_them:
            say(f"error: missing {need.kind}: {need.name}\nhint: {how(need)}")
    lacks = left if all_of_them else [need for need in left if need.debian]
    return MISSING if complaints or lacks else 0


def _report(
    suites: Sequence[Suite], forms: Sequence[Needed], needs: Mapping[Need, Users], folder: Path
) -> Report:
    with scratch_folder() as own, _place(own) as sandbox:
        parts = [part for form in forms for part in form.parts.values()]
        versions = versions_of(parts, sandbox, folder, own) if isinstance(sandbox, Sandbox) else {}
        pythons = list(_interpreters(sandbox, suites, forms, own))
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
        "packages": [*packages.findings(needs), *(() if suites else packages.extras())],
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
            place: Sandbox | str = stack.enter_context(LocalHost().trial(folder))
        except BenchforgeError as error:
            place = f"no trial can be started: {error}"
        yield place


def _interpreters(
    sandbox: Sandbox | str, suites: Sequence[Suite], forms: Sequence[Needed], folder: Path
) -> Iterator[MachineFinding]:
    if isinstance(sandbox, str):
        yield unknown("interpreters", sandbox)
    elif not suites:
        yield from interpreters.all_of_them(sandbox, folder)
    else:
        findings = (
            one
            for suite, form in zip(suites, forms, strict=True)
            for one in interpreters.of_runtimes(sandbox, suite, form, folder)
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


def _lines(report: Report) -> Iterator[str]:
    for title, findings in report.items():
        if not findings:
            continue
        yield click.style(title, bold=True)
        width = max(len(one.subject) for one in findings)
        for finding in findings:
            state = click.style(f"{finding.state:8}", fg=_COLOURS[finding.state])
            do = f"; {finding.do}" if finding.do else ""
            yield f"{state} {finding.subject:{width}}  {finding.says}{do}"
