"""Sessions of a run: each measures what is missing, and reports the whole result."""

import math
import shlex
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter

from benchforge.checks import ask
from benchforge.checks.summary import concluded
from benchforge.cli.console.options import Lock
from benchforge.cli.console.progress import ProgressLine
from benchforge.cli.console.reported import NO_ANSWER, Shown, exit_code, reported
from benchforge.cli.console.say import say, warn
from benchforge.cli.console.signals import Interrupted, received
from benchforge.errors import Unusable
from benchforge.model.files.ceiling import Ceiling
from benchforge.model.files.folder import read_ceilings, read_trials
from benchforge.model.files.result import Header
from benchforge.model.summary.summary import Comparison, Summary
from benchforge.model.trial.trial import Trial
from benchforge.parts.registry import Registry
from benchforge.results.resume import ResumableResult
from benchforge.run.ceiling.ceiling import ceilings as ceilings_after
from benchforge.run.disk.result_writer import ResultWriter
from benchforge.run.execute import RunInputs, StopLimits, by_place, execute
from benchforge.run.trial.context import TrialContext
from benchforge.stats.inference.interval import LEAST
from benchforge.stats.inference.stopping import Stop
from benchforge.stats.search.objective import judged
from benchforge.stats.summary.completeness import given_up, lost, missing, whole
from benchforge.stats.summary.precision import precise
from benchforge.stats.verdict.interim import interim
from benchforge.suite.load import load
from benchforge.suite.plan import RunGraph
from benchforge.suite.scenarios.turns import KEY
from benchforge.suite.suite import Suite
from benchforge.text import safe
from benchforge.text.readable import conjoined, counted, figure, spoken

_SLICE = "100ms"
_PATIENCE = 50  # a look takes a fiftieth of the run's time at most


@dataclass(frozen=True)
class RunOptions:
    """Options of a run."""

    registry: Registry
    profile: str | None = None
    settings: Sequence[tuple[str, str]] = ()
    only: Sequence[str] = ()
    limits: StopLimits = field(default_factory=StopLimits)
    shown: Shown = field(default_factory=Shown)
    lock: Lock = None
    resumable: bool = True
    "False if the measured suite is in no file, so that --resume could not read it."


@dataclass(frozen=True)
class PreparedRun:
    """A suite that can be measured, with its plan, programs and interpreters."""

    suite: Suite
    graph: RunGraph
    context: TrialContext
    header: Header
    "The header of a result that begins now."


def session(prepared: PreparedRun, begun: ResumableResult, options: RunOptions) -> int:
    """Measure what is missing, and report the whole result. Return the exit code."""
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
    missing_count = missing(header, trials, precise(header, trials, suite.metrics))
    most = "" if graph.until is None else "up to "
    failed = sum(lost(header, attempts) for attempts in by_place(trials).values())
    limited = interrupted is None and options.limits.time_limit_s is not None
    open_ = interrupted is None and missing_count > failed
    alike = open_ and any(given_up(trials, case) for case in header.cases)
    if interrupted is not None:
        say(f"interrupted: {counted(len(trials), 'trial')} kept in {begun.folder}")
        code = interrupted.exit_code
    _say_what_lacks(missing_count, failed, most, limited=limited, alike=alike)
    if missing_count and options.resumable:
        say(f"to continue: {inputs.keep.goes_on}")
    return max(code, NO_ANSWER * bool(failed))


def _inputs(
    prepared: PreparedRun, begun: ResumableResult, options: RunOptions, progress: ProgressLine
) -> RunInputs:
    header, metrics = begun.header, prepared.suite.metrics

    def enough(trials_so_far: Sequence[Trial]) -> bool:
        decision = precise(header, trials_so_far, metrics)
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


def _say_what_lacks(
    missing_count: int, failed: int, most: str, *, limited: bool, alike: bool
) -> None:
    if failed:
        say(f"not measured: {counted(failed, 'planned measurement')}: no attempt finished")
    if missing_count > failed and (limited or alike):
        measurements = f"{most}{counted(missing_count - failed, 'planned measurement')}"
        reason = "whose load tool had failed alike in three trials in a row"
        reason = reason if alike else "which the time limit left no time for"
        say(f"not measured: {measurements}, {reason}")


def report_result(result: ResumableResult, suite: Suite, options: RunOptions) -> int:
    """Report a result, and return its exit code."""
    registry, writer, header = options.registry, ResultWriter(result.folder), result.header
    summary = concluded(header, result.trials, suite.metrics, result.sessions, result.ceilings)
    settings = {} if hides(header, suite) else header.settings
    # The report's commands have the profile.
    run = run_words(suite, None, settings.items()) if options.resumable else "run SUITE"
    reported(summary, result.trials, registry, writer, run, options.shown)
    turns = in_turns(summary, header, result.trials, suite, registry) if options.resumable else ""
    if turns:
        say(turns)
    registry.tell("benchforge_judged", warn, summary=summary, verdicts=summary.verdicts)
    writer.manifest()
    return exit_code(summary, options.shown)


