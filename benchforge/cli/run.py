"""`benchforge run`: from a suite to a result, its report and an exit code."""

import math
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import click
from pydantic_core import PydanticCustomError

from benchforge.checks import ask
from benchforge.checks.quiet import limits_of
from benchforge.cli import Interrupted, received
from benchforge.cli.amount import amount, awaited, lasts
from benchforge.cli.loosened import loosened
from benchforge.cli.options import pairs
from benchforge.cli.outcome import Shown, exit_code
from benchforge.cli.progress import Line, plain, spoken
from benchforge.cli.report import reported
from benchforge.cli.say import counted, say, warn
from benchforge.errors import Unusable
from benchforge.graph import START_AND_STOP_S, RunGraph, plan
from benchforge.model.ceiling import Ceiling
from benchforge.model.folder import HEADER
from benchforge.model.result import Header
from benchforge.model.trial import Trial
from benchforge.model.units import Duration
from benchforge.parts.part import Loader
from benchforge.registry import Registry
from benchforge.run.ceiling import declared, measured, wanted
from benchforge.run.code import checked_out, with_code
from benchforge.run.execute import Limits, execute
from benchforge.run.ground import Ground, ground, with_runtimes
from benchforge.run.header import header_of, locks_of, with_facts
from benchforge.run.host import LocalHost
from benchforge.run.keep import Keep
from benchforge.run.leftovers import cleared
from benchforge.run.lock import measuring
from benchforge.run.placement import machine, places, told
from benchforge.run.reports import reporter
from benchforge.run.resume import Begun, begun
from benchforge.run.space import scarce
from benchforge.stats.objective import judged
from benchforge.stats.precision import precise
from benchforge.stats.whole import done, missing
from benchforge.suite.expand import expand
from benchforge.suite.find import finds_of
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
        if left := cleared():
            say(left)
        if short := scarce(output, len(graph)):
            warn(short)
        # Building loads the machine: not while another benchforge measures.
        stands_on = with_runtimes(stands_on, asked, distinct_parts(asked), say)
        header = _header(asked, graph, stands_on, registry)
        keep = Keep.new(output, asked.name, datetime.now(UTC))
        with keep.held():
            for label, lock in locks_of(stands_on).items():
                keep.lock(label, lock)
            # Last: from here on it is a result, that lacks nothing and can be resumed.
            keep.write(keep.folder / HEADER, header)
            kept(keep.folder)
            _announce(asked, graph, stands_on, keep, limits)
            begun = Begun(keep.folder, header, (), ())
            with checked_out(asked, stands_on, say) as stands_on:
                return _sitting(begun, asked, graph, stands_on, limits, registry, shown=shown)


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
    if left := cleared():
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
        found = before.trials, before.ceilings
        return _told(before, *found, asked, registry, keep, shown=shown)
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
    _announce(asked, graph, stands_on, keep, limits, there)
    with checked_out(asked, stands_on, say) as stands_on:
        return _sitting(before, asked, graph, stands_on, limits, registry, shown=shown)


def _sitting(
    begun: Begun,
    asked: Suite,
    graph: RunGraph,
    stands_on: Ground,
    limits: Limits,
    registry: Registry,
    *,
    shown: Shown,
) -> int:
    """Measure what is missing, and report all that is there then."""
    keep = Keep(begun.folder)
    believe = partial(ask.of_trial, limits=limits_of(begun.header))
    judge = partial(
        judged, finds=begun.header.finds, metrics=asked.metrics, smoke=begun.header.smoke
    )
    progress = Line(graph)
    trials, ceilings = list(begun.trials), list(begun.ceilings)

    def enough(there: Sequence[Trial]) -> bool:
        found = precise(begun.header, there, asked.metrics)
        progress.looked(found)
        return found is not None and found.stop

    worth_s = {} if asked.smoke else declared(graph)
    began, limit_s = time.monotonic(), limits.time_limit_s or math.inf
    interrupted: Interrupted | None = None
    try:
        for trial in execute(
            graph, stands_on, keep, believe, judge, progress, limits, begun.trials, enough
        ):
            trials.append(trial)
            registry.tell("benchforge_trial_kept", warn, trial=trial)
            if (interrupted := received()) is not None:  # and something on the way took it
                break
            if wanted(trial, ceilings, worth_s, began + limit_s - time.monotonic()):
                case = graph.cases[begun.header.cases.index(trial.case)]
                ceilings.append(measured(trial, case, ceilings, stands_on, keep, believe))
                say(_at_most(ceilings[-1]))
    except Interrupted as signal:
        interrupted = signal
    except Exception:
        if (interrupted := received()) is None:
            raise
    finally:
        progress.end()
    keep.still_there()
    code = _told(begun, trials, ceilings, asked, registry, keep, shown=shown)
    _say_what_quiet_took(trials[len(begun.trials) :])
    lacking = missing(begun.header, trials, precise(begun.header, trials, asked.metrics))
    most = "" if graph.until is None else "up to "
    if interrupted is not None:
        say(f"interrupted: {counted(len(trials), 'trial')} kept in {keep.folder}")
    _say_what_lacks(
        lacking, most, keep, limited=interrupted is None and limits.time_limit_s is not None
    )
    return code if interrupted is None else interrupted.exit_code


