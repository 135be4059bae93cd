"""How many requests fail: no logarithms, since the best rate is 0."""

from collections.abc import Sequence

from benchforge.model.summary.verdict import Estimate
from benchforge.stats.distributions import beta_quantile
from benchforge.stats.inference.interval import check


def failing(errors: Sequence[int], requests: Sequence[int], level: float = 0.95) -> Estimate:
    """Return the share of requests that failed in all trials together, by Clopper and Pearson.

    Each sequence holds one number a trial. Without a failure only the upper end is unknown: it is
    one-sided then, below 3 / requests for 95 % (the rule of three). It takes requests as
    independent; where failures come in bursts, `worst` says more.

    Raises ValueError for different lengths, negative counts, more errors than requests, and a
    level outside 0..1.
    """
    check([], level)
    failed, total = _counted(errors, requests)
    if total == 0:
        return Estimate(method="Clopper-Pearson", level=level, n=0, why="there was no request")
    if failed == 0:
        high = beta_quantile(level, 1, total)
        return Estimate(method="rule of three", level=level, n=total, value=0, low=0, high=high)
    tail = (1 - level) / 2
    return Estimate(
        method="Clopper-Pearson",
        level=level,
        n=total,
        value=failed / total,
        low=beta_quantile(tail, failed, total - failed + 1),
        high=1 if failed == total else beta_quantile(1 - tail, failed + 1, total - failed),
    )


def worst(errors: Sequence[int], requests: Sequence[int]) -> float | None:
    """Return the highest share of one trial; None where no trial had a request.

    Raises ValueError as `failing` does.
    """
    _counted(errors, requests)
    shares = [each / of for each, of in zip(errors, requests, strict=True) if of]
    return max(shares, default=None)


def _counted(errors: Sequence[int], requests: Sequence[int]) -> tuple[int, int]:
    if any(not 0 <= each <= of for each, of in zip(errors, requests, strict=True)):
        raise ValueError(f"{list(errors)} errors of {list(requests)} requests")
    return sum(errors), sum(requests)
