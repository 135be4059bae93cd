"""Slopes that a few wild points do not move."""

import itertools
import statistics
from collections.abc import Sequence

ENOUGH = 5
_MOST = 200  # points: all pairs of more take too long


def theil_sen(points: Sequence[tuple[float, float]]) -> float | None:
    """Return the median slope of all pairs of points; None where no two differ in x.

    Of more than 200 points every so many are taken. Source: Sen, JASA 63 (1968) 1379-1389.
    """
    sampled = points[:: -(-len(points) // _MOST)] if points else points
    slopes = [
        (above - below) / (after - before)
        for (before, below), (after, above) in itertools.combinations(sampled, 2)
        if after != before
    ]
    return statistics.median(slopes) if slopes else None


def growth(points: Sequence[tuple[float, float]], seconds: float) -> float | None:
    """Return by what share a quantity grew in `seconds`: the slope times them, over the median.

    None for fewer than five points, or where the median is 0.
    """
    if len(points) < ENOUGH or not (middle := statistics.median(y for _, y in points)):
        return None
    slope = theil_sen(points)
    return None if slope is None else slope * seconds / middle
