"""Student's t distribution, and the normal one that it tends to."""

import math
from functools import lru_cache
from statistics import NormalDist

from benchforge.stats.distributions.beta import beta_cdf

_NORMAL = NormalDist()
_MANY = 100_000  # degrees of freedom, from which a series is as exact as floats are, and fast


def normal_quantile(p: float) -> float:
    """Return z with the share p of the standard normal distribution below it.

    Raises statistics.StatisticsError, a ValueError, for p outside 0..1 or at one of them.
    """
    return _NORMAL.inv_cdf(p)


def two_sided(t: float, df: float) -> float:
    """Return how often |T| exceeds |t|: the p of a two-sided test.

    Raises ValueError for NaN and for df that are not positive. Source: DLMF 8.17, with
    x = df / (df + t²).
    """
    if math.isnan(t) or not 0 < df < math.inf:
        raise ValueError(f"no Student's t of {t} with {df} degrees of freedom")
    square = t * t
    if math.isinf(square):
        return 0.0
    whole = df + square
    return beta_cdf(df / whole, df / 2, 0.5, rest=square / whole)


@lru_cache(maxsize=1024)
def t_quantile(p: float, df: float) -> float:
    """Return t with the share p of Student's t distribution below it.

    Raises ValueError for p outside 0..1 or at one of them, and as `two_sided` does.
    """
    if not 0 < p < 1:
        raise ValueError(f"no quantile of Student's t at {p}")
    if p < 1 / 2:
        return -_upper(2 * p, df)
    return _upper(2 * (1 - p), df)


def _upper(both_tails: float, df: float) -> float:
    if df > _MANY:
        return _nearly_normal(-normal_quantile(both_tails / 2), df)
    low, high = 0.0, 1.0
    while two_sided(high, df) > both_tails:
        low, high = high, 2 * high
    while low < (t := (low + high) / 2) < high:
        low, high = (t, high) if two_sided(t, df) > both_tails else (low, t)
    return low


def _nearly_normal(z: float, df: float) -> float:
    """Return t from the normal quantile. Source: Abramowitz and Stegun 26.7.5."""
    return z + (z**3 + z) / (4 * df) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * df**2)
