"""What a mean and a deviation can be, given percentiles and extremes."""

import math
from collections.abc import Iterator, Mapping
from itertools import pairwise

_PERCENT = 100.0


def falling(percentiles: Mapping[float, tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """Yield each percent whose value is below that of a lower percent, after that percent.

    A value is the lowest and the highest that it may be.
    """
    highest_at, least = 0.0, -math.inf
    for percent, (low, high) in sorted(percentiles.items()):
        if high < least:
            yield highest_at, percent
        if low > least:
            highest_at, least = percent, low


def mean_at_most(percentiles: Mapping[float, float], samples: float = math.inf) -> float:
    """Return what a mean is at most; the last percentile is the maximum."""
    first, *_ = ordered = sorted(percentiles.items())
    steps = pairwise(ordered)
    return first[1] + sum(
        max(0.0, after - before) * min(1.0, 1 - percent / _PERCENT + 2 / samples)
        for (percent, before), (_, after) in steps
    )


def deviation_at_most(least: float, mean: float, most: float, samples: float) -> float:
    """Return what a standard deviation is at most (Bhatia and Davis), also with n - 1."""
    variance = max(0.0, most - mean) * max(0.0, mean - least)
    return math.sqrt(variance * samples / (samples - 1) if samples > 1 else variance)
