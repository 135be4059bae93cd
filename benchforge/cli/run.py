"""`benchforge run`: from a suite to a result, its report and an exit code."""

import secrets
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import click
from pydantic_core import PydanticCustomError

from benchforge.cli import Interrupted
from benchforge.cli.options import pairs
from benchforge.cli.progress import Line, counted, spoken
from benchforge.cli.report import reported
from benchforge.cli.say import say
from benchforge.errors import Unusable
from benchforge.graph import START_AND_STOP_S, RunGraph, plan
from benchforge.model.trial import Trial
from benchforge.model.units import Duration
from benchforge.parts.part import Loader
from benchforge.registry import Registry
from benchforge.run.execute import Limits, execute
from benchforge.run.ground import ground, with_runtimes
from benchforge.run.header import header_of, locks_of, with_facts
from benchforge.run.keep import Keep
from benchforge.run.lock import measuring
from benchforge.run.placement import machine, places, told
from benchforge.suite.expand import expand
from benchforge.suite.load import load
from benchforge.suite.parts import distinct_parts
from benchforge.suite.suite import Suite

NO_ANSWER = 4


@click.command("run")
@click.argument("suite", type=click.Path(path_type=Path))
@click.option("--profile", metavar="NAME", help="Apply [profiles.NAME] of the suite.")
@click.option("--set", "settings", metavar="PATH=VALUE", multiple=True, help="Change an option.")
@click.option("--only", metavar="SCENARIO", multiple=True, help="Run these scenarios only.")
@click.option(
    *("-o", "--output"),
    type=click.Path(path_type=Path),
    default=Path("results"),
    help="Keep the result in a new folder below it; else below results.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON, and no table.")
@click.option("--fail-fast", is_flag=True, help="Stop at the first trial that fails.")
@click.option("--time-limit", metavar="DURATION", help="Start nothing that would end later.")
def command(
    suite: Path,
    profile: str | None,
    settings: tuple[str, ...],
    only: tuple[str, ...],
    output: Path,
    as_json: bool,
    fail_fast: bool,
    time_limit: str | None,
) -> int:
    """Measure SUITE on real processes, and report.

    Exit codes: 0 everything asked has an answer; 2 the suite or the command line cannot be used;
    3 a program is missing; 4 something has no believable answer; 5 results cannot be written;
    130 and 143 interrupted.
    """
    limits = Limits(fail_fast, _seconds(time_limit))
    registry = Registry()
    registry.listen(_warn)
    asked = load(suite, registry, profile=profile, settings=pairs(settings), only=only)
    cases = expand(asked)
    here = machine()
    stands_on = replace(ground(asked, distinct_parts(asked)), places=places(asked, here))
    seed = asked.repeat.seed if asked.repeat.seed is not None else secrets.randbits(32)
    graph = plan(cases, asked.repeat, seed)
    registry.consult("benchforge_planned", graph=graph)
    with measuring():
        # Building loads the machine: not while another benchforge measures.
        stands_on = with_runtimes(stands_on, asked, distinct_parts(asked), say)
        keep = Keep.new(output, asked.name, datetime.now(UTC))
        header = header_of(asked, graph, stands_on)
        header = with_facts(header, registry.tell("benchforge_facts", _warn), _warn)
        keep.write(keep.folder / "result.json", header)
        for label, lock in locks_of(stands_on).items():
            keep.lock(label, lock)
        _announce(asked, graph, keep, limits, list(told(asked, stands_on.places, here)))
        progress = Line(graph)
        trials: list[Trial] = []
        interrupted: Interrupted | None = None
        try:
            for trial in execute(graph, stands_on, keep, progress, limits):
                trials.append(trial)
                registry.tell("benchforge_trial_kept", _warn, trial=trial)
        except Interrupted as signal:
            interrupted = signal
        finally:
            progress.end()
    summary = reported(header, trials, asked.metrics, registry, keep, as_json=as_json)
    _say_what_quiet_took(trials)
    measured = len({(trial.block, trial.position) for trial in trials})
    if limits.time_limit_s is not None and interrupted is None and measured < len(graph):
        left = counted(len(graph) - measured, "planned measurement")
        say(f"not measured: {left}, for which the time limit left no time")
    if interrupted is not None:
        kept = f"{counted(len(trials), 'trial')} kept in {keep.folder}"
        say(f"interrupted: {kept}")
        return interrupted.exit_code
    return NO_ANSWER if any(case.trials == 0 for case in summary.cases) else 0


def _warn(text: str) -> None:
    say(f"warning: {text}")


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
    suite: Suite, graph: RunGraph, keep: Keep, limits: Limits, where: Sequence[str]
) -> None:
    trials = len(graph)
    planned = graph.declared_s + START_AND_STOP_S * trials
    counts = (
        f"{counted(len(graph.cases), 'case')}, {counted(suite.repeat.blocks, 'block')}: "
        f"{counted(trials, 'trial')}"
    )
    lines = [
        (suite.title or suite.name) + (f" · profile {suite.profile}" if suite.profile else ""),
        f"{counts}, about {spoken(planned)}; seed {graph.seed}; results in {keep.folder}",
    ]
    if suite.smoke:
        lines.insert(1, "a smoke: it shows that everything works; its numbers mean nothing")
    if limits.time_limit_s is not None:
        lines.append(f"time limit {_limit(limits.time_limit_s)}")
    lines += where
    lines += unproved(suite)
    say("\n".join(lines))
