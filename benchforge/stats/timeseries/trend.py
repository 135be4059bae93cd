"""Trends and changes of level in a series."""

import math
import statistics
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate, combinations, pairwise
from typing import Final

from benchforge.stats.distributions import NORMAL

ENOUGH = 5
_MOST = 200  # points: all pairs of more take too long


def theil_sen(points: Sequence[tuple[float, float]]) -> float | None:
    """Return the median slope of all pairs of points; None where no two differ in x.

    Of more than 200 points it takes every k-th. Source: Sen, JASA 63 (1968) 1379-1389.
    """
    sampled = points[:: -(-len(points) // _MOST)] if points else points
    slopes = [
        (higher - below) / (later - earlier)
        for (earlier, below), (later, higher) in combinations(sampled, 2)
        if later != earlier
    ]
    return statistics.median(slopes) if slopes else None


def growth(points: Sequence[tuple[float, float]], seconds: float) -> float | None:
    """Return the share by which a quantity grew in `seconds`: slope times seconds, over the median.

    None for fewer than five points, or where the median is 0.
    """
    if len(points) < ENOUGH or not (middle := statistics.median(y for _, y in points)):
        return None
    slope = theil_sen(points)
    return None if slope is None else slope * seconds / middle


def mann_kendall(values: Sequence[float], inflation: float = 1.0) -> float:
    """Return the p of no trend, two-sided, from the normal approximation.

    `inflation` is what the variance is multiplied by where neighbours resemble one another. Equal
    values say nothing for a trend: p is 1. Source: Mann 1945, Kendall 1975, ties as there.
    """
    size = len(values)
    rising = sum((second > first) - (second < first) for first, second in combinations(values, 2))
    variance = _pairs(size) - sum(_pairs(count) for count in Counter(values).values())
    if variance <= 0 or rising == 0:
        return 1.0
    z = (abs(rising) - 1) / math.sqrt(variance / 18 * inflation)
    return min(1.0, 2 * (1 - NORMAL.cdf(z)))


def _pairs(count: int) -> int:
    return count * (count - 1) * (2 * count + 5)


LEAST: Final = 8
"Values. The distribution of the ratio is near enough to normal from there on."


def resemblance(values: Sequence[float]) -> float | None:
    """Return the one-sided p that values are independent of their neighbours; small: they drift.

    It is the ratio of von Neumann on the ranks of the values, which no outlier moves, with the
    normal approximation of Bartels (1982), J. Am. Statist. Assoc. 77. Without noise of its own a
    trend is a resemblance, too. None for fewer than eight values, and where some are equal.
    """
    size = len(values)
    if size < LEAST or len(set(values)) < size:
        return None
    ranks = {value: rank for rank, value in enumerate(sorted(values))}
    moves = [ranks[later] - ranks[earlier] for earlier, later in pairwise(values)]
    squares = size * (size**2 - 1) / 12
    divisor = 5 * size * (size + 1) * (size - 1) ** 2
    variance = 4 * (size - 2) * (5 * size**2 - 2 * size - 9) / divisor
    ratio = sum(move * move for move in moves) / squares
    return NORMAL.cdf((ratio - 2) / math.sqrt(variance))


def partition(values: Sequence[float], penalty: float, least: int) -> list[int]:
    """Return where pieces begin, the first (at 0) left out; none where one level is cheapest.

    A piece costs the squares of its distances from its mean, and each change the penalty, in the
    values' unit squared. No piece is shorter than `least`. Source: optimal partitioning (Jackson
    et al., 2005); exact, in squared time.
    """
    size = len(values)
    sums = [0.0, *accumulate(values)]
    squares = [0.0, *accumulate(value * value for value in values)]
    best = [-penalty] + [math.inf] * size
    last = [0] * (size + 1)
    for end in range(least, size + 1):
        total, square = sums[end], squares[end]
        for start in (0, *range(least, end - least + 1)):
            rest = total - sums[start]
            cost = best[start] + square - squares[start] - rest * rest / (end - start) + penalty
            if cost < best[end]:
                best[end], last[end] = cost, start
    starts: list[int] = []
    end = size if size >= least else 0
    while end:
        end = last[end]
        starts.append(end)
    return starts[-2::-1]  # the first piece begins at 0
