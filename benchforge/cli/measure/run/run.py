"""A run: from a suite, or a result that lacks trials, to a result and its exit code."""

import secrets
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from benchforge.checks.limits import limits
from benchforge.checks.machine.calibrated import thresholds
from benchforge.cli.console.columns import amount, awaited, lasts
from benchforge.cli.console.lock import locked
from benchforge.cli.console.named_file import loaded
from benchforge.cli.console.say import say, warn
from benchforge.cli.console.signals import used_up
from benchforge.cli.measure.run.session import PreparedRun, RunOptions, report_result, session
from benchforge.errors import CannotKeep, Unusable
from benchforge.model.files.calibration import Calibration
from benchforge.model.files.folder import HEADER
from benchforge.model.values.units import Duration
from benchforge.parts.part import Loader
from benchforge.parts.registry import Registry
from benchforge.remote.engine import on_hosts
from benchforge.remote.wire import HostFault
from benchforge.results.resume import ResumableResult, begun
from benchforge.run.addresses import check_addresses
from benchforge.run.checkout import checked_out, with_code
from benchforge.run.disk.leftovers import cleared
from benchforge.run.disk.result_writer import ResultWriter
from benchforge.run.disk.space import enough_for_scratch, scarce
from benchforge.run.header import header_of, locks_of, with_facts
from benchforge.run.machine.calibration import kept, stale
from benchforge.run.machine.placement import describe_placement, machine, places
from benchforge.run.machine.quiet import Patience, until_quiet
from benchforge.run.remaining import noise_s
from benchforge.run.sandbox.host import LocalHost
from benchforge.run.trial.context import TrialContext, ground, with_runtimes
from benchforge.stats.summary.completeness import done, missing
from benchforge.stats.summary.precision import precise
from benchforge.suite.cases.expand import expand
from benchforge.suite.cases.parts import parts_on
from benchforge.suite.plan import START_AND_STOP_S, RunGraph, plan
from benchforge.suite.scenarios.search import finds_of
from benchforge.suite.scenarios.turns import all_turns, unlike_loads
from benchforge.suite.suite import Suite
from benchforge.text import safe
from benchforge.text.program import program
from benchforge.text.readable import counted, exact, listed, percent, spoken

_NAMED = 4


def begin(
    path: Path,
    output: Path,
    options: RunOptions,
    *,
    on_begun: Callable[[Path], None] = lambda _: None,
    text: str | None = None,
) -> int:
    """Measure a suite, or `text` instead; `on_begun` hears the folder. Return the exit code."""
    suite = loaded(path, options.registry, options.profile, options.settings, options.only, text)
    seed = suite.repeat.seed if suite.repeat.seed is not None else secrets.randbits(32)
    context = _ground(suite)
    with locked(options.lock) as other:
        suite, graph = _planned(suite, seed)  # what is served may change during the wait
        options.registry.consult("benchforge_planned", graph=graph)
        _clear(output)
        if short := scarce(output, len(graph)):
            warn(short)
        with on_hosts(suite, graph, context, say) as context:
            # Building loads the machine: not while another benchforge measures.
            prepared = _prepared(suite, graph, context, options.registry, other)
            header, locks = prepared.header, locks_of(prepared.context)
            files = {f"runtimes/{label}.txt": lock for label, lock in locks.items()}
            # From its first moment it is a result that lacks nothing, and can be resumed.
            created = datetime.now(UTC)
            writer = ResultWriter.new(output, suite.name, created, {**files, HEADER: header})
            with writer.held():
                on_begun(writer.folder)
                return _measured(prepared, ResumableResult(writer.folder, header, (), ()), options)


def resume(folder: Path, path: Path | None, options: RunOptions, *, anyway: bool) -> int:
    """Measure what a result lacks, by the suite in `path` if its own file was moved.

    Returns the exit code. Raises Unusable where the suite differs, or without `anyway` the machine.
    """
    with locked(options.lock), ResultWriter(folder).held():
        return _resume(folder, path, options, anyway=anyway)


