"""Regions in which a question's answer is yes, and how intervals lie to them."""

import math
from typing import Literal, NamedTuple

from benchforge.model.suite.claim import Hypothesis
from benchforge.model.summary.verdict import Estimate
from benchforge.stats.distributions import two_sided
from benchforge.stats.inference.interval import PLAIN, blocks_for

_TOO_NEAR = 1e-3
"Share of a deviation: values that near a bound take millions of blocks, which is no advice."


class Region(NamedTuple):
    """The values for which a question's answer is yes; an end may be infinite."""

    low: float
    high: float

    @property
    def ends(self) -> tuple[float, ...]:
        """The finite ones."""
        return tuple(end for end in self if math.isfinite(end))

    def holds(self, value: float) -> bool:
        """Whether a value is in the region, and at none of its ends."""
        return self.low < value < self.high


def region(question: Hypothesis) -> Region:
    """Return the region of a question.

    Around a ratio a tolerance reaches as far up as down by its logarithm: from bound / (1 + t) to
    bound * (1 + t), so that a against b is answered as b against a.
    """
    bound, within = question.bound, question.tolerance
    if within is not None and question.form == "ratio":
        return Region(bound / (1 + within), bound * (1 + within))
    if within is not None:
        return Region(bound - within, bound + within)
    if question.relation in {">", ">="}:
        return Region(bound, math.inf)
    return Region(-math.inf, bound)


def of_differences(region: Region) -> Region:
    """Return the same region of `a - factor * b` as a one-sided one of a / b is."""
    return Region(0, math.inf) if region.low > -math.inf else Region(-math.inf, 0)


def lies(interval: tuple[float, float], region: Region) -> Literal["inside", "outside", "across"]:
    """Return how an interval lies to a region."""
    low, high = interval
    if low > region.low and high < region.high:
        return "inside"
    return "outside" if high < region.low or low > region.high else "across"


def decided(
    question: Hypothesis, margin: float, interval: tuple[float, float]
) -> Literal["holds", "fails"] | None:
    """Return the answer that an interval of a ratio gives to a question; None for none.

    A one-sided question also has one where the interval shows a difference of the margin to be
    false: `>=` holds of what is not less by more, and `>` fails of what is not more by more.
    """
    low, high = interval
    bound, wide, upwards = question.bound, 1 + margin, question.relation in {">", ">="}
    if question.relation == "==":
        how = lies(interval, region(question))
        return None if how == "across" else "holds" if how == "inside" else "fails"
    if low > bound or high < bound:
        return "holds" if upwards == (low > bound) else "fails"
    bounded = low > bound / wide if question.relation in {">=", "<"} else high < bound * wide
    if not bounded:
        return None
    return "holds" if question.relation in {">=", "<="} else "fails"


def p_of(estimate: Estimate, region: Region) -> float | None:
    """Return how often an estimate as far from the nearest end is seen where the truth is there.

    Two-sided, by Student's t: below 1 - level where the interval holds no end. None where there is
    no deviation.
    """
    away = _away(estimate, region)
    if away is None or estimate.sd is None or estimate.df is None:
        return None
    return two_sided(away / (estimate.sd / math.sqrt(estimate.n)), estimate.df)


def needs(estimate: Estimate, region: Region) -> int | None:
    """Return about how many blocks tell the estimate from the nearest end; None if unknown."""
    away = _away(estimate, region)
    if away is None or estimate.sd is None or away < _TOO_NEAR * estimate.sd:
        return None
    blocks = blocks_for(away, estimate.sd, level=estimate.level)
    return blocks if blocks > estimate.n else None


def _away(estimate: Estimate, region: Region) -> float | None:
    """Return how far the estimate is from the nearest end: of logarithms where it rests on them."""
    if estimate.value is None:
        return None
    if estimate.method in PLAIN:
        return min((abs(estimate.value - end) for end in region.ends), default=None)
    logs = (math.log(end) for end in region.ends if end > 0)
    return min((abs(math.log(estimate.value) - end) for end in logs), default=None)


def needs_of_ratio(ratio: Estimate, margin: float) -> int | None:
    """Return about how many blocks tell a ratio from a factor, or show equality; None if unknown.

    They find the margin; with as many blocks already, the truth lies between factor and margin, and
    they find half of it. One of the two is above n for every interval that holds the factor and an
    end of the margin. Without these, the other pairs of the family kept it undecided.
    """
    log_margin, sd = math.log1p(margin), ratio.sd or 0.0
    blocks = blocks_for(log_margin, sd, level=ratio.level)
    if blocks <= ratio.n:
        blocks = blocks_for(log_margin / 2, sd, level=ratio.level)
    return blocks if blocks > ratio.n else None
