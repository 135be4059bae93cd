"""The same estimate with an interval of another level: of a family, of all looks, of `until`."""

import math
from typing import Final

from benchforge.model.summary.verdict import Estimate
from benchforge.stats.distributions import t_quantile
from benchforge.stats.inference.interval import LEAST
from benchforge.stats.inference.selection import simultaneous

_MOST: Final = 700.0  # of a logarithm: no float holds more
_PLAIN = ("paired t of differences", "t of values")

STOPPED: Final = 0.8
"""Share of the error that an interval may use where its width ended the run. A run that stops once
intervals are narrow has more often underestimated its noise: intervals of 95 % hold the truth in
93.3 to 95 % of such runs, those of 96 % in 94.3 to 96 %."""


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