def _resume(folder: Path, path: Path | None, options: RunOptions, *, anyway: bool) -> int:
    _clear(folder.resolve().parent)
    resumed = begun(folder)
    header, writer = resumed.header, ResultWriter(folder)
    resumed.check_given(options.profile, options.settings, options.only)
    settings = options.settings or tuple(header.settings.items())
    file, only = resumed.suite_file(path), options.only or header.only
    suite = loaded(file, options.registry, header.profile, settings, only)
    resumed.check_alike(suite)
    suite, graph = _planned(suite, header.seed)
    resumed.check_plan(graph)
    precision = precise(header, resumed.trials, suite.metrics)
    missing_count = missing(header, resumed.trials, precision)
    done_trials = done(header, resumed.trials)
    if not missing_count:
        reason = f": {precision.in_words}" if precision else f" of {done_trials}"
        measurements = counted(done_trials, "planned measurement")
        say(f"nothing is missing in {folder}: {measurements}{reason}")
        writer.swept(resumed.alone)
        return report_result(resumed, suite, options)
    options.registry.consult("benchforge_planned", graph=graph)
    with on_hosts(suite, graph, _ground(suite), say) as context:
        folders = [writer.place(trial.number) for trial in resumed.trials]
        if short := scarce(folder, missing_count, folders):
            warn(short)
        prepared = _prepared(suite, graph, context, options.registry)
        differs = resumed.differs(prepared.header)
        if differs and not anyway:
            hint = "resume with the same, or add --anyway: the report lists the changes"
            raise Unusable(f"{folder} was begun with others: {'; '.join(differs)}", hint)
        for difference in differs:
            warn(f"changed since the run began: {difference}")
        writer.swept(resumed.alone)
        resumed = resumed.going_on(prepared.header, differs)
        writer.session(resumed.sessions[-1])
        return _measured(prepared, resumed, options, done_trials)


def _clear(folder: Path) -> None:
    if cleared_places := cleared(folder):
        say(cleared_places)


def _planned(suite: Suite, seed: int) -> tuple[Suite, RunGraph]:
    """Return the suite with the commits that it serves, and its plan."""
    suite = with_code(suite, LocalHost())
    return suite, plan(expand(suite), suite.repeat, seed, decides=bool(suite.claims_to_test))


def _prepared(
    suite: Suite, graph: RunGraph, context: TrialContext, registry: Registry, other: str = ""
) -> PreparedRun:
    """Build missing runtimes, and ask programs for versions; `other` has the machine's lock."""
    check_addresses(suite, context)
    context = with_runtimes(context, suite, parts_on(suite, None), say)
    header = header_of(suite, graph, context)
    enough_for_scratch()  # or a program had no room to print its version into
    header = header.model_copy(update={"loosened_thresholds": loosened()})
    header = with_facts(header, registry.tell("benchforge_facts", warn), suite.secrets, warn)
    facts = {**header.facts, "lock": f"not held: {other}"} if other else header.facts
    header = header.model_copy(update={"facts": facts})
    return PreparedRun(suite, graph, context, header)


def _measured(
    prepared: PreparedRun, begun: ResumableResult, options: RunOptions, done_trials: int = 0
) -> int:
    announce(prepared, begun.folder, options.limits.time_limit_s, done_trials)
    context = prepared.context
    try:
        with context.host.many(), checked_out(prepared.suite, context, say) as context:
            return session(replace(prepared, context=context), begun, options)
    except Exception as error:
        untold = isinstance(error, CannotKeep | HostFault) and "--resume" not in error.hint
        if options.resumable and (untold or used_up(error)):
            limit = " --anyway" * bool(used_up(error))  # which is a fact of the machine
            say(f"{ResultWriter(begun.folder).way_out}{limit}")
        raise


def _ground(suite: Suite) -> TrialContext:
    parts = tuple(parts_on(suite, None))
    return replace(ground(suite, parts), places=places(suite, machine()) if parts else {})


def time_limit_s(text: str | None) -> float | None:
    """Return --time-limit in seconds. Raises Unusable for another text."""
    limit = None if text is None else Duration.typed(text)
    if text is not None and limit is None:
        hint = 'write it like "10m" or a number of seconds'
        raise Unusable(f"--time-limit {text}: not a duration", hint)
    return limit


