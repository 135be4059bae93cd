"""One sitting of a run: measure what is missing, and report all that is there then."""

import math
import time
from collections.abc import Sequence
from functools import partial

from benchforge.checks import ask
from benchforge.checks.quiet import limits_of
from benchforge.cli import Interrupted, received
from benchforge.cli.outcome import Shown, exit_code
from benchforge.cli.progress import Line, plain
from benchforge.cli.report import reported
from benchforge.cli.say import counted, say, warn
from benchforge.graph import RunGraph
from benchforge.model.ceiling import Ceiling
from benchforge.model.folder import read_ceilings, read_trials
from benchforge.model.trial import Trial
from benchforge.registry import Registry
from benchforge.run.ceiling import declared, measured, wanted
from benchforge.run.execute import Limits, execute
from benchforge.run.ground import Ground
from benchforge.run.keep import Keep
from benchforge.run.resume import Begun
from benchforge.stats.objective import judged
from benchforge.stats.precision import precise
from benchforge.stats.whole import missing
from benchforge.suite.suite import Suite


def sitting(
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
    except Exception:  # a signal may have become another error on its way; all else is raised
        if (interrupted := received()) is None:
            raise
    finally:
        progress.end()
    keep.still_there()
    if interrupted is not None:  # maybe between a trial's file and its place in our list
        trials, ceilings = list(read_trials(keep.folder)), list(read_ceilings(keep.folder))
    code = told(begun, trials, ceilings, asked, registry, keep, shown=shown)
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


def told(
    begun: Begun,
    trials: Sequence[Trial],
    ceilings: Sequence[Ceiling],
    asked: Suite,
    registry: Registry,
    keep: Keep,
    *,
    shown: Shown,
) -> int:
    """Report what is there, and return its exit code."""
    found = begun.header, trials, begun.sittings, ceilings, asked.metrics, registry, keep
    summary = reported(*found, shown.reports, as_json=shown.as_json)
    registry.tell("benchforge_judged", warn, summary=summary, verdicts=summary.verdicts)
    return exit_code(summary, shown)


def _at_most(ceiling: Ceiling) -> str:
    tool = ceiling.trial.case.driver
    if ceiling.per_second is None:
        failure = ceiling.trial.failure
        why = failure.message if failure is not None else "no response"
        return f"what {tool} can do at most is not known: {plain(why)}"
    return f"{tool} gets {ceiling.per_second:,.0f} responses/s from a server that does nothing"


def _say_what_quiet_took(trials: Sequence[Trial]) -> None:
    waited_s = sum(trial.phases.get("quiet", 0.0) for trial in trials)
    noisy = sum(one.id == "quiet" and one.status == "warn" for t in trials for one in t.checks)
    if noisy:
        before = counted(noisy, "trial")
        say(f"waited {waited_s:.0f} s for quiet; others still used the CPUs before {before}")
    elif waited_s >= 1:
        say(f"waited {waited_s:.0f} s for quiet")
