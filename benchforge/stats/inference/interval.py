"""The interval of a typical value, on the logarithms of the blocks' values; numbers of blocks."""

import math
import statistics
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple

from benchforge.model.summary.verdict import Estimate, Method
from benchforge.stats.distributions import NORMAL, beta_quantile, t_quantile, two_sided
from benchforge.text.readable import exact

LEAST = 3
"Blocks. With two, an interval of 95 % spans nine deviations to each side."
_OF_RATIOS = "paired t of log-ratios"
PLAIN = ("paired t of differences", "t of values")
"Methods whose intervals rest on the values, and not on logarithms."
_EQUAL = 1e-12  # relative: what is left of equal values after their logarithms are subtracted


def typical(values: Sequence[float], level: float = 0.95) -> Estimate:
    """Return the geometric mean of one value a block, by Student's t on the logarithms.

    The interval is that of this session only: a machine that drifts is another one tomorrow.
    It is also how percentiles are combined: the values are then each trial's percentile.
    Raises ValueError for values that are not finite and for a level outside 0..1.
    """
    none = no_logs("t of logs", level, values)
    return none or t_of_logs([*map(math.log, values)], "t of logs", level)


def check(values: Sequence[float], level: float = 0.95) -> None:
    """Raise ValueError for a value that is not finite and for a level outside 0..1."""
    if not all(map(math.isfinite, values)):
        raise ValueError(f"a value is not finite: {list(values)}")
    if not 0 < level < 1:
        raise ValueError(f"a level is between 0 and 1, not {level}")


def no_logs(method: Method, level: float, *sides: Sequence[float]) -> Estimate | None:
    """Return the estimate that there is none, where a value has no logarithm. Raises as `check`."""
    values = [*chain(*sides)]
    check(values, level)
    if all(value > 0 for value in values):
        return None
    reason = f"a value is {exact(min(values))}: what is not above 0 has no logarithm, and no ratio"
    return Estimate(method=method, level=level, n=len(sides[0]), why=reason)


def exp(number: float) -> float | None:
    """Return e to that power; None where it is beyond all floats, or rounds to 0."""
    try:
        return math.exp(number) or None
    except OverflowError:
        return None


def t_of_logs(logs: Sequence[float], method: Method, level: float) -> Estimate:
    """Return exp of the logarithms' mean, with the interval of Student's t, n - 1 df."""
    return _student(logs, Basis(method, level, len(logs)), exp)


def t_of_values(values: Sequence[float], method: Method, level: float = 0.95) -> Estimate:
    """Return the mean of one value a block, by Student's t on the values, n - 1 df.

    Raises ValueError for values that are not finite and for a level outside 0..1.
    """
    check(values, level)
    return _student(values, Basis(method, level, len(values)), float)


class Basis(NamedTuple):
    """The basis of an interval: the method, its level, and the number of values."""

    method: Method
    level: float
    n: int
    sd: float | None = None
    "Deviation of the logarithms, or of the values."
    df: int | None = None
    p: float | None = None
    achieved_level: float | None = None


Scale = Callable[[float], float | None]
"From the numbers that an interval rests on to its ends: `exp` from logarithms, `float` else."


def _student(values: Sequence[float], basis: Basis, scale: Scale) -> Estimate:
    if not values:
        return no_value(basis)
    middle, n = mean(values), basis.n
    if n < LEAST:
        blocks = "block has" if n == 1 else "blocks have"
        return estimate(
            middle, basis, why=f"{n} {blocks} no interval: it takes {LEAST}", scale=scale
        )
    sd = deviation(values)
    # What is left of equal values after rounding: `deviation` knows it of numbers around 1 only.
    if sd == 0 or len(set(values)) == 1:
        return estimate(middle, basis, why=equal(n), scale=scale)
    return by_t(middle, sd / math.sqrt(n), basis._replace(sd=sd), scale)


def by_t(middle: float, error: float, basis: Basis, scale: Scale = exp) -> Estimate:
    """Return exp(middle), with the interval middle +- t * error; for a ratio, also the p of 1.

    `error` is the standard error of the logarithms, of n - 1 degrees of freedom.
    """
    df = basis.n - 1
    half = t_quantile((1 + basis.level) / 2, df) * error
    p = two_sided(middle / error, df) if basis.method == _OF_RATIOS else None
    return estimate(middle, basis._replace(df=df, p=p), (middle - half, middle + half), scale=scale)


