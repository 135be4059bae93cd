"""One session of a run: measure what is missing, and report all that is there then."""

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from benchforge.checks import ask
from benchforge.checks.summary import concluded
from benchforge.cli.console.outcome import NO_ANSWER, exit_code
from benchforge.cli.console.progress import ProgressLine
from benchforge.cli.console.reported import reported
from benchforge.cli.console.say import say, warn
from benchforge.cli.console.signals import Interrupted, received
from benchforge.cli.measure.run.inputs import PreparedRun, RunOptions
from benchforge.cli.measure.run.interim import InterimLooks
from benchforge.cli.measure.run.run_words import hides, run_words
from benchforge.cli.measure.run.sooner import in_turns
from benchforge.model.files.ceiling import Ceiling
from benchforge.model.files.folder import read_ceilings, read_trials
from benchforge.model.trial.trial import Trial
from benchforge.results.resume import ResumableResult
from benchforge.run.ceiling.ceiling import ceilings as ceilings_after
from benchforge.run.disk.result_writer import ResultWriter
from benchforge.run.execute import RunInputs, by_place, execute
from benchforge.stats.search.objective import judged
from benchforge.stats.summary.completeness import given_up, lost, missing
from benchforge.stats.summary.precision import precise
from benchforge.suite.suite import Suite
from benchforge.text import safe
from benchforge.text.readable import counted, figure, spoken


def session(prepared: PreparedRun, begun: ResumableResult, options: RunOptions) -> int:
    """Measure what is missing, and report all that is there then."""
    suite, graph, header = prepared.suite, prepared.graph, begun.header
    progress = ProgressLine(graph)
    inputs = _inputs(prepared, begun, options, progress)
    trials, ceilings = list(begun.trials), list(begun.ceilings)
    ceiling_after = ceilings_after(graph, header, inputs)
    began, limit_s = time.monotonic(), options.limits.time_limit_s or math.inf
    interrupted: Interrupted | None = None
    look = InterimLooks(prepared, progress)
    try:
        for trial in execute(inputs, progress):
            trials.append(trial)
            look.after(trials, ceilings)
            options.registry.tell("benchforge_trial_kept", warn, trial=trial)
            if (interrupted := received()) is not None:  # and something on the way took it
                break
            spare_s = began + limit_s - time.monotonic()
            if (ceiling := ceiling_after(trial, ceilings, spare_s)) is not None:
                ceilings.append(ceiling)
                say(_at_most(ceiling))
    except Interrupted as signal:
        interrupted = signal
    except Exception:  # a signal may have become another error on its way; all else is raised
        if (interrupted := received()) is None:
            raise
    finally:
        progress.end()
    inputs.keep.still_there()
    if interrupted is not None:  # maybe between a trial's file and its place in our list
        trials, ceilings = list(read_trials(begun.folder)), list(read_ceilings(begun.folder))
    result = replace(begun, trials=tuple(trials), ceilings=tuple(ceilings))
    code = report_result(result, suite, options)
    _say_what_quiet_took(trials[len(begun.trials) :])
    lacking = missing(header, trials, precise(header, trials, suite.metrics))
    most = "" if graph.until is None else "up to "
    failed = sum(lost(header, attempts) for attempts in by_place(trials).values())
    limited = interrupted is None and options.limits.time_limit_s is not None
    open_ = interrupted is None and lacking > failed
    alike = open_ and any(given_up(trials, case) for case in header.cases)
    if interrupted is not None:
        say(f"interrupted: {counted(len(trials), 'trial')} kept in {begun.folder}")
        code = interrupted.exit_code
    _say_what_lacks(lacking, failed, most, limited=limited, alike=alike)
    if lacking and options.resumable:
        say(f"to continue: {inputs.keep.goes_on}")
    return max(code, NO_ANSWER * bool(failed))


def _inputs(
    prepared: PreparedRun, begun: ResumableResult, options: RunOptions, progress: ProgressLine
) -> RunInputs:
    header, metrics = begun.header, prepared.suite.metrics

    def enough(there: Sequence[Trial]) -> bool:
        decision = precise(header, there, metrics)
        progress.looked(decision)
        return decision is not None and decision.stop

    return RunInputs(
        graph=prepared.graph,
        context=prepared.context,
        keep=ResultWriter(begun.folder),
        believe=ask.of_trials(header, metrics),
        judge=partial(judged, finds=header.searches, metrics=metrics, smoke=header.smoke),
        limits=options.limits,
        before=begun.trials,
        enough=enough,
        lost=partial(lost, header),
    )


def _say_what_lacks(lacking: int, failed: int, most: str, *, limited: bool, alike: bool) -> None:
    if failed:
        say(f"not measured: {counted(failed, 'planned measurement')}: no attempt finished")
    if lacking > failed and (limited or alike):
        measurements = f"{most}{counted(lacking - failed, 'planned measurement')}"
        why = "whose load tool had failed alike in three trials in a row"
        why = why if alike else "which the time limit left no time for"
        say(f"not measured: {measurements}, {why}")


def report_result(result: ResumableResult, suite: Suite, options: RunOptions) -> int:
    """Report what is there, and return its exit code."""
    registry, keep, shown = options.registry, ResultWriter(result.folder), options.shown
    summary = concluded(
        result.header, result.trials, suite.metrics, result.sessions, result.ceilings
    )
    settings = {} if hides(result.header, suite) else result.header.settings
    # The report's commands have the profile.
    run = run_words(suite, None, settings.items()) if options.resumable else "run SUITE"
    reported(summary, result.trials, registry, keep, run, shown)
    if options.resumable and (
        command := in_turns(summary, result.header, result.trials, suite, registry)
    ):
        say(command)
    registry.tell("benchforge_judged", warn, summary=summary, verdicts=summary.verdicts)
    keep.manifest()
    return exit_code(summary, shown)


def _at_most(ceiling: Ceiling) -> str:
    tool = ceiling.trial.case.driver + (f" on {ceiling.host}" if ceiling.host else "")
    if ceiling.per_second is None:
        failure = ceiling.trial.failure
        why = failure.message if failure is not None else "no response"
        return f"the ceiling of {tool} is unknown: {safe.word(why)}"
    return f"{tool} gets {figure(ceiling.per_second)} responses/s from a server that does nothing"


def _say_what_quiet_took(trials: Sequence[Trial]) -> None:
    waited_s = sum(trial.phases.get("quiet", 0.0) for trial in trials)
    noisy = sum(one.topic == "quiet" and one.status == "warn" for t in trials for one in t.checks)
    if noisy:
        before = counted(noisy, "trial")
        say(f"waited {spoken(waited_s)} for quiet; others still used the CPUs before {before}")
    elif waited_s >= 1:
        say(f"waited {spoken(waited_s)} for quiet")
