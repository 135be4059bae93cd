"""Changes of results over time: one level each between two changes.

Source: optimal partitioning (Jackson et al., 2005) with a penalty of 8 ln m; Welch's t (1947)
confirms each change. The data chose the place, so the p is too small: no test at a level.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, median, variance
from typing import Final

from benchforge.stats.distributions import two_sided
from benchforge.stats.timeseries.trend import partition

LEAST: Final = 20
SMALLEST: Final = 0.03
"The smallest change to report, as a share."
SURE: Final = 0.001

_PENALTY: Final = 8.0
_FEWEST: Final = 3  # results of a level
_FAR: Final = 8.0  # standard deviations: what lies further from its neighbours counts as there
_BESIDE: Final = 2  # neighbours to each side: a level of three is seen by its own
_NORMAL: Final = 1.4826  # standard deviations of a normal distribution in a median deviation
_MOST: Final = 700.0  # of a logarithm: no float holds more
_FINEST: Final = 1e-6  # of a logarithm: what is left of equal values


@dataclass(frozen=True)
class LevelChange:
    """A change of the level."""

    at: int
    "The first value of the new level, from 0."
    ratio: float
    "The new level over the old one."
    p: float
    "p value of Welch's t; too small, since the data chose the place."


def steps(logs: Sequence[float]) -> list[LevelChange]:
    """Return where the level of logarithms changes, in order. Raises ValueError below LEAST."""
    if len(logs) < LEAST:
        raise ValueError(f"{len(logs)} results: it takes {LEAST}")
    if not all(map(math.isfinite, logs)):
        raise ValueError("a value is not finite")
    edges = [0, *partition(_scaled(logs), _PENALTY * math.log(len(logs)), _FEWEST), len(logs)]
    changes = []
    for (start, middle), (_, end) in pairwise(pairwise(edges)):
        earlier, later = logs[start:middle], logs[middle:end]
        moved, p = fmean(later) - fmean(earlier), welch(earlier, later)
        if abs(moved) >= math.log1p(SMALLEST) and p < SURE:
            changes.append(LevelChange(middle, math.exp(max(-_MOST, min(_MOST, moved))), p))
    return changes


def welch(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the two-sided p of Welch's t: that two levels are one, whatever their deviations.

    Without deviations it is 0 or 1. Raises ValueError for fewer than two values.
    """
    first_error, theirs = variance(first) / len(first), variance(second) / len(second)
    apart, error = fmean(first) - fmean(second), first_error + theirs
    if error < _FINEST**2:
        return float(abs(apart) < _FINEST)
    df = error**2 / (first_error**2 / (len(first) - 1) + theirs**2 / (len(second) - 1))
    return two_sided(apart / math.sqrt(error), df)


def _scaled(logs: Sequence[float]) -> list[float]:
    """Return values in robust deviations, each at most _FAR of them from its neighbours' median."""
    moves = [later - earlier for earlier, later in pairwise(logs)]
    middle = median(moves)
    rough = _NORMAL * median(abs(move - middle) for move in moves) / math.sqrt(2)
    scale = max(rough, _FINEST)
    near = [median(logs[max(0, nth - _BESIDE) : nth + _BESIDE + 1]) for nth in range(len(logs))]
    pairs = zip(logs, near, strict=True)
    return [level / scale + max(-_FAR, min(_FAR, (log - level) / scale)) for log, level in pairs]
