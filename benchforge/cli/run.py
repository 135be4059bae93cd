"""`benchforge run`: from a suite to a result, its report and an exit code."""

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import click
from pydantic_core import PydanticCustomError

from benchforge.cli.announce import announce
from benchforge.cli.loosened import loosened
from benchforge.cli.options import pairs
from benchforge.cli.outcome import Shown
from benchforge.cli.say import counted, say, warn
from benchforge.cli.sitting import sitting, told
from benchforge.errors import Unusable
from benchforge.graph import RunGraph, plan
from benchforge.model.folder import HEADER
from benchforge.model.result import Header
from benchforge.model.units import Duration
from benchforge.registry import Registry
from benchforge.run.code import checked_out, with_code
from benchforge.run.execute import Limits
from benchforge.run.ground import Ground, ground, with_runtimes
from benchforge.run.header import header_of, locks_of, with_facts
from benchforge.run.host import LocalHost
from benchforge.run.keep import Keep
from benchforge.run.leftovers import cleared
from benchforge.run.lock import measuring
from benchforge.run.placement import machine, places
from benchforge.run.reports import reporter
from benchforge.run.resume import Begun, begun
from benchforge.run.space import enough_for_scratch, scarce
from benchforge.stats.precision import precise
from benchforge.stats.whole import done, missing
from benchforge.suite.expand import expand
from benchforge.suite.load import load
from benchforge.suite.parts import distinct_parts
from benchforge.suite.suite import Suite


@click.command("run")
@click.argument("suite", type=click.Path(path_type=Path), required=False)
@click.option("--profile", metavar="NAME", help="Apply [profiles.NAME] of the suite.")
@click.option("--set", "settings", metavar="PATH=VALUE", multiple=True, help="Change an option.")
@click.option("--only", metavar="SCENARIO", multiple=True, help="Run these scenarios only.")
@click.option(
    *("-o", "--output"),
    type=click.Path(path_type=Path),
    help="Keep the result in a new folder below it; else below results.",
)
@click.option(
    "--resume",
    metavar="RESULT",
    type=click.Path(path_type=Path),
    help="Measure what is missing in this folder; SUITE is needed only where it was moved.",
)
@click.option(
    "--anyway",
    is_flag=True,
    help="Resume although machine, benchforge or programs are others; the report says which.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON, and no table.")
@click.option(
    *("--report", "reports"),
    metavar="NAME",
    multiple=True,
    help="Also write what this reporter makes, such as junit or github.",
)
@click.option("--fail-fast", is_flag=True, help="Stop at the first trial that fails.")
@click.option(
    "--inconclusive-fails",
    is_flag=True,
    help="End with 1 also where a claim has no answer yet.",
)
@click.option("--time-limit", metavar="DURATION", help="Start nothing that would end later.")
def command(
    suite: Path | None,
    profile: str | None,
    settings: tuple[str, ...],
    only: tuple[str, ...],
    output: Path | None,
    resume: Path | None,
    anyway: bool,
    as_json: bool,
    reports: tuple[str, ...],
    fail_fast: bool,
    inconclusive_fails: bool,
    time_limit: str | None,
) -> int:
    """Measure SUITE on real processes, and report.

    Exit codes: 0 everything asked has an answer, and every claim holds or is inconclusive; 1 a
    claim fails; 2 the suite or the command line cannot be used; 3 a program is missing; 4 something
    has no believable answer, a claim is invalid; 5 results cannot be written; 130 and 143
    interrupted.
    """
    limits = Limits(fail_fast, _seconds(time_limit))
    shown = Shown(as_json, inconclusive_fails, reports)
    registry = Registry()
    registry.listen(warn)
    for name in reports:
        reporter(registry, name)  # one that is not known is told before anything starts
    given = Given(profile, pairs(settings), only)
    if resume is None:
        if suite is None:
            raise Unusable("run: no suite is named", "name a suite, or --resume a result")
        if anyway:
            raise Unusable("--anyway: nothing is resumed", "it belongs to --resume")
        return begin(suite, given, output or Path("results"), limits, registry, shown=shown)
    if output is not None:
        raise Unusable(f"-o {output}: --resume goes on in the result's own folder", "leave it out")
    with measuring(), Keep(resume).held():
        return _resume(resume, suite, given, limits, registry, anyway=anyway, shown=shown)


@dataclass(frozen=True)
class Given:
    """What of a suite is asked for."""

    profile: str | None
    settings: Sequence[tuple[str, str]]
    only: Sequence[str]


