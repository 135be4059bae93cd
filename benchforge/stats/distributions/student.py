"""Student's t distribution, and the normal one that it tends to."""

import math
from functools import lru_cache
from statistics import NormalDist

from benchforge.stats.distributions.beta import beta_cdf

_NORMAL = NormalDist()
_MANY = 100_000  # degrees of freedom, from which a series is as exact as floats are, and fast
_CLOSE = 1e-9  # of a logarithm: the next step is as small as floats are


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
    whole = df + (square := t * t)
    if math.isinf(whole):
        return 0.0
    return beta_cdf(df / whole, df / 2, 0.5, rest=square / whole)


@lru_cache(maxsize=1024)
def t_quantile(p: float, df: float) -> float:
    """Return t with the share p of Student's t distribution below it.

    Raises ValueError for p outside 0..1 or at one of them, and as `two_sided` does.
    """
    if not 0 < p < 1:
        raise ValueError(f"no quantile of Student's t at {p}")
    return math.copysign(_upper(2 * min(p, 1 - p), df), p - 1 / 2)


def _upper(both_tails: float, df: float) -> float:
    if df > _MANY:  # Abramowitz and Stegun 26.7.5
        z = -normal_quantile(both_tails / 2)
        return z + (z**3 + z) / (4 * df) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * df**2)
    t = step = float(both_tails < 1)
    while (share := two_sided(t, df)) > both_tails:
        t *= 2
    most = math.log(4 / math.pi / df) / 2 + math.lgamma((df + 1) / 2) - math.lgamma(df / 2)
    while step > _CLOSE:  # Newton on logarithms: the share falls ever faster, so no step is too far
        step = 0.1
        if share:
            density = most - (df + 1) * math.log(math.hypot(1, t / math.sqrt(df)))
            log = math.log(share)
            step = (math.log(both_tails) - log) * math.exp(log - density) / t
        t *= math.exp(-max(step, 0.0))
        share = two_sided(t, df)
    return t
