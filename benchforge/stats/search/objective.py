"""Objectives of a search, judged in one trial.

Every trial has two objectives that no suite writes: 99 % of the requests that were due were
answered, and fewer than 0.1 % ended badly (unless an objective is about errors).
"""

from collections.abc import Mapping, Sequence

from benchforge.model.suite.search import (
    Objective,
    ObjectiveOutcome,
    RateSearch,
    SearchOutcome,
    errors,
)
from benchforge.model.trial.check import Check
from benchforge.model.trial.reading import Reading
from benchforge.model.trial.sample import Sample
from benchforge.model.trial.trial import Trial
from benchforge.model.trial.window import WHOLE
from benchforge.parts.part import Metric
from benchforge.text.readable import compared, exact

ACHIEVED = 0.99
"Of the requests that were due: the share that is answered where a rate is kept."
_DURING_THE_LOAD = ("drive", "read")
_RATE = f"rate answered >= {exact(100 * ACHIEVED)}%"


def judged(
    trial: Trial, finds: Mapping[str, RateSearch], metrics: Mapping[str, Metric], *, smoke: bool
) -> SearchOutcome | None:
    """Return the outcome of a trial for the search of its scenario; None without a search.

    `metrics` holds those of the suite, by label. A smoke goes on whatever its checks say: its
    numbers mean nothing.
    """
    find = finds.get(trial.case.scenario)
    rate = None if trial.load is None else trial.load.rate
    if find is None or rate is None:
        return None
    reading, failure = trial.reading, trial.failure
    if failure is not None and failure.subject == "behaviour" and failure.stage in _DURING_THE_LOAD:
        return SearchOutcome(rate=rate, passed=False, why=failure.message)
    if reading is None or failure is not None:
        reason = "neither a reading nor a reason" if failure is None else failure.message
        return SearchOutcome(rate=rate, passed=None, why=f"no measurement: {reason}")
    outcomes = [_answered(reading)]
    if find.errors_below is not None:
        outcomes.append(_errors(reading, find.errors_below))
    outcomes += (_outcome(each, metrics.get(each.metric), trial) for each in find.objectives)
    outcome = _all(rate, outcomes)
    doubts = _doubts(trial)
    # Lateness comes and goes; of what spoils all numbers the trial tells itself.
    late = not trial.doubts
    if not doubts or smoke or (late and outcome.passed and _only_longer(find, doubts)):
        return outcome
    cause = ", ".join(dict.fromkeys(f"{check.id} {check.name}" for check in doubts))
    # Noise makes times longer and answers fewer: what is kept beside it would be kept without it.
    is_disturbed = trial.disturbed and outcome.passed and _only_longer(find, [])
    return SearchOutcome(
        rate=rate,
        passed=None,
        why=f"disturbed: {cause}" if is_disturbed else f"not believed: {cause}",
        outcomes=outcome.outcomes if is_disturbed else (),
        transient=late,
    )


def _only_longer(find: RateSearch, late: Sequence[Check]) -> bool:
    """Return whether lateness cannot have helped to keep the objectives.

    It is part of each response time: one that is below its bound would be so without it.
    """
    upper = all(objective.relation in {"<", "<="} for objective in find.objectives)
    return upper and all(check.status == "fail" for check in late)


def _all(rate: float, outcomes: Sequence[ObjectiveOutcome]) -> SearchOutcome:
    """One that is not kept decides, whatever else is not known."""
    missed = [outcome for outcome in outcomes if outcome.kept is False]
    unknown = [outcome for outcome in outcomes if outcome.kept is None]
    passed = False if missed else None if unknown else True
    reason = "; ".join(f"{outcome.objective}: {_figure(outcome)}" for outcome in missed or unknown)
    return SearchOutcome(rate=rate, passed=passed, why=reason, outcomes=tuple(outcomes))


def _figure(outcome: ObjectiveOutcome) -> str:
    if outcome.value is None or outcome.kept is None:
        return outcome.why
    if outcome.in_percent:
        return f"{exact(100 * outcome.value)} %"
    return compared(outcome.unit, outcome.value)


def _doubts(trial: Trial) -> list[Check]:
    """Return why a trial has no answer: the apparatus failed, or its lateness is in every time.

    A tool that does not tell its lateness may have been late.
    """
    late = (check for check in trial.checks if check.of_lateness)
    return [*trial.doubts, *(check for check in late if check.status in {"fail", "unknown"})]


def _answered(reading: Reading) -> ObjectiveOutcome:
    """Return the share of the due requests that was answered.

    Requests under way at the end count as answered: rate times mean response time (Little's law).
    """
    schedule = reading.schedule
    due = None if schedule is None else schedule.intended
    if schedule is None or not due:
        return _unknown(_RATE, "the load tool does not tell how many requests were due", "1")
    mean_us = reading.latency.mean() if reading.latency and reading.latency.counts else 0.0
    in_flight = reading.in_flight.count if reading.in_flight is not None else 0
    under_way = min(schedule.rate * mean_us / 1e6, in_flight)
    ended = reading.responses + (reading.unanswered or 0) + under_way
    share = min(1.0, (ended + 1) / due)  # one may be due at the very end
    return ObjectiveOutcome(objective=_RATE, value=share, unit="1", kept=share >= ACHIEVED)


def _errors(reading: Reading, below: float) -> ObjectiveOutcome:
    objective = errors(below)
    ended = reading.responses + (reading.unanswered or 0)
    if reading.good is None or reading.unanswered is None or not ended:
        reason = reading.bounds if reading.good is None else "how many requests ended is not told"
        return _unknown(objective, reason, "1")
    share = (ended - reading.good) / ended
    return ObjectiveOutcome(objective=objective, value=share, unit="1", kept=share < below)


def _outcome(objective: Objective, metric: Metric | None, trial: Trial) -> ObjectiveOutcome:
    if objective.kind is not None:
        trial = trial.of_kind(objective.kind)
    if trial.reading is None:
        reason = f"the load tool does not tell which requests are of {objective.kind}"
        return _unknown(objective.text, reason)
    samples = [] if metric is None else list(metric.of_trial(trial, objective.metric, WHOLE))
    sample = _sample(objective, samples)
    if sample is None or sample.value is None:
        parts = ", ".join(f"{each.of}" for each in samples if each.of)
        lacks = f"no such part of {objective.metric}; it has {parts or 'none'}"
        return _unknown(objective.text, sample.why if sample else lacks)
    keeps: bool | None = objective.keeps(sample.value)
    # The truth is this or more: a value below the bound does not tell.
    if sample.lower_bound and keeps == (objective.relation in {"<", "<="}):
        reason = f"only known to be {compared(sample.unit, sample.value)} or more"
        return _unknown(objective.text, reason, sample.unit)
    value, unit = sample.value, sample.unit
    return ObjectiveOutcome(objective=objective.text, value=value, unit=unit, kept=keeps)


def _unknown(objective: str, reason: str, unit: str = "") -> ObjectiveOutcome:
    return ObjectiveOutcome(objective=objective, value=None, unit=unit, kept=None, why=reason)


def _sample(objective: Objective, samples: Sequence[Sample]) -> Sample | None:
    """Return the sample that an objective is about; without a part the whole, or the only one."""
    if objective.of is None and len(samples) == 1:
        return samples[0]
    return next((each for each in samples if each.of == objective.of), None)
