"""Whether a server kept to what was asked of it, in one trial of a search.

Every trial has two objectives that no suite writes: 99 % of the requests that were due were
answered, and fewer than 0.1 % ended badly (unless an objective is about errors).
"""

from collections.abc import Mapping, Sequence

from benchforge.model.check import Check
from benchforge.model.find import Find, Objective, Outcome, Sought, errors
from benchforge.model.reading import Reading
from benchforge.model.sample import Sample
from benchforge.model.trial import Trial
from benchforge.model.window import WHOLE
from benchforge.parts.part import Metric

ACHIEVED = 0.99
"Of the requests that were due: the share that is answered where a rate is kept."
_DURING_THE_LOAD = ("drive", "read")
_RATE = f"rate answered >= {ACHIEVED:.0%}"


def judged(
    trial: Trial, finds: Mapping[str, Find], metrics: Mapping[str, Metric], *, smoke: bool
) -> Sought | None:
    """Return what a trial gave to the search of its scenario; None where it has none.

    `metrics` holds those of the suite, by label. A smoke goes on whatever its checks say: its
    numbers mean nothing.
    """
    find = finds.get(trial.case.scenario)
    rate = None if trial.load is None else trial.load.rate
    if find is None or rate is None:
        return None
    reading, failure = trial.reading, trial.failure
    if failure is not None and failure.about == "behaviour" and failure.stage in _DURING_THE_LOAD:
        return Sought(rate=rate, passed=False, why=failure.message)
    if reading is None or failure is not None:
        told = "neither a reading nor a reason" if failure is None else failure.message
        return Sought(rate=rate, passed=None, why=f"no measurement: {told}")
    if (doubts := _doubts(trial)) and not smoke:
        # Lateness comes and goes; of what spoils all numbers the trial tells itself.
        why = ", ".join(dict.fromkeys(f"{one.id} {one.name}" for one in doubts))
        late = not trial.doubts
        return Sought(rate=rate, passed=None, why=f"not believed: {why}", again=late)
    outcomes = [_answered(reading)]
    if find.errors_below is not None:
        outcomes.append(_errors(reading, find.errors_below))
    outcomes += [_outcome(one, metrics.get(one.metric), trial) for one in find.objectives]
    return _all(rate, outcomes)


def _all(rate: float, outcomes: Sequence[Outcome]) -> Sought:
    """One that is not kept decides, whatever else is not known."""
    missed = [one for one in outcomes if one.kept is False]
    unknown = [one for one in outcomes if one.kept is None]
    passed = False if missed else None if unknown else True
    why = "; ".join(f"{one.objective}: {_figure(one)}" for one in missed or unknown)
    return Sought(rate=rate, passed=passed, why=why, outcomes=tuple(outcomes))


def _figure(one: Outcome) -> str:
    if one.value is None or one.kept is None:
        return one.why
    return f"{one.value:.4g}" + (f" {one.unit}" if one.unit != "1" else "")


def _doubts(trial: Trial) -> list[Check]:
    """Return why a trial says nothing: the apparatus failed, or its lateness is in every time.

    A tool that does not tell its lateness may have been late.
    """
    late = (one for one in trial.checks if one.id == "L4" and one.of == "lateness")
    return [*trial.doubts, *(one for one in late if one.status in {"fail", "unknown"})]


def _answered(reading: Reading) -> Outcome:
    """Return which share of the requests that were due was answered.

    What a server that keeps up has under way at the end counts as answered: rate times mean
    response time (Little's law).
    """
    schedule = reading.schedule
    due = None if schedule is None else schedule.intended
    if schedule is None or not due:
        why = "the load tool does not tell how many requests were due"
        return Outcome(objective=_RATE, value=None, unit="1", kept=None, why=why)
    mean_us = reading.latency.mean() if reading.latency and reading.latency.counts else 0.0
    in_flight = reading.in_flight.count if reading.in_flight is not None else 0
    under_way = min(schedule.rate * mean_us / 1e6, in_flight)
    ended = reading.responses + (reading.unanswered or 0) + under_way
    share = min(1.0, (ended + 1) / due)  # one may be due at the very end
    return Outcome(objective=_RATE, value=share, unit="1", kept=share >= ACHIEVED)


def _errors(reading: Reading, below: float) -> Outcome:
    told = errors(below)
    ended = reading.responses + (reading.unanswered or 0)
    if reading.good is None or reading.unanswered is None or not ended:
        why = reading.bounds if reading.good is None else "how many requests ended is not told"
        return Outcome(objective=told, value=None, unit="1", kept=None, why=why)
    share = (ended - reading.good) / ended
    return Outcome(objective=told, value=share, unit="1", kept=share < below)


def _outcome(one: Objective, metric: Metric | None, trial: Trial) -> Outcome:
    samples = [] if metric is None else list(metric.of_trial(trial, one.metric, WHOLE))
    sample = _sample(one, samples)
    if sample is None or sample.value is None:
        parts = ", ".join(f"{each.of}" for each in samples if each.of)
        why = sample.why if sample else f"no such part of {one.metric}; it has {parts or 'none'}"
        return Outcome(objective=one.text, value=None, unit="", kept=None, why=why)
    kept: bool | None = one.keeps(sample.value)
    # The truth is this or more: a value below the bound does not tell.
    if sample.at_least and kept == (one.relation in {"<", "<="}):
        why = f"only known to be {sample.value:.4g} {sample.unit} or more"
        return Outcome(objective=one.text, value=None, unit=sample.unit, kept=None, why=why)
    return Outcome(objective=one.text, value=sample.value, unit=sample.unit, kept=kept)


def _sample(one: Objective, samples: Sequence[Sample]) -> Sample | None:
    """Return the sample that an objective is about; without a part the whole, or the only one."""
    if one.of is None and len(samples) == 1:
        return samples[0]
    return next((each for each in samples if each.of == one.of), None)
