"""The same case twice: what differs less than these two cannot be told apart here today."""

from collections.abc import Sequence

from benchforge.model.summary import CaseSummary, Line, Placebo
from benchforge.model.verdict import Estimate
from benchforge.stats.compare import ratio

LEVEL = 0.99


def placebo(first: CaseSummary, again: CaseSummary, believed: frozenset[int]) -> Placebo:
    """Return what tells a case from itself: of the first metric that has values in both.

    `believed` has the numbers of the trials that count.
    """
    for line in first.lines:
        for other in again.lines:
            if (other.metric, other.of) == (line.metric, line.of):
                ours, theirs = _paired(other, line, believed)
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


def _paired(
    ours: Line, theirs: Line, believed: frozenset[int]
) -> tuple[Sequence[float], Sequence[float]]:
    """Return the values of the blocks that have both, in the order of the blocks."""
    one, other = _by_block(ours, believed), _by_block(theirs, believed)
    blocks = sorted(one.keys() & other.keys())
    return [one[block] for block in blocks], [other[block] for block in blocks]


def _by_block(line: Line, believed: frozenset[int]) -> dict[int, float]:
    return {
        one.block: one.sample.value
        for one in line.samples
        if one.trial in believed and one.sample.value is not None and not one.sample.at_least
    }
