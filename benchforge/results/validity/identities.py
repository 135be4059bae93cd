"""Identities of the numbers of a load; of a rounded value, callers give the fitting end."""

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

MORE = 1.02
"By what factor two clocks may differ: that of the tool, and ours."
_PERCENT = 100.0


def falling(percentiles: Mapping[float, tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """Yield each percent whose highest value is below the lowest of a lower percent, after that."""
    highest_at, least = 0.0, -math.inf
    for percent, (low, high) in sorted(percentiles.items()):
        if high < least:
            yield highest_at, percent
        if low > least:
            highest_at, least = percent, low


def mean_at_least(percentiles: Mapping[float, float], samples: float = math.inf) -> float:
    """Return what a mean is at least; tools differ in a percentile's rank, by 2 samples at most."""
    total = reached = 0.0
    for percent, value in sorted(percentiles.items()):
        total += max(0.0, value - reached) * max(0.0, 1 - percent / _PERCENT - 2 / samples)
        reached = max(reached, value)
    return total


def mean_at_most(percentiles: Mapping[float, float], samples: float = math.inf) -> float:
    """Return what a mean is at most; the last percentile is the maximum."""
    first, *_ = ordered = sorted(percentiles.items())
    return first[1] + sum(
        max(0.0, later - earlier) * min(1.0, 1 - percent / _PERCENT + 2 / samples)
        for (percent, earlier), (_, later) in pairwise(ordered)
    )


def statistics_of(values: Sequence[float]) -> dict[str, float | None]:
    """Return the statistics of measured values by name; a single one has no deviation."""
    return {
        "median": statistics.median(values),
        "lowest": min(values),
        "highest": max(values),
        "mean": statistics.mean(values),
        "sd": statistics.stdev(values) if len(values) > 1 else None,
    }
