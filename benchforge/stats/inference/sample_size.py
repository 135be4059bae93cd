"""How many blocks: planned from a deviation, or stopped when intervals are narrow enough.

Whether an interval excludes 1 is never looked at: who stops on that finds a false difference in 17
to 25 % of comparisons.
"""

import math
from collections.abc import Sequence

from benchforge.model.summary.verdict import Estimate, StopDecision
from benchforge.stats.distributions import normal_quantile, t_quantile
from benchforge.stats.inference.interval import LEAST, check, deviation
from benchforge.text.readable import percent


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


def enough(
    estimates: Sequence[Estimate], n: int, target: float = 0.03, least: int = 8, most: int = 30
) -> StopDecision:
    """Return whether to stop after n whole blocks: the rule behind `until = "3%"`.

    `estimates` are the ratios that somebody asked for, or the typical values where nobody asked
    for a ratio; `target` is the widest half-width on the log scale. One that has no interval after
    the least number of blocks (a value is 0, all are equal) is not waited for, since no further
    block promises one; the target is then not reached. One that rests on less than the least
    number is: it would be looked at too early.

    Raises ValueError for a target that is not positive and where not 3 <= least <= most.
    """
    _positive(target, "target")
    if not LEAST <= least <= most:
        raise ValueError(f"between {least} and {most} blocks: not {LEAST} or more in order")
    halves = [half for estimate in estimates if (half := half_width(estimate)) is not None]
    widest = max(halves, default=None)
    last = f"repeat.between = [{least}, {most}] allows no more, and " if n >= most else ""
    if n < least:
        reason = f"{n} of at least {least} blocks"
        return StopDecision(blocks=n, stop=False, half_width=widest, why=reason)
    if few := [estimate.n for estimate in estimates if estimate.n < least]:
        reason = (
            f"{last}{min(few)} of at least {least} blocks are believed of two that are compared"
        )
        return StopDecision(blocks=n, stop=n >= most, half_width=widest, why=reason)
    if widest is not None and widest > target:
        wide = f"an interval is {percent(widest)} wide to a side"
        reason = f"{last}{wide}, more than {percent(target)}"
        return StopDecision(blocks=n, stop=n >= most, half_width=widest, why=reason)
    if len(halves) < len(estimates) or widest is None:
        without = next(
            (estimate.why for estimate in estimates if not estimate.interval),
            "nothing was asked for",
        )
        reason = f"no block will tell more: {without}"
        return StopDecision(blocks=n, stop=True, half_width=widest, why=reason)
    reason = f"no interval is wider than {percent(widest)} to a side"
    return StopDecision(blocks=n, stop=True, reached=True, half_width=widest, why=reason)


def half_width(estimate: Estimate) -> float | None:
    """Return how far an interval reaches to a side, on the log scale; None without one."""
    if estimate.low is None or estimate.high is None:
        return None
    return (math.log(estimate.high) - math.log(estimate.low)) / 2


def _positive(number: float, quantity: str) -> None:
    if not 0 < number < math.inf:
        raise ValueError(f"the {quantity} is a positive number, not {number}")