def _at_most(ceiling: Ceiling) -> str:
    tool = ceiling.trial.case.driver + (f" on {ceiling.host}" if ceiling.host else "")
    if ceiling.per_second is None:
        failure = ceiling.trial.failure
        reason = failure.message if failure is not None else "no response"
        return f"the ceiling of {tool} is unknown: {safe.word(reason)}"
    return f"{tool} gets {figure(ceiling.per_second)} responses/s from a server that does nothing"


def _say_what_quiet_took(trials: Sequence[Trial]) -> None:
    waited_s = sum(trial.phases.get("quiet", 0.0) for trial in trials)
    checks = [check for trial in trials for check in trial.checks]
    noisy = sum(check.topic == "quiet" and check.status == "warn" for check in checks)
    if noisy or waited_s >= 1:
        others = f"; others still used the CPUs before {counted(noisy, 'trial')}" * bool(noisy)
        say(f"waited {spoken(waited_s)} for quiet{others}")


class InterimLooks:
    """Looks at the whole blocks of a run: none at a smoke, none once the plan is complete."""

    def __init__(self, prepared: PreparedRun, progress: ProgressLine) -> None:
        self._header, self._metrics = prepared.header, prepared.suite.metrics
        self._blocks = prepared.graph.blocks
        # A scenario may have fewer blocks than others: then later blocks are shorter.
        in_order = sorted(self._header.plan, key=attrgetter("block", "position"))
        self._last = {step.block: step.position for step in in_order}
        self._progress, self._stop = progress, Stop.of(self._header.until).while_it_runs
        self._next_s = 0.0
        self._seen = LEAST - 1

    def after(self, trials: Sequence[Trial], ceilings: Sequence[Ceiling]) -> None:
        """Show the answers so far if the last trial completed a block, and a look is worth it."""
        block = trials[-1].block
        now_s = time.monotonic()
        if (
            self._header.smoke
            or self._header.searches
            or trials[-1].position != self._last.get(block)
            or not self._seen < block < self._blocks
            or now_s < self._next_s
            or whole(self._header, trials) < block
        ):
            return
        self._seen = block
        try:
            summary = concluded(self._header, trials, self._metrics, (), ceilings, stop=self._stop)
        except Exception:  # noqa: BLE001 - of a plugin's metric: the report at the end says it
            self._next_s = math.inf
            return
        self._progress.answers(block, [*interim(summary)])
        ended_s = time.monotonic()
        self._next_s = ended_s + _PATIENCE * (ended_s - now_s)


def in_turns(
    summary: Summary, header: Header, trials: Sequence[Trial], suite: Suite, registry: Registry
) -> str:
    """Return the command that takes turns, and its use; empty where it decides nothing.

    It reads the suite once more with the setting, which shows whether turns are valid.
    """
    networks = (trial.namespaces.get("network") for trial in trials if trial.measured)
    if summary.smoke or hides(header, suite) or any(name != "private" for name in networks):
        return ""
    able: list[str] = []
    by_all = KEY in suite.repeat.model_fields_set
    for label in dict.fromkeys(
        comparison.scenario for comparison in summary.comparisons if _open(comparison, suite)
    ):
        scenario = suite.scenarios.get(label)
        says = by_all or scenario is None or scenario.interleave is not None
        if not says and _valid([*able, label], header, suite, registry):
            able.append(label)
    if not able:
        return ""
    words = run_words(suite, header.profile, _settings(able, header))
    only = " ".join(f"--only {shlex.quote(label)}" for label in able)
    return (
        f"to decide {conjoined(able)} sooner: benchforge {words} {only}\n"
        "  The servers then take turns: a ratio needs about a seventh of the time. There are no "
        "requests/s and no response times."
    )


def _open(comparison: Comparison, suite: Suite) -> bool:
    """Whether a pair is undecided that more blocks in turns could decide."""
    top = next(iter(comparison.rankings), None)
    if top is None or top.ranking is None or not suite.metrics[top.metric].in_turns:
        return False
    few = top.blocks_needed is None or top.blocks_needed > top.blocks
    return few and not all(pair.differ for pair in top.ranking.pairs)


def _settings(labels: Sequence[str], header: Header) -> list[tuple[str, str]]:
    return [*header.settings.items(), *((f"scenarios.{label}.{KEY}", _SLICE) for label in labels)]


def _valid(labels: Sequence[str], header: Header, suite: Suite, registry: Registry) -> bool:
    settings = _settings(labels, header)
    try:
        load(suite.path, registry, profile=header.profile, settings=settings, only=labels)
    except Unusable:  # the file may have gone meanwhile
        return False
    return True


def run_words(suite: Suite, profile: str | None, settings: Iterable[tuple[str, str]]) -> str:
    """Return the words that measure a suite with a profile and settings, after `benchforge`."""
    words = ["run", str(suite.path)]
    words += ["--profile", profile] if profile else []
    for name, text in settings:
        words += ["--set", f"{name}={text}"]
    return shlex.join(words)


def hides(header: Header, suite: Suite) -> bool:
    """Whether a setting has a secret, which no command shows."""
    return any(secret in text for secret in suite.secrets for text in header.settings.values())
