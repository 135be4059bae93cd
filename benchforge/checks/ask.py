"""All families of checks, asked of a trial, of a comparison and of a whole result."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from benchforge.checks import hosts, ways
from benchforge.checks.answers import answers, counted
from benchforge.checks.limits import Thresholds
from benchforge.checks.load_tool import ceiling, loader
from benchforge.checks.machine import clock, noise, sharing
from benchforge.checks.machine.calibrated import limits_of
from benchforge.checks.network import connections
from benchforge.checks.percentiles import NO_PERCENTILES, USUAL, Percentiles, of_scenario, samples
from benchforge.checks.seen import CaseTrials
from benchforge.checks.server import development, resources
from benchforge.checks.statistics import repetitions, turns
from benchforge.model.files.ceiling import Ceiling
from benchforge.model.files.result import Header
from benchforge.model.trial.check import Check
from benchforge.model.trial.trial import Trial
from benchforge.parts.part import Metric

_OF_TRIAL = (
    loader.of_trial,
    sharing.of_trial,
    noise.of_trial,
    clock.frequency,
    noise.memory,
    connections.of_trial,
    repetitions.steady,
    development.restarts,
    answers.sampled,
    counted.shares,
    clock.of_trial,
    development.of_trial,
    development.interpreters,
    development.method,
    resources.of_trial,
)
_MACHINE = (sharing.of_trial, noise.of_trial, clock.frequency, noise.memory, clock.of_trial)
"Of trials: those that look at a machine, and at each one of a trial on several hosts."
_IN_TURNS = (
    turns.of_trial,
    loader.in_turns,
    resources.in_turns,
    *(
        family
        for family in _OF_TRIAL
        if family not in {*_MACHINE, loader.of_trial, repetitions.steady, resources.of_trial}
    ),
)
"Of trials in turns; `ways.UNJUDGED` has the others, each with its reason."
_OF_PERCENTILES = (answers.of_trial, samples, loader.omission)
"Of trials: those that judge percentiles."
Checks = tuple[Check, ...]
_OfTrial = Callable[[Trial, Thresholds], Iterator[Check]]
_OfComparison = Callable[[CaseTrials, Thresholds], Iterator[Check]]
_OF_COMPARISON = (
    clock.frequencies,
    connections.of_comparison,
    answers.of_comparison,
    repetitions.of_comparison,
    repetitions.independence,
    repetitions.steady_cases,
    development.of_comparison,
    resources.of_comparison,
    resources.encryption,
)
_AT_ANY_LOAD = (
    connections.of_comparison,
    answers.of_comparison,
    development.of_comparison,
    resources.encryption,
)
"Of comparisons: those that need no two trials at the same load."
_OF_TURNS = tuple(
    check for check in _OF_COMPARISON if check not in {clock.frequencies, repetitions.steady_cases}
)
"Of comparisons whose servers took turns."
_OF_SESSION = (
    noise.of_session,
    clock.governor,
    clock.of_session,
    development.runtimes,
    clock.unchanged,
    hosts.of_session,
)


def of_trial(trial: Trial, limits: Thresholds, percentiles: Percentiles = USUAL) -> Checks:
    """Return the answers of all checks of a trial; none for one without a measurement."""
    if not trial.measured:
        return ()
    if trial.turns is not None:
        checks_ = [check for family in _IN_TURNS for check in family(trial, limits)]
        return (*checks_, *answers.of_trial(trial, limits, NO_PERCENTILES))
    checks = [check for family in _OF_TRIAL for check in _by_machine(family, trial, limits)]
    checks += hosts.of_trial(trial, limits)
    times = (check for family in _OF_PERCENTILES for check in family(trial, limits, percentiles))
    return (*checks, *times)


def _by_machine(family: _OfTrial, trial: Trial, limits: Thresholds) -> Iterator[Check]:
    if family in _MACHINE:
        return hosts.on_each(family, trial, limits)
    return family(hosts.of_loader(trial) if family is loader.of_trial else trial, limits)


def of_trials(header: Header, metrics: Mapping[str, Metric]) -> Callable[[Trial], Checks]:
    """Return how trials of a result are checked: by its thresholds and by what it asks of them."""
    limits = limits_of(header)
    scenarios = dict.fromkeys(case.scenario for case in header.cases)
    percentiles = {scenario: of_scenario(header, metrics, scenario) for scenario in scenarios}
    return lambda trial: of_trial(trial, limits, percentiles.get(trial.case.scenario, USUAL))


def of_comparison(cases: CaseTrials, limits: Thresholds, *, one_load: bool = True) -> Checks:
    """Return the checks of a comparison by believed trials; not `one_load`: each had its rate."""
    families: Sequence[_OfComparison] = _OF_COMPARISON if one_load else _AT_ANY_LOAD
    if any(trial.turns is not None for trials in cases for trial in trials):
        families = _OF_TURNS
    first = next((trials[0] for trials in cases if trials), None)
    checks = [check for family in families for check in family(cases, limits)]
    return (*checks, *(() if first is None else ways.unjudged(ways.way_of(first), limits)))


def of_session(
    header: Header, trials: Sequence[Trial], limits: Thresholds, ceilings: Sequence[Ceiling] = ()
) -> Checks:
    """Return what is to be said of a whole result, from all of its trials and ceilings."""
    checks = [check for family in _OF_SESSION for check in family(header, trials, limits)]
    return (*checks, *ceiling.of_session(header, trials, ceilings, limits))
