"""Whether two means differ, of few values with different noise. Source: Welch 1947."""

import math
import statistics
from collections.abc import Sequence
from typing import NamedTuple

from benchforge.stats.distributions.student import t_quantile
from benchforge.stats.inference.interval import LEAST


class Welch(NamedTuple):
    """Two means, and the half-width of the interval of their difference."""

    first: float
    second: float
    half: float

    @property
    def difference(self) -> float:
        """The first less the second."""
        return self.first - self.second


def welch(first: Sequence[float], second: Sequence[float], level: float) -> Welch | None:
    """Return two means and how closely their difference is known; None for too few values."""
    if min(len(first), len(second)) < LEAST:
        return None
    squares = [statistics.variance(side) / len(side) for side in (first, second)]
    total = sum(squares)
    means = statistics.fmean(first), statistics.fmean(second)
    if total == 0:
        return Welch(*means, 0.0)
    sizes = len(first), len(second)
    shares = sum(one**2 / (n - 1) for one, n in zip(squares, sizes, strict=True))
    return Welch(*means, t_quantile((1 + level) / 2, total**2 / shares) * math.sqrt(total))
