"""The same estimate with an interval of another level: of a family, of all looks, of `until`."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from benchforge.model.summary.verdict import Estimate
from benchforge.stats.distributions import t_quantile
from benchforge.stats.inference.interval import LEAST

_MOST: Final = 700.0  # of a logarithm: no float holds more
_PLAIN = ("paired t of differences", "t of values")

STOPPED: Final = 0.8
"""Share of the error that an interval may use where its width ended the run. A run that stops once
intervals are narrow has more often underestimated its noise: intervals of 95 % hold the truth in
93.3 to 95 % of such runs, those of 96 % in 94.3 to 96 %."""


class Selection(NamedTuple):
    """What a procedure makes of the p values of a family."""

    error: float
    "Error of each interval: 1 - its level."
    adjusted: tuple[float, ...]
    "Values of p as they count in the family, to compare with the error of the whole family."


def benjamini_hochberg(ps: Sequence[float], error: float) -> Selection:
    """Return the largest R whose p are all at most R * error / m, and intervals at that error.

    The expected share of false answers is at most `error` where p are independent, or positively
    dependent in the sense of PRDS; intervals at the same error keep the false coverage rate below
    it. Sources: Benjamini and Hochberg 1995, J. R. Statist. Soc. B 57; Benjamini and Yekutieli
    2001, Ann. Statist. 29, and 2005, J. Am. Statist. Assoc. 100.
    """
    size, least = len(ps), 1.0
    adjusted = [1.0] * size
    for rank, index in reversed([*enumerate(sorted(range(size), key=ps.__getitem__), 1)]):
        least = adjusted[index] = min(least, ps[index] * size / rank)
    answers = sum(p <= error for p in adjusted)
    return Selection(error * max(1, answers) / size, tuple(adjusted))


def stepwise(ps: Sequence[float], error: float) -> Selection:
    """Return the answers of Holm's procedure, and intervals at the error of its last step.

    The probability of any false answer is at most `error`, however the p depend on each other.
    """
    adjusted = holm(ps)
    answers = sum(p <= error for p in adjusted)
    return Selection(error / (len(ps) - max(1, answers) + 1), tuple(adjusted))


PROCEDURES: Mapping[str, Callable[[Sequence[float], float], Selection]] = {
    "benjamini-hochberg": benjamini_hochberg,
    "holm": stepwise,
}


def holm(ps: Sequence[float]) -> list[float]:
    """Return each p as it counts in the family of all: times its rank from the largest.

    Raises ValueError for a p outside 0..1. Source: Holm 1979, Scand. J. Statist. 6.
    """
    if not all(0 <= p <= 1 for p in ps):
        raise ValueError(f"a p is between 0 and 1: {list(ps)}")
    adjusted = [0.0] * len(ps)
    highest = 0.0
    for rank, index in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        highest = max(highest, min(1.0, ps[index] * (len(ps) - rank)))
        adjusted[index] = highest
    return adjusted


def simultaneous(level: float, size: int) -> float:
    """Return the level of each of `size` intervals that hold together at `level` (Bonferroni)."""
    return 1 - (1 - level) / max(1, size)


def at_level(estimate: Estimate, level: float, *, stopped: bool = False) -> Estimate:
    """Return an estimate by Student's t with the interval of this level.

    After a run that `stopped` at a width, the interval is wider by what that costs. An estimate
    without a deviation stays as it is.
    """
    if estimate.value is None or estimate.df is None or estimate.sd is None:
        return estimate
    error = (1 - level) * (STOPPED if stopped else 1)
    half = t_quantile(1 - error / 2, estimate.df) * estimate.sd / math.sqrt(estimate.n)
    if estimate.method in _PLAIN:
        ends = {"low": estimate.value - half, "high": estimate.value + half}
    else:
        wider = math.exp(min(_MOST, half))
        ends = {"low": estimate.value / wider, "high": estimate.value * wider}
    return estimate.model_copy(update={"level": level, **ends})


def joint(estimate: Estimate, size: int) -> Estimate:
    """Return an estimate with an interval that holds together with those of `size` - 1 others.

    By Bonferroni, at the estimate's own level. An estimate without a deviation stays as it is.
    """
    return at_level(estimate, simultaneous(estimate.level, size))


ERROR = 0.01
"How often a run ends early on something false, over all of its questions."


def confidence_sequence(estimate: Estimate, error: float) -> tuple[float, float] | None:
    """Return the ends of a ratio's interval after n blocks; None where they are infinitely far.

    At all n together the interval misses the truth with this probability. Source: Wang and Ramdas
    2023 (arXiv 2310.03722), a normal mixture for an unknown variance, with g = 1.
    """
    n, sd = estimate.n, estimate.sd
    if estimate.value is None or sd is None or n < LEAST:
        return None
    share = 1 / (1 + n)
    growth = (1 / (error * math.sqrt(share))) ** (2 / n)
    if share * growth >= 1:
        return None
    half = sd * math.sqrt((n - 1) * (growth - 1) / (1 - share * growth) / n)
    return estimate.value * math.exp(-half), estimate.value * math.exp(half)
