"""Steady state of each server (S1)."""

from collections.abc import Iterator, Sequence

from benchforge.checks.limits import Thresholds
from benchforge.model.trial.check import Check, Scope, Status
from benchforge.model.trial.trial import Trial
from benchforge.model.trial.window import SteadyState
from benchforge.stats.timeseries.windows import settled
from benchforge.text.readable import exact

_ID = "S1"


def of_trial(trial: Trial, limits: Thresholds) -> Iterator[Check]:
    """Yield whether this one settled: a flag, since one course is noisier than that of a case."""
    yield _check(settled([trial]), limits, "trial", "warn", trial.case.server)


def of_comparison(cases: Sequence[Sequence[Trial]], limits: Thresholds) -> Iterator[Check]:
    """Yield for each case whether its mean course settled, so that it has a level to compare."""
    felt = limits[_ID].more["felt"]
    for number, trials in enumerate(cases, 1):
        title = trials[0].case.title if trials else f"case {number}"
        course = settled(trials)
        yield _check(course, limits, "comparison", "fail", title)
        if isinstance(felt, float) and course.felt > felt:
            says = f"{course.message}: rates are without that, latencies are not; lengthen "
            says += f"repeat.warmup by {exact(course.warm_up_s)} s"
            yield limits.check(_ID, "apparatus", course.felt, says, "warn").about(
                title, "comparison", invalidates="latency"
            )


def _check(course: SteadyState, limits: Thresholds, scope: Scope, bad: Status, title: str) -> Check:
    status: Status = "unknown"
    if course.steady is not None:
        status = "pass" if course.steady else bad
    value = course.change if course.steady is False else None
    return limits.check(_ID, "behaviour", value, course.message, status).about(title, scope)
