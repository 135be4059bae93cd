"""Noise of a quiet machine, and the thresholds that follow from it."""

from collections.abc import Iterator, Sequence

from benchforge.checks.limits import Thresholds, limits
from benchforge.model.files.calibration import Calibration
from benchforge.model.files.result import Header
from benchforge.model.trial.check import NOISE, Check
from benchforge.model.trial.trial import Trial
from benchforge.stats.observation import spread
from benchforge.text.readable import percent

TIMES = 2.0
_LOUD = "N1"


def ids(among: Thresholds) -> list[str]:
    """Return the ids of all limits that are loosened: N3 has several, such as N3.cpu."""
    limits_ = among.by_id.items()
    return [id_ for id_, limit in limits_ if limit.topic in NOISE and limit.warn is not None]


def seen(
    trials: Sequence[Trial], among: Thresholds
) -> tuple[dict[str, list[float]], dict[str, str]]:
    """Return the largest value of each check in each trial, and why a check has none."""
    values: dict[str, list[float]] = {}
    unknown: dict[str, str] = {}
    for id_ in ids(among):
        answers = [list(_answers(trial, id_, among)) for trial in trials]
        by_trial = [[row.value for row in rows if row.value is not None] for rows in answers]
        if largest := [max(numbers) for numbers in by_trial if numbers]:
            values[id_] = largest
        else:
            reason = [row.message for rows in answers for row in rows]
            unknown[id_] = reason[0] if reason else "this check does not look at it here"
    return values, unknown


def _answers(trial: Trial, id_: str, among: Thresholds) -> Iterator[Check]:
    """Yield a trial's answers of one limit: N3 of the CPU is N3.cpu, N2 of a server is N2."""
    for check in trial.checks:
        component_id = f"{check.id}.{check.component}"
        if id_ == (component_id if component_id in among.by_id else check.id):
            yield check


def thresholds(calibration: Calibration, among: Thresholds) -> dict[str, float]:
    """Return the warnings that are loosened: to twice the 99 % quantile, where that is above."""
    loosened: dict[str, float] = {}
    for id_ in ids(among):
        warn = among[id_].warn
        quiet = TIMES * spread(values).high if (values := calibration.observed.get(id_)) else 0.0
        if warn is not None and quiet > warn:
            loosened[id_] = float(f"{quiet:.6g}")
    return loosened


def loud(calibration: Calibration, among: Thresholds) -> str:
    """Return why a calibration is not of a quiet machine; empty if it is."""
    values, fail = calibration.observed.get(_LOUD), among[_LOUD].fail
    if not values:
        return f"whether others used the CPUs is not known: {calibration.unknown.get(_LOUD, '')}"
    middle = spread(values).median
    if fail is None or middle < fail:
        return ""
    return f"others used {percent(middle)} of the CPUs or more in half of the rounds"


def limits_of(header: Header) -> Thresholds:
    """Return the thresholds that a result was measured with, as far as it tells: see `quiet`."""
    loosened = limits().loosened(header.loosened_thresholds)
    return loosened.once() if header.smoke else loosened
