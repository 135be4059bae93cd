"""Beta distribution, Student's t, and the normal distribution."""

import math
from functools import lru_cache
from statistics import NormalDist

_TINY = 1e-300
_EPSILON = 1e-16
_TERMS = 1_000_000


def beta_cdf(x: float, a: float, b: float, rest: float | None = None) -> float:
    """Return the share of the beta distribution below x: the regularised incomplete beta function.

    `rest` is 1 - x where it is known better than by subtraction. The relative error is about
    1e-14 up to a + b = 100 and 1e-8 at ten millions. Raises ValueError for x outside 0..1 and for
    a or b that are not positive. Source: DLMF 8.17.22, evaluated by Lentz's method.
    """
    rest = 1 - x if rest is None else rest
    if not (0 <= x <= 1 and 0 <= rest <= 1 and 0 < a < math.inf and 0 < b < math.inf):
        raise ValueError(f"no share of beta({a}, {b}) below {x}")
    if x == 0 or rest == 0:
        return float(rest == 0)
    # The fraction converges fast below the mean, so that the smaller side is what it gives.
    if x * (a + b + 2) > a + 1:
        return 1 - _front(rest, x, b, a) * _fraction(rest, b, a)
    return _front(x, rest, a, b) * _fraction(x, a, b)


def _front(x: float, rest: float, a: float, b: float) -> float:
    scale = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    return math.exp(a * math.log(x) + b * math.log(rest) + scale) / a


def _fraction(x: float, a: float, b: float) -> float:
    over = 1.0
    under = 1 / _not_zero(1 - (a + b) * x / (a + 1))
    value = under
    for m in range(1, _TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            under = 1 / _not_zero(1 + term * under)
            over = _not_zero(1 + term / over)
            value *= over * under
        if abs(over * under - 1) <= _EPSILON * 4:
            return value
    raise ArithmeticError(f"no share of beta({a}, {b}) below {x}: the fraction does not converge")


def _not_zero(number: float) -> float:
    return number if abs(number) > _TINY else _TINY


@lru_cache(maxsize=256)
def beta_quantile(p: float, a: float, b: float) -> float:
    """Return x with the share p of the beta distribution below it, as exactly as its cdf is.

    Raises ValueError for p outside 0..1, and as `beta_cdf` does.
    """
    if not 0 <= p <= 1:
        raise ValueError(f"a share is between 0 and 1, not {p}")
    if p in {0, 1}:
        return float(p)
    low, high = 0.0, 1.0
    while low < (x := (low + high) / 2) < high:
        low, high = (x, high) if beta_cdf(x, a, b) < p else (low, x)
    return high


NORMAL = NormalDist()
_MANY = 100_000  # degrees of freedom, from which a series is as exact as floats are, and fast
_CLOSE = 1e-9  # of a logarithm: the next step is as small as floats are


def two_sided(t: float, df: float) -> float:
    """Return how often |T| exceeds |t|: the p of a two-sided test.

    Raises ValueError for NaN and for df that are not positive. Source: DLMF 8.17, with
    x = df / (df + t²).
    """
    if math.isnan(t) or not 0 < df < math.inf:
        raise ValueError(f"no Student's t of {t} with {df} degrees of freedom")
    total = df + (square := t * t)
    if math.isinf(total):
        return 0.0
    return beta_cdf(df / total, df / 2, 0.5, rest=square / total)


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
        z = -NORMAL.inv_cdf(both_tails / 2)
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
