"""The interval of Hodges and Lehmann, from exact counts of signed ranks.

It needs no distribution but that differences lie evenly around their middle. Source: Hollander
and Wolfe, Nonparametric Statistical Methods, chapter 3.
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import combinations_with_replacement
from typing import Final, TypeVar

from benchforge.model.summary.verdict import Estimate
from benchforge.stats.inference.interval import (
    Basis,
    Scale,
    deviation,
    equal,
    estimate,
    exp,
    no_logs,
    no_value,
    t_of_logs,
)
from benchforge.text.readable import counted, percent

_PAIRED: Final = "paired t of log-ratios"
_METHOD: Final = "Hodges-Lehmann"
_Place = TypeVar("_Place", int, tuple[int, bool])
_MOST = 200  # blocks whose ranks are counted exactly within a second


def ratio(numerator: Sequence[float], theirs: Sequence[float], level: float = 0.95) -> Estimate:
    """Return ours / theirs: Student's t on the log-ratios of the blocks, n - 1 df.

    Both hold one value a block, in the order of the blocks. Raises ValueError for different
    lengths, values that are not finite and a level outside 0..1.
    """
    none = no_logs(_PAIRED, level, numerator, theirs)
    return none or t_of_logs(log_ratios(numerator, theirs), _PAIRED, level)


def companion(numerator: Sequence[float], theirs: Sequence[float], level: float = 0.95) -> Estimate:
    """Return ours / theirs as one outlier cannot move it: Hodges and Lehmann, 6 blocks or more.

    It accompanies `ratio`, and does not replace it: it also hides stalls that are a server's own.
    Raises as `ratio` does.
    """
    none = no_logs(_METHOD, level, numerator, theirs)
    return none or hodges_lehmann(log_ratios(numerator, theirs), level)


def paired(
    first: Mapping[_Place, float], theirs: Mapping[_Place, float]
) -> tuple[list[float], list[float]]:
    """Return the values of the blocks or places that have both, in their order."""
    blocks = sorted(first.keys() & theirs.keys())
    return [first[block] for block in blocks], [theirs[block] for block in blocks]


def log_ratios(numerator: Sequence[float], theirs: Sequence[float]) -> list[float]:
    """Return ln(ours / theirs) of each block. Raises ValueError for values without logarithm."""
    return [math.log(our) - math.log(their) for our, their in zip(numerator, theirs, strict=True)]


def hodges_lehmann(values: Sequence[float], level: float = 0.95, scale: Scale = exp) -> Estimate:
    """Return exp of the median of all Walsh averages, and the exact interval around it.

    `scale` is float for differences and such, which are no logarithms. `achieved_level` is the
    exact level, at least `level`. Too few blocks cannot reach a level: 95 % takes 6.
    """
    n = len(values)
    basis = Basis(_METHOD, level, n)
    if not values:
        return no_value(basis)
    if n > _MOST:
        reason = f"ranks of more than {_MOST} blocks are not counted"
        return estimate(median_average(sorted(values)), basis, why=reason, scale=scale)
    averages = sorted((a + b) / 2 for a, b in combinations_with_replacement(values, 2))
    middle, cut = statistics.median(averages), outside(n, level)
    if cut is None:
        reason = f"{counted(n, 'block')} cannot give {percent(level)}"
        return estimate(middle, basis, why=reason, scale=scale)
    if n > 1 and deviation(values) == 0:
        return estimate(middle, basis, why=equal(n), scale=scale)
    basis = basis._replace(achieved_level=achieved(n, cut))
    return estimate(middle, basis, (averages[cut], averages[-1 - cut]), scale=scale)


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
