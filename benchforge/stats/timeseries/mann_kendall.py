"""Whether a series rises or falls, without regard to a few wild values."""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from statistics import NormalDist


def mann_kendall(values: Sequence[float], inflation: float = 1.0) -> float:
    """Return the p of no trend, two-sided, from the normal approximation.

    `inflation` is what the variance is multiplied by where neighbours resemble one another. Equal
    values say nothing for a trend: p is 1. Source: Mann 1945, Kendall 1975, ties as there.
    """
    size = len(values)
    rising = sum(
        (later > earlier) - (later < earlier) for earlier, later in combinations(values, 2)
    )
    variance = _pairs(size) - sum(_pairs(count) for count in Counter(values).values())
    if variance <= 0 or rising == 0:
        return 1.0
    z = (abs(rising) - 1) / math.sqrt(variance / 18 * inflation)
    return min(1.0, 2 * (1 - NormalDist().cdf(z)))


def _pairs(count: int) -> int:
    return count * (count - 1) * (2 * count + 5)