def begin(
    path: Path,
    given: Given,
    output: Path,
    limits: Limits,
    registry: Registry,
    *,
    shown: Shown,
    kept: Callable[[Path], None] = lambda _: None,
) -> int:
    """Measure a suite and report; `kept` hears the folder of the result. Return the exit code."""
    asked = load(path, registry, profile=given.profile, settings=given.settings, only=given.only)
    seed = asked.repeat.seed if asked.repeat.seed is not None else secrets.randbits(32)
    stands_on = _ground(asked)
    asked = with_code(asked, stands_on.host)
    graph = plan(expand(asked), asked.repeat, seed)
    registry.consult("benchforge_planned", graph=graph)
    with measuring():
        if left := cleared(output):
            say(left)
        if short := scarce(output, len(graph)):
            warn(short)
        # Building loads the machine: not while another benchforge measures.
        stands_on = with_runtimes(stands_on, asked, distinct_parts(asked), say)
        header = _header(asked, graph, stands_on, registry)
        locks = {f"runtimes/{label}.txt": lock for label, lock in locks_of(stands_on).items()}
        # From its first moment it is a result that lacks nothing, and can be resumed.
        keep = Keep.new(output, asked.name, datetime.now(UTC), {**locks, HEADER: header})
        with keep.held():
            kept(keep.folder)
            announce(asked, graph, stands_on, keep, limits)
            begun = Begun(keep.folder, header, (), ())
            with checked_out(asked, stands_on, say) as stands_on:
                return sitting(begun, asked, graph, stands_on, limits, registry, shown=shown)


def _resume(
    folder: Path,
    path: Path | None,
    given: Given,
    limits: Limits,
    registry: Registry,
    *,
    anyway: bool,
    shown: Shown,
) -> int:
    if left := cleared(folder.resolve().parent):
        say(left)
    before = begun(folder)
    header = before.header
    before.check_given(given.profile, given.settings, given.only)
    asked = load(
        before.suite_file(path),
        registry,
        profile=header.profile,
        settings=given.settings or tuple(header.settings.items()),
        only=given.only or header.only,
    )
    before.check_alike(asked)
    asked = with_code(asked, LocalHost())
    graph = plan(expand(asked), asked.repeat, header.seed)
    before.check_plan(graph)
    keep = Keep(folder)
    enough = precise(header, before.trials, asked.metrics)
    lacking = missing(header, before.trials, enough)
    there = done(before.trials)
    if not lacking:
        why = f": {enough.told}" if enough else f" of {there}"
        say(f"nothing is missing in {folder}: {counted(there, 'planned measurement')}{why}")
        keep.swept()
        found = before.trials, before.ceilings
        return told(before, *found, asked, registry, keep, shown=shown)
    stands_on = _ground(asked)
    registry.consult("benchforge_planned", graph=graph)
    kept = [keep.place(trial.number) for trial in before.trials]
    if short := scarce(folder, lacking, kept):
        warn(short)
    stands_on = with_runtimes(stands_on, asked, distinct_parts(asked), say)
    now = _header(asked, graph, stands_on, registry)
    differs = before.differs(now)
    if differs and not anyway:
        hint = "go on where it was begun, or with --anyway: then the report tells it"
        raise Unusable(f"{folder} was begun with others: {'; '.join(differs)}", hint)
    for one in differs:
        warn(f"not as it was begun: {one}")
    keep.swept()
    before = before.going_on(now, differs)
    keep.sitting(before.sittings[-1])
    announce(asked, graph, stands_on, keep, limits, there)
    with checked_out(asked, stands_on, say) as stands_on:
        return sitting(before, asked, graph, stands_on, limits, registry, shown=shown)


def _ground(asked: Suite) -> Ground:
    return replace(ground(asked, distinct_parts(asked)), places=places(asked, machine()))


def _header(asked: Suite, graph: RunGraph, stands_on: Ground, registry: Registry) -> Header:
    header = header_of(asked, graph, stands_on)
    enough_for_scratch()  # or a program had no room to print its version into
    header = header.model_copy(update={"quiet": loosened()})
    return with_facts(header, registry.tell("benchforge_facts", warn), warn)


def _seconds(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        return float(Duration.parse(float(text) if text.replace(".", "", 1).isdigit() else text))
    except PydanticCustomError:
        hint = 'write it like "10m" or a number of seconds'
        raise Unusable(f"--time-limit {text}: not a duration", hint) from None
