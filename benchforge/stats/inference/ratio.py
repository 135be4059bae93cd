"""How many times as much as the other: paired by block, since drift is common to a block."""

import math
from collections.abc import Sequence
from typing import Final

from benchforge.model.summary.verdict import Estimate
from benchforge.stats.inference.hodges_lehmann import hodges_lehmann
from benchforge.stats.inference.interval import check, t_of_logs, why_no_logs

_METHOD: Final = "paired t of log-ratios"


def ratio(ours: Sequence[float], theirs: Sequence[float], level: float = 0.95) -> Estimate:
    """Return ours / theirs: Student's t on the log-ratios of the blocks, n - 1 df.

    Both hold one value a block, in the order of the blocks. Raises ValueError for different
    lengths, values that are not finite and a level outside 0..1.
    """
    check([*ours, *theirs], level)
    return why_no_logs(_lower(ours, theirs), _METHOD, level) or t_of_logs(
        log_ratios(ours, theirs), _METHOD, level
    )


def companion(ours: Sequence[float], theirs: Sequence[float], level: float = 0.95) -> Estimate:
    """Return ours / theirs as one outlier cannot move it: Hodges and Lehmann, 6 blocks or more.

    It accompanies `ratio`, and does not replace it: it also hides stalls that are a server's own.
    Raises as `ratio` does.
    """
    check([*ours, *theirs], level)
    return why_no_logs(_lower(ours, theirs), "Hodges-Lehmann", level) or hodges_lehmann(
        log_ratios(ours, theirs), level
    )


def log_ratios(ours: Sequence[float], theirs: Sequence[float]) -> list[float]:
    """Return ln(ours / theirs) of each block. Raises ValueError for what has no logarithm."""
    return [math.log(our) - math.log(their) for our, their in zip(ours, theirs, strict=True)]


def _lower(ours: Sequence[float], theirs: Sequence[float]) -> list[float]:
    return [min(both) for both in zip(ours, theirs, strict=True)]
