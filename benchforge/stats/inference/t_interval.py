"""Intervals of values that may be zero or less: differences, and what has no logarithm."""

import math
from collections.abc import Sequence

from benchforge.model.summary.verdict import Estimate, Method
from benchforge.stats.distributions.student import t_quantile
from benchforge.stats.inference.interval import LEAST, check, deviation, equal, mean


def t_of_values(values: Sequence[float], method: Method, level: float = 0.95) -> Estimate:
    """Return the mean of one value a block, by Student's t on the values, n - 1 df.

    Raises ValueError for values that are not finite and for a level outside 0..1.
    """
    check(values, level)
    n = len(values)
    if n == 0:
        return Estimate(method=method, level=level, n=0, why="no block has a value")
    middle = mean(values)
    if n < LEAST:
        blocks = "block has" if n == 1 else "blocks have"
        why = f"{n} {blocks} no interval: it takes {LEAST}"
        return Estimate(method=method, level=level, n=n, value=middle, why=why)
    sd = deviation(values)
    # What is left of equal values after rounding: `deviation` knows it of numbers around 1 only.
    if sd == 0 or len(set(values)) == 1:
        return Estimate(method=method, level=level, n=n, value=middle, why=equal(n))
    half = t_quantile((1 + level) / 2, n - 1) * sd / math.sqrt(n)
    return Estimate(
        method=method,
        level=level,
        n=n,
        value=middle,
        low=middle - half,
        high=middle + half,
        df=n - 1,
        sd=sd,
    )
