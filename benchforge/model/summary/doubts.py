"""Which checks of response times speak of which part of them: a median is known before a p99 is."""

from benchforge.model.summary.summary import CaseSummary, MetricSummary
from benchforge.model.trial.check import Check
from benchforge.model.values.units import percentile

_TAIL = 99.0
"The percentile of a check of the tail that names none; a mean depends on it."


def speaks_of(check: Check, line: MetricSummary | None) -> bool:
    """Whether a check says something of these numbers: one of times of these alone.

    One that looks at a percentile says nothing of lower ones.
    """
    if check.invalidates == "all":
        return True
    if check.invalidates == "cost":
        return line is not None and (line.measurand, line.of) == ("CPU time per response", "server")
    if line is None or line.measurand != "response time":
        return False
    tail = check.topic == "tail"
    theirs = percentile(check.component) or (_TAIL if tail else None)
    if theirs is None:
        return True
    return line.percentile >= theirs if line.percentile is not None else tail and theirs <= _TAIL


def doubted(case: CaseSummary, line: MetricSummary) -> frozenset[int]:
    """Return the numbers of the trials whose values of a metric cannot be believed.

    A trial may be believed, and its response times not.
    """
    return frozenset(doubted.trial for doubted in case.doubted) | _times_doubted(case, line)


def disturbed(case: CaseSummary, line: MetricSummary) -> frozenset[int]:
    """Return the numbers of the trials whose values of a line have ratios to others alike."""
    disturbed_trials = frozenset(
        doubted.trial for doubted in case.doubted if doubted.disturbed and doubted.used
    )
    return disturbed_trials - _times_doubted(case, line)


def _times_doubted(case: CaseSummary, line: MetricSummary) -> frozenset[int]:
    times = [
        trial
        for trial in case.latency_doubted
        if any(speaks_of(check, line) for check in trial.checks)
    ]
    return frozenset(time_.trial for time_ in times)
