"""Numbers of blocks, planned from a deviation."""

import math
from collections.abc import Sequence

from benchforge.stats.distributions import normal_quantile, t_quantile
from benchforge.stats.inference.interval import LEAST, check, deviation


def resolved(sd: float, n: int, power: float = 0.8, level: float = 0.95) -> float:
    """Return the log-ratio that n blocks find with this power; `sd` is that of log-ratios.

    Raises ValueError for a deviation that is not positive, fewer than 2 blocks, and a power or a
    level outside 0..1.
    """
    _positive(sd, "deviation")
    df = n - 1
    return (t_quantile((1 + level) / 2, df) + t_quantile(power, df)) * sd / math.sqrt(n)


def blocks_for(effect: float, sd: float, power: float = 0.8, level: float = 0.95) -> int:
    """Return how many blocks find a log-ratio of this size with this power; at least 3.

    Raises ValueError for an effect that is not positive, and as `resolved` does.
    """
    _positive(effect, "effect")
    _positive(sd, "deviation")
    normal = normal_quantile((1 + level) / 2) + normal_quantile(power)
    # Student's quantiles are above the normal ones: no smaller number can be enough.
    n = max(LEAST, math.ceil((normal * sd / effect) ** 2))
    while resolved(sd, n, power, level) > effect:
        n += 1
    return n


def planned(first: Sequence[float], target: float, level: float = 0.95) -> int:
    """Return how many blocks Stein's second stage takes in all, from the first log-ratios.

    `target` is the half-width to reach, on the log scale. Raises ValueError for fewer than 3
    log-ratios, some that are not finite, and a target that is not positive. Source: Stein 1945.
    """
    check(first, level)
    _positive(target, "target")
    n = len(first)
    if n < LEAST:
        raise ValueError(f"a plan takes {LEAST} blocks, not {n}")
    half = t_quantile((1 + level) / 2, n - 1) * deviation(first)
    return max(n, math.ceil((half / target) ** 2))


def _positive(number: float, quantity: str) -> None:
    if not 0 < number < math.inf:
        raise ValueError(f"the {quantity} is a positive number, not {number}")