def estimate(
    middle: float,
    basis: Basis,
    ends: tuple[float, float] | None = None,
    *,
    why: str = "",
    scale: Scale = exp,
) -> Estimate:
    """Return e to the power of the middle and of the ends; `why` says why there are no ends."""
    value = scale(middle)
    low, high = (None, None) if ends is None else map(scale, ends)
    if value is None or (ends and (low is None or high is None)):
        low = high = None
        why = "the values lie so far apart that no number holds the interval"
    return Estimate(**basis._asdict(), value=value, low=low, high=high, why=why)


def no_value(basis: Basis) -> Estimate:
    """Return that there is no estimate without a value."""
    return Estimate(**basis._asdict(), why="no block has a value")


def equal(n: int) -> str:
    """Return why equal values have no interval."""
    return f"all {n} are equal: how they spread is not known"


def mean(values: Sequence[float]) -> float:
    """Return the arithmetic mean. Raises ZeroDivisionError without values."""
    return math.fsum(values) / len(values)


def deviation(values: Sequence[float]) -> float:
    """Return the sample standard deviation (n - 1); 0 where only rounding tells them apart.

    Raises ZeroDivisionError for a single value.
    """
    middle = mean(values)
    sd = math.sqrt(math.fsum((value - middle) ** 2 for value in values) / (len(values) - 1))
    return sd if sd > _EQUAL * max(1.0, *map(abs, values)) else 0.0


class Welch(NamedTuple):
    """Two means, and how closely their difference is known."""

    first: float
    second: float
    half: float
    "Half-width of the interval of the difference."
    p: float
    "Two-sided p that the means are one, whatever the deviations."

    @property
    def difference(self) -> float:
        """The first less the second."""
        return self.first - self.second


def welch(first: Sequence[float], second: Sequence[float], level: float) -> Welch | None:
    """Return two means and how closely their difference is known; None for too few values.

    Without deviations the half-width is 0, and p 0 or 1.
    """
    if min(len(first), len(second)) < LEAST:
        return None
    squares = [statistics.variance(side) / len(side) for side in (first, second)]
    error, means = math.sqrt(sum(squares)), (statistics.fmean(first), statistics.fmean(second))
    sizes = len(first), len(second)
    shares = sum(square**2 / (n - 1) for square, n in zip(squares, sizes, strict=True))
    if shares == 0:
        return Welch(*means, 0.0, float(means[0] == means[1]))
    df = error**4 / shares
    p = two_sided((means[0] - means[1]) / error, df)
    return Welch(*means, t_quantile((1 + level) / 2, df) * error, p)


Failures = Sequence[tuple[int, int]]
"Of each trial or block: how many failed, of how many requests."


def failing(failures: Failures, level: float = 0.95) -> Estimate:
    """Return the share of requests that failed in all trials together, by Clopper and Pearson.

    Without a failure only the upper end is unknown: it is one-sided then, below 3 / requests for
    95 % (the rule of three). It takes requests as independent; where failures come in bursts,
    `worst` says more.

    Raises ValueError for negative counts, more failures than requests, and a level outside 0..1.
    """
    check([], level)
    if any(not 0 <= failed <= requests for failed, requests in failures):
        raise ValueError(f"failures of requests: {list(failures)}")
    failed, total = (sum(counts) for counts in zip((0, 0), *failures, strict=True))
    share = partial(Estimate, level=level, n=total)
    if total == 0:
        return share(method="Clopper-Pearson", why="there was no request")
    if failed == 0:
        high = beta_quantile(level, 1, total)
        return share(method="rule of three", value=0, low=0, high=high)
    tail = (1 - level) / 2
    low = beta_quantile(tail, failed, total - failed + 1)
    high = 1 if failed == total else beta_quantile(1 - tail, failed + 1, total - failed)
    return share(method="Clopper-Pearson", value=failed / total, low=low, high=high)


def worst(failures: Failures) -> float | None:
    """Return the highest share of one trial; None without requests."""
    return max((failed / requests for failed, requests in failures if requests), default=None)


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
    normal = NORMAL.inv_cdf((1 + level) / 2) + NORMAL.inv_cdf(power)
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
