"""Which checks of response times speak of which part of them: a median is known before a p99 is."""

import re

from benchforge.model.summary.summary import CaseSummary, MetricSummary
from benchforge.model.trial.check import Check

_USE = "latency"
_TAIL = {"E2": 99.0, "O1": 99.0}
"Checks that look at the 99th percentile where they name none; a mean depends on it."


def speaks_of(check: Check, line: MetricSummary | None) -> bool:
    """Whether a check says something of these numbers: one of response times of them alone.

    One that looks at a percentile says nothing of lower ones.
    """
    if check.invalidates == "all":
        return True
    if line is None or line.use != _USE:
        return False
    ours = _percentile(line.of or "")
    theirs = _percentile(check.component) or _TAIL.get(check.id)
    if theirs is None:
        return True
    return ours >= theirs if ours is not None else theirs <= _TAIL.get(check.id, 0)


def doubted(case: CaseSummary, line: MetricSummary) -> frozenset[int]:
    """Return the numbers of the trials whose values of a case's line are not to be believed.

    A trial may be believed, and its response times not.
    """
    of_times = (
        one.trial
        for one in case.latency_doubted
        if any(speaks_of(check, line) for check in one.checks)
    )
    return frozenset([*(one.trial for one in case.doubted), *of_times])


def disturbed(case: CaseSummary, line: MetricSummary) -> frozenset[int]:
    """Return the numbers of the trials whose values of a line have ratios to others alike."""
    times = {
        one.trial
        for one in case.latency_doubted
        if any(speaks_of(check, line) for check in one.checks)
    }
    return frozenset(one.trial for one in case.doubted if one.disturbed and one.used) - times


def _percentile(of: str) -> float | None:
    match = re.fullmatch(r"p([0-9.]+)", of)
    return float(match[1]) if match else None