def loosened() -> dict[str, float]:
    """Return the warnings that this machine's calibration loosens, by the id of the limit."""
    among = limits()
    match kept():
        case None:
            return {}
        case Calibration() as calibration if reason := stale(calibration, among):
            warn(f"the calibration is not used: {reason}; `{program()} calibrate` makes a new one")
            return {}
        case Calibration() as calibration:
            quiet = thresholds(calibration, among)
            changes = ", ".join(
                f"{id_} {among[id_].name} from {exact(among[id_].warn)} to {exact(least)}"
                for id_, least in quiet.items()
            )
            if changes:
                when = f"{calibration.created:%Y-%m-%d}"
                when += " without the machine's lock" * bool(calibration.lock_holder)
                say(f"loosened to this machine, as calibrated on {when}: {changes}")
            return quiet
        case faults:
            warn(f"the calibration is not used: {faults[0]}")
            return {}


def announce(
    prepared: PreparedRun, folder: Path, time_limit_s: float | None, done_trials: int
) -> None:
    """Say what a run measures, for how long, where it keeps the result, and what is unusual.

    `done_trials` is the number of measurements that earlier sessions made.
    """
    suite, graph = prepared.suite, prepared.graph
    trials, cases = len(graph), len(graph.cases)
    each_s = graph.declared_s / trials + START_AND_STOP_S
    waits = len(all_turns(suite)) < len(suite.scenarios)  # in turns none does
    loud, adds_s = _noise(graph, prepared.context.quiet if waits else "off")
    finds = finds_of(suite)
    most_s = (trials - done_trials) * each_s + adds_s
    if finds:
        counts = f"{counted(cases, 'case')}: at most {counted(trials, 'trial')}"
        planned = f"about {spoken(most_s)} for all of them"
    else:
        counts = amount(cases, graph.blocks, (graph.fewest, trials), graph.until)
        fewest = max(0, graph.fewest - done_trials)
        planned = lasts(fewest * each_s + adds_s, most_s)
    lines = [
        safe.word(suite.title or suite.name)
        + (f" · profile {suite.profile}" if suite.profile else ""),
        f"{counts}, {planned}; seed {graph.seed}; results in {folder}",
        *(f"{label}: {find.says}" for label, find in finds.items()),
    ]
    if suite.smoke:
        lines.insert(1, "smoke run: it shows that everything works; its numbers mean nothing")
    if graph.until is not None:
        lines.append(awaited(graph.until))
    if time_limit_s is not None:
        longer = ": not all planned trials fit" * (most_s > time_limit_s)
        lines.append(f"time limit {spoken(time_limit_s)}, and some seconds for the report{longer}")
    if done_trials:
        most = "" if graph.until is None else "up to "
        lines.insert(1, f"resumed: {done_trials} of {most}{trials} measurements are done")
    if not_asked := [claim.label for claim in suite.claims if claim not in suite.claims_to_test]:
        claims = f"{counted(len(not_asked), 'claim')} ({listed(not_asked, _NAMED)})"
        lines.append(f"not tested, because their scenarios do not run: {claims}")
    lines += loud
    if not prepared.context.hosts:
        lines += describe_placement(suite, prepared.context.places, machine())
    lines += [*unproved(suite), *unlike_loads(suite)]
    say("\n".join(lines))


def _noise(graph: RunGraph, patience: Patience) -> tuple[list[str], float]:
    """Look once whether others use the CPUs; return a line about it, and the seconds it adds."""
    if patience == "off" or (noise := until_quiet(0.0)).quiet is not False:
        return [], 0.0
    adds_s = noise_s(graph.declared_s / len(graph), patience, smoke=False)
    waits = f"waits for quiet and repeated trials may add {spoken(adds_s)}"
    return [f"other programs use {percent(noise.share or 0.0)} of the CPUs now: {waits}"], adds_s


def unproved(suite: Suite) -> list[str]:
    """Return a line for each load tool that our tests never run."""
    labels = {label for scenario in suite.scenarios.values() for label in scenario.loaders}
    tools = [suite.loaders[label].part for label in labels]
    loaders = [tool for tool in tools if isinstance(tool, Loader)]
    names = {loader.name for loader in loaders if loader.proved == "recordings"}
    return [f"{name}: parser proved on recordings, not run" for name in sorted(names)]
