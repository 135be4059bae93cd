"""The same case twice: what differs less than these two cannot be told apart here today."""

from benchforge.model.summary.doubts import disturbed, doubted
from benchforge.model.summary.summary import CaseSummary, MetricSummary, Placebo
from benchforge.model.summary.verdict import Estimate
from benchforge.stats.inference.ratio import ratio
from benchforge.stats.summary.line import by_place, paired

LEVEL = 0.99


def placebo(first: CaseSummary, again: CaseSummary, believed: frozenset[int]) -> Placebo:
    """Return what tells a case from itself: of the first metric that has values in both.

    `believed` has the numbers of the trials that count.
    """
    for line in first.metrics:
        for other in again.metrics:
            if (other.metric, other.of) == (line.metric, line.of):
                ours, theirs = paired(
                    by_place(other, believed - doubted(again, other), disturbed(again, other)),
                    by_place(line, believed - doubted(first, line), disturbed(first, line)),
                )
                if ours:
                    return _placebo(first, again, line, ratio(ours, theirs, LEVEL))
    why = "no block has believed values of both"
    none = Estimate(method="paired t of log-ratios", level=LEVEL, n=0, why=why)
    return _placebo(first, again, None, none)


def _placebo(
    first: CaseSummary, again: CaseSummary, line: MetricSummary | None, estimate: Estimate
) -> Placebo:
    apart = None
    if estimate.low is not None and estimate.high is not None:
        apart = max(estimate.high, 1 / estimate.low) - 1
    metric = "" if line is None else line.metric
    return Placebo(case=first.case, repeated=again, metric=metric, ratio=estimate, noise=apart)
