"""Doubts of checks about values: a check of the p99 leaves the median alone."""

from benchforge.model.summary.summary import CaseSummary, MetricSummary
from benchforge.model.trial.check import Check
from benchforge.model.values.units import percentile

_TAIL = 99.0
"The percentile of a check of the tail that names none; a mean depends on it."


def speaks_of(check: Check, line: MetricSummary | None) -> bool:
    """Return True if a check concerns these numbers; of a percentile, only from that on."""
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
    """Return the numbers of the trials whose values of a metric cannot be believed."""
    return frozenset(doubted.trial for doubted in case.doubted) | _times_doubted(case, line)


def disturbed(case: CaseSummary, line: MetricSummary) -> frozenset[int]:
    """Return the numbers of the trials whose values of a line have ratios to others alike."""
    noisy = frozenset(it.trial for it in case.doubted if it.disturbed and it.used)
    return noisy - _times_doubted(case, line)


def _times_doubted(case: CaseSummary, line: MetricSummary) -> frozenset[int]:
    trials = case.latency_doubted
    return frozenset(it.trial for it in trials if any(speaks_of(row, line) for row in it.checks))
