"""How fast a pair of cases is: head over base, in the blocks whose trials can be compared."""

from typing import NamedTuple

from benchforge.model.summary.doubts import disturbed, doubted
from benchforge.model.summary.summary import CaseSummary, MetricSummary
from benchforge.model.summary.verdict import Estimate
from benchforge.stats.inference.ratio import ratio
from benchforge.stats.summary.level import left_to, levelled_places
from benchforge.stats.summary.line import Place, by_place, paired


class PairRatio(NamedTuple):
    """The ratio of a pair in its first metric."""

    line: MetricSummary
    plain: Estimate
    "Head over base."
    levelled: Estimate
    "The same, had others left both sides as much of the CPUs."


def pair_ratio(head: CaseSummary, base: CaseSummary) -> PairRatio | None:
    """Return the ratio; None where a side has no metric."""
    if not head.metrics:
        return None
    line = head.metrics[0]
    same = (each for each in base.metrics if (each.metric, each.of) == (line.metric, line.of))
    other = next(same, None)
    if other is None:
        return None
    ours, theirs = _places(head, line), _places(base, other)
    level = levelled_places(ours, left_to(head), line.better)
    base_level = levelled_places(theirs, left_to(base), line.better)
    return PairRatio(line, ratio(*paired(ours, theirs)), ratio(*paired(level, base_level)))


def _places(case: CaseSummary, line: MetricSummary) -> dict[Place, float]:
    left_out = doubted(case, line)
    believed = {one.trial for one in line.samples} - left_out
    return by_place(line, believed, disturbed(case, line))
