"""The interval of Hodges and Lehmann, from exact counts of signed ranks.

It needs no distribution but that differences lie evenly around their middle. Source: Hollander
and Wolfe, Nonparametric Statistical Methods, chapter 3.
"""

import math
import statistics
from collections.abc import Sequence
from functools import lru_cache, partial
from itertools import combinations_with_replacement
from typing import Final, NamedTuple

from benchforge.model.summary.verdict import Estimate
from benchforge.stats.inference.interval import (
    Basis,
    check,
    deviation,
    equal,
    estimate,
    t_of_logs,
    why_no_logs,
)
from benchforge.text.readable import counted, percent

_PAIRED: Final = "paired t of log-ratios"
_METHOD: Final = "Hodges-Lehmann"
_MOST = 200  # blocks whose ranks are counted exactly within a second


def ratio(numerator: Sequence[float], theirs: Sequence[float], level: float = 0.95) -> Estimate:
    """Return ours / theirs: Student's t on the log-ratios of the blocks, n - 1 df.

    Both hold one value a block, in the order of the blocks. Raises ValueError for different
    lengths, values that are not finite and a level outside 0..1.
    """
    check([*numerator, *theirs], level)
    without = why_no_logs(_lower(numerator, theirs), _PAIRED, level)
    return without or t_of_logs(log_ratios(numerator, theirs), _PAIRED, level)


def companion(numerator: Sequence[float], theirs: Sequence[float], level: float = 0.95) -> Estimate:
    """Return ours / theirs as one outlier cannot move it: Hodges and Lehmann, 6 blocks or more.

    It accompanies `ratio`, and does not replace it: it also hides stalls that are a server's own.
    Raises as `ratio` does.
    """
    check([*numerator, *theirs], level)
    without = why_no_logs(_lower(numerator, theirs), _METHOD, level)
    return without or hodges_lehmann(log_ratios(numerator, theirs), level)


def log_ratios(numerator: Sequence[float], theirs: Sequence[float]) -> list[float]:
    """Return ln(ours / theirs) of each block. Raises ValueError for values without logarithm."""
    return [math.log(our) - math.log(their) for our, their in zip(numerator, theirs, strict=True)]


def _lower(numerator: Sequence[float], theirs: Sequence[float]) -> list[float]:
    return [min(pair) for pair in zip(numerator, theirs, strict=True)]


def hodges_lehmann(log_ratios: Sequence[float], level: float = 0.95) -> Estimate:
    """Return exp of the median of all Walsh averages, and the exact interval around it.

    `achieved` is the exact level, at least `level`. Too few blocks cannot reach a level: 95 %
    takes 6.
    """
    if not log_ratios:
        return Estimate(method=_METHOD, level=level, n=0, why="no block has a value")
    centre = _centre(log_ratios, level)
    basis = Basis(_METHOD, level, len(log_ratios))
    return estimate(centre.middle, basis, centre.ends, achieved=centre.achieved, reason=centre.why)


def of_values(values: Sequence[float], level: float = 0.95) -> Estimate:
    """Return the same of differences and such, without exp. Raises ValueError without values."""
    if not values:
        raise ValueError("no block has a value")
    centre = _centre(values, level)
    low, high = centre.ends or (None, None)
    at_level = partial(Estimate, method=_METHOD, level=level, achieved_level=centre.achieved)
    return at_level(n=len(values), value=centre.middle, low=low, high=high, why=centre.why)


class _Centre(NamedTuple):
    middle: float
    ends: tuple[float, float] | None
    achieved: float | None
    why: str
    "Reason why there are no ends."


def _centre(values: Sequence[float], level: float) -> _Centre:
    n = len(values)
    if n > _MOST:
        reason = f"ranks of more than {_MOST} blocks are not counted"
        return _Centre(median_average(sorted(values)), None, None, reason)
    averages = sorted((a + b) / 2 for a, b in combinations_with_replacement(values, 2))
    middle = statistics.median(averages)
    cut = outside(n, level)
    if cut is None:
        return _Centre(middle, None, None, f"{counted(n, 'block')} cannot give {percent(level)}")
    if n > 1 and deviation(values) == 0:
        return _Centre(middle, None, None, equal(n))
    return _Centre(middle, (averages[cut], averages[-1 - cut]), achieved(n, cut), "")


def median_average(ordered: Sequence[float]) -> float:
    """Return the median of all Walsh averages without a list: of 2,500 values it takes 100 MB."""
    count = len(ordered) * (len(ordered) + 1) // 2
    return (_average(ordered, (count + 1) // 2) + _average(ordered, count // 2 + 1)) / 2


def _average(ordered: Sequence[float], rank: int) -> float:
    """Return the Walsh average of a rank, from 1: the lowest number that `rank` do not exceed."""
    low, high = ordered[0], ordered[-1]
    while low < (middle := (low + high) / 2) < high:
        if _up_to(ordered, middle) < rank:
            low = middle
        else:
            high = middle
    return high if _up_to(ordered, low) < rank else low


def _up_to(ordered: Sequence[float], limit: float) -> int:
    """Return how many Walsh averages do not exceed a limit."""
    count, last = 0, len(ordered) - 1
    for first, value in enumerate(ordered):
        while last >= first and (value + ordered[last]) / 2 > limit:
            last -= 1
        if last < first:
            break
        count += last - first + 1
    return count


@lru_cache(maxsize=256)
def outside(n: int, level: float) -> int | None:
    """Return how many averages to leave out at each end; None where n cannot give the level.

    It is the largest v with P(V+ <= v) <= (1 - level) / 2.
    """
    tail = (1 - level) / 2 * (1 << n)
    count_ = 0
    for v, count in enumerate(counts(n)):
        count_ += count
        if count_ > tail:
            return v - 1 if v else None
    return None


def achieved(n: int, cut: int) -> float:
    """Return the exact level of the interval that leaves out `cut` averages at each end."""
    return 1 - 2 * sum(counts(n)[: cut + 1]) / (1 << n)


@lru_cache(maxsize=256)
def counts(n: int) -> tuple[int, ...]:
    """Return in how many of the 2^n assignments of signs V+, the sum of positive ranks, is v."""
    ways = [1]
    for rank in range(1, n + 1):
        shifted = [0] * rank + ways
        ways = [a + b for a, b in zip(ways + [0] * rank, shifted, strict=True)]
    return tuple(ways)