def _say_what_lacks(lacking: int, most: str, keep: Keep, *, limited: bool) -> None:
    if lacking and limited:
        measurements = f"{most}{counted(lacking, 'planned measurement')}"
        say(f"not measured: {measurements}, for which the time limit left no time")
    if lacking:
        say(f"this goes on: {keep.goes_on}")


def _told(
    begun: Begun,
    trials: Sequence[Trial],
    ceilings: Sequence[Ceiling],
    asked: Suite,
    registry: Registry,
    keep: Keep,
    *,
    shown: Shown,
) -> int:
    told = begun.header, trials, begun.sittings, ceilings, asked.metrics, registry, keep
    summary = reported(*told, shown.reports, as_json=shown.as_json)
    registry.tell("benchforge_judged", warn, summary=summary, verdicts=summary.verdicts)
    return exit_code(summary, shown)


def _ground(asked: Suite) -> Ground:
    return replace(ground(asked, distinct_parts(asked)), places=places(asked, machine()))


def _header(asked: Suite, graph: RunGraph, stands_on: Ground, registry: Registry) -> Header:
    header = header_of(asked, graph, stands_on)
    header = header.model_copy(update={"quiet": loosened()})
    return with_facts(header, registry.tell("benchforge_facts", warn), warn)


def unproved(suite: Suite) -> list[str]:
    """Return a line for each load tool that our tests never run."""
    named = {label for scenario in suite.scenarios.values() for label in scenario.loaders}
    loaders = (suite.loaders[label].part for label in named)
    names = {one.name for one in loaders if isinstance(one, Loader) and one.proved == "recordings"}
    return [f"{name}: parser proved on recordings, not run" for name in sorted(names)]


def _seconds(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        return float(Duration.parse(float(text) if text.replace(".", "", 1).isdigit() else text))
    except PydanticCustomError:
        hint = 'write it like "10m" or a number of seconds'
        raise Unusable(f"--time-limit {text}: not a duration", hint) from None


def _at_most(ceiling: Ceiling) -> str:
    tool = ceiling.trial.case.driver
    if ceiling.per_second is None:
        failure = ceiling.trial.failure
        told = failure.message if failure is not None else "no response"
        return f"what {tool} can do at most is not known: {plain(told)}"
    return f"{tool} gets {ceiling.per_second:,.0f} responses/s from a server that does nothing"


def _limit(seconds: float) -> str:
    return spoken(seconds) if seconds >= 1 else f"{seconds:g} s"


def _say_what_quiet_took(trials: Sequence[Trial]) -> None:
    waited_s = sum(trial.phases.get("quiet", 0.0) for trial in trials)
    noisy = sum(one.id == "quiet" and one.status == "warn" for t in trials for one in t.checks)
    if noisy:
        before = counted(noisy, "trial")
        say(f"waited {waited_s:.0f} s for quiet; others still used the CPUs before {before}")
    elif waited_s >= 1:
        say(f"waited {waited_s:.0f} s for quiet")


def _announce(
    suite: Suite, graph: RunGraph, stands_on: Ground, keep: Keep, limits: Limits, there: int = 0
) -> None:
    trials, cases = len(graph), len(graph.cases)
    each_s = graph.declared_s / trials + START_AND_STOP_S
    finds = finds_of(suite)
    if finds:
        counts = f"{counted(cases, 'case')}: at most {counted(trials, 'trial')}"
        planned = f"at most {spoken((trials - there) * each_s)}"
    else:
        counts = amount(cases, graph.blocks, graph.until)
        fewest = max(0, graph.least * cases - there)
        planned = lasts(fewest * each_s, (trials - there) * each_s)
    lines = [
        (suite.title or suite.name) + (f" · profile {suite.profile}" if suite.profile else ""),
        f"{counts}, {planned}; seed {graph.seed}; results in {keep.folder}",
        *(f"{label}: {find.says}" for label, find in finds.items()),
    ]
    if suite.smoke:
        lines.insert(1, "a smoke: it shows that everything works; its numbers mean nothing")
    if graph.until is not None:
        lines.append(awaited(graph.until))
    if limits.time_limit_s is not None:
        lines.append(f"time limit {_limit(limits.time_limit_s)}")
    if there:
        most = "" if graph.until is None else "up to "
        lines.insert(1, f"resumed: {there} of {most}{trials} measurements are there")
    if not_asked := [claim.label for claim in suite.claims if claim not in suite.asked]:
        lines.append(f"not asked, since their scenarios are not run: {', '.join(not_asked)}")
    lines += told(suite, stands_on.places, machine())
    lines += unproved(suite)
    say("\n".join(lines))
