"""The same case twice: what differs less than these two cannot be told apart here today."""

from benchforge.model.summary import CaseSummary, Line, Placebo
from benchforge.model.times import doubted
from benchforge.model.verdict import Estimate
from benchforge.stats.compare import ratio
from benchforge.stats.line import by_block, paired

LEVEL = 0.99


def placebo(first: CaseSummary, again: CaseSummary, believed: frozenset[int]) -> Placebo:
    """Return what tells a case from itself: of the first metric that has values in both.

    `believed` has the numbers of the trials that count.
    """
    for line in first.lines:
        for other in again.lines:
            if (other.metric, other.of) == (line.metric, line.of):
                ours, theirs = paired(
                    by_block(other, believed - doubted(again, other)),
                    by_block(line, believed - doubted(first, line)),
                )
                if ours:
                    return _placebo(first, again, line, ratio(ours, theirs, LEVEL))
    why = "no block has believed values of both"
    none = Estimate(method="paired t of log-ratios", level=LEVEL, n=0, why=why)
    return _placebo(first, again, None, none)


def _placebo(first: CaseSummary, again: CaseSummary, line: Line | None, found: Estimate) -> Placebo:
    apart = None
    if found.low is not None and found.high is not None:
        apart = max(found.high, 1 / found.low) - 1
    metric = "" if line is None else line.metric
    return Placebo(of=first.case, again=again, metric=metric, ratio=found, apart=apart)
