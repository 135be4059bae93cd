"""`benchforge doctor`: what there is on this machine, and how fit it is to measure."""

import contextlib
import dataclasses
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click

from benchforge.cli.options import pairs
from benchforge.cli.say import say, show
from benchforge.errors import BenchforgeError, ProgramMissing
from benchforge.parts.command import Need
from benchforge.registry import Registry
from benchforge.run.cache import cache
from benchforge.run.code import with_code
from benchforge.run.fetch import fetch
from benchforge.run.finding import Finding, ok, unknown
from benchforge.run.here import Here
from benchforge.run.host import LocalHost
from benchforge.run.installed import installed
from benchforge.run.locate import missing, unpack_into
from benchforge.run.needed import Needed, Users, fetchable, how, needed, together
from benchforge.run.readiness import interpreters, packages, programs
from benchforge.run.readiness.machine import machine
from benchforge.run.scratch import scratch_folder
from benchforge.run.versions import versions_of
from benchforge.suite.faults import SuiteErrors
from benchforge.suite.profiles import load_all
from benchforge.suite.redact import redact
from benchforge.suite.suite import Suite

MISSING = 3
_COLOURS = {"ok": "green", "warn": "yellow", "missing": "red", "unknown": "cyan"}
_SYSTEM = Path("/")
_NO_LINUX = "this is not Linux: suites can be checked here, and not run"

Report = Mapping[str, Sequence[Finding]]


@click.command("doctor")
@click.argument("suite", required=False, type=click.Path(path_type=Path))
@click.option("--install", is_flag=True, help="Fetch what Debian has, without root.")
@click.option("--profile", metavar="NAME", help="With [profiles.NAME] only, not with each.")
@click.option("--set", "settings", metavar="PATH=VALUE", multiple=True, help="Change an option.")
@click.option("--only", metavar="SCENARIO", multiple=True, help="For these scenarios only.")
@click.option("--json", "as_json", is_flag=True, help="Print the same as JSON.")
def command(
    suite: Path | None,
    install: bool,
    profile: str | None,
    settings: tuple[str, ...],
    only: tuple[str, ...],
    as_json: bool,
) -> int:
    """Say what there is on this machine, and how fit it is to measure; of SUITE, what it needs.

    Without SUITE it is every program that an installed part needs. What is no more than a warning
    never changes the exit code.

    Exit codes: 0; 2 SUITE or the command line cannot be used; 3 something that SUITE needs is
    missing, or --install cannot fetch it.
    """
    suites, forms = _forms(suite, profile, pairs(settings), only)
    needs = together(forms)
    folder = Path() if suite is None else suite.parent
    if install:
        return _install(needs, folder, all_of_them=suite is not None)
    report = _report(suites, forms, needs, folder)
    if as_json:
        told = {part: [dataclasses.asdict(one) for one in found] for part, found in report.items()}
        show(json.dumps(told, indent=2))
    else:
        show("\n".join(_lines(report)))
        if fetched := fetchable(missing(needs, folder)):
            words = ["benchforge doctor --install", *([str(suite)] if suite else [])]
            say(f"hint: {' '.join(words)} fetches without root: {', '.join(fetched)}")
    lacks = any(one.state == "missing" for found in report.values() for one in found)
    return MISSING if suite is not None and lacks else 0


def _forms(
    path: Path | None,
    profile: str | None,
    settings: Sequence[tuple[str, str]],
    only: Sequence[str],
) -> tuple[Sequence[Suite], Sequence[Needed]]:
    """Return the forms of a suite and what each needs. Raises SuiteErrors when one is faulty."""
    registry = Registry()
    if path is None:
        return (), (installed(registry),)
    loaded = load_all(path, registry, profile=profile, settings=settings, only=only)
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
        show("nothing to fetch: what Debian has is here")
    left = missing(absent, folder)
    for need in left:
        if need.debian or all_of_them:
            say(f"error: missing {need.kind}: {need.name}\nhint: {how(need)}")
    lacks = left if all_of_them else [need for need in left if need.debian]
    return MISSING if complaints or lacks else 0


def _report(
    suites: Sequence[Suite], forms: Sequence[Needed], needs: Mapping[Need, Users], folder: Path
) -> Report:
    with scratch_folder() as own, _place(own) as here:
        parts = [part for form in forms for part in form.parts.values()]
        versions = versions_of(parts, here, folder, own) if isinstance(here, Here) else {}
        pythons = list(_interpreters(here, suites, forms, own))
        mode = here.mode if isinstance(here, Here) else here
    writes = {"results": Path("results").absolute(), "cache": cache("templates")}
    writes["trials"] = Path(tempfile.gettempdir())
    return {
        "programs": list(programs.findings(needs, folder, versions)),
        "interpreters": pythons,
        "packages": [*packages.findings(needs), *(() if suites else packages.extras())],
        "code": list(dict.fromkeys(_code(suites))),
        "machine": list(machine(_SYSTEM, mode, writes)),
    }


@contextlib.contextmanager
def _place(folder: Path) -> Iterator[Here | str]:
    """Give a place as a trial has one, or why there is none."""
    if not sys.platform.startswith("linux"):
        yield _NO_LINUX
        return
    with contextlib.ExitStack() as stack:
        try:
            place: Here | str = stack.enter_context(LocalHost().trial(folder))
        except BenchforgeError as error:
            place = f"no trial can be started: {error}"
        yield place


def _interpreters(
    here: Here | str, suites: Sequence[Suite], forms: Sequence[Needed], folder: Path
) -> Iterator[Finding]:
    if isinstance(here, str):
        yield unknown("interpreters", here)
    elif not suites:
        yield from interpreters.all_of_them(here, folder)
    else:
        found = (
            one
            for suite, form in zip(suites, forms, strict=True)
            for one in interpreters.of_runtimes(here, suite, form, folder)
        )
        yield from dict.fromkeys(found)


def _code(suites: Sequence[Suite]) -> Iterator[Finding]:
    """Yield which commit each server's code is of. Raises SuiteErrors where a ref leads nowhere."""
    for suite in suites if sys.platform.startswith("linux") else ():
        try:
            told = with_code(suite, LocalHost()).code
        except ProgramMissing:  # git, which stands among the programs
            continue
        for one in told:
            known = one.commit is not None and one.changed is not None
            state = ok if known else unknown
            yield state(f"servers.{one.server}", redact(one.told, suite.secrets))


def _lines(report: Report) -> Iterator[str]:
    for title, found in report.items():
        if not found:
            continue
        yield click.style(title, bold=True)
        width = max(len(one.subject) for one in found)
        for one in found:
            state = click.style(f"{one.state:8}", fg=_COLOURS[one.state])
            do = f"; {one.do}" if one.do else ""
            yield f"{state} {one.subject:{width}}  {one.says}{do}"
