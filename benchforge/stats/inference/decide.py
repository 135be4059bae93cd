"""What a ratio decides: faster, slower, the same within a margin, or nothing yet."""

import math
from typing import Literal

from benchforge.model.summary.verdict import Estimate, RatioDecision, State
from benchforge.stats.distributions.student import t_quantile
from benchforge.stats.inference.holm import simultaneous
from benchforge.stats.inference.interval import LEAST, exp
from benchforge.stats.inference.sample_size import blocks_for, resolved

_MOST = 700.0
"Of a logarithm: no float holds more."


def decide(
    ratio: Estimate,
    companion: Estimate | None = None,
    *,
    margin: float = 0.03,
    better: Literal["higher", "lower"] = "higher",
    p_adjusted: float | None = None,
    family: int = 1,
) -> RatioDecision:
    """Return what the ratio of two servers decides, the first that is true.

    Invalid: fewer than 3 blocks, or no value. Faster or slower: the p (`p_adjusted` in a family of
    pairs, else the ratio's own) is below 1 - level and the interval excludes 1. The same: the
    interval lies within the margin, also where it is so wide that those of `family` pairs hold
    together. Else inconclusive, with the blocks that it would take.

    Raises ValueError for a margin that is not positive.
    """
    if not 0 < margin < math.inf:
        raise ValueError(f"the margin is a positive number, not {margin}")
    p = ratio.p if p_adjusted is None else p_adjusted
    state = _state(ratio, p, margin, better, family)
    by_interval = _by_interval(ratio, margin, better)
    theirs = companion and _by_interval(companion, margin, better)
    return RatioDecision(
        state=state,
        ratio=ratio,
        robust=companion,
        p_adjusted=p,
        margin=margin,
        at_least=_nearest(ratio) if state in {"faster", "slower"} else None,
        fragile=theirs != by_interval if theirs and by_interval else None,
        detectable_ratio=exp(resolved(ratio.sd, ratio.n, level=ratio.level)) if ratio.sd else None,
        blocks_needed=_needs(ratio, margin) if state == "inconclusive" else None,
    )


def _state(ratio: Estimate, p: float | None, margin: float, better: str, family: int) -> State:
    if ratio.n < LEAST or ratio.value is None:
        return "invalid"
    state = _by_interval(ratio, margin, better)
    if state is None:
        return "inconclusive"
    if state in {"faster", "slower"} and p is not None and p < 1 - ratio.level:
        return state
    # Holm's p is that of a difference: of several pairs each would be called the same at 95 %.
    return "same" if _within(_among(ratio, family), margin) else "inconclusive"


def _by_interval(ratio: Estimate, margin: float, better: str) -> State | None:
    """What the interval alone decides; None where there is none."""
    if ratio.low is None or ratio.high is None:
        return None
    if ratio.low > 1:
        return "faster" if better == "higher" else "slower"
    if ratio.high < 1:
        return "slower" if better == "higher" else "faster"
    return "same" if _within(ratio, margin) else "inconclusive"


def _among(ratio: Estimate, family: int) -> Estimate:
    """Return a ratio with an interval that holds together with those of all of its family."""
    if family <= 1 or ratio.value is None or ratio.df is None or ratio.sd is None:
        return ratio
    quantile = t_quantile((1 + simultaneous(ratio.level, family)) / 2, ratio.df)
    wider = math.exp(min(_MOST, quantile * ratio.sd / math.sqrt(ratio.n)))
    return ratio.model_copy(update={"low": ratio.value / wider, "high": ratio.value * wider})


def _within(ratio: Estimate, margin: float) -> bool:
    if ratio.low is None or ratio.high is None:
        return False
    return ratio.low > 1 / (1 + margin) and ratio.high < 1 + margin


def _nearest(ratio: Estimate) -> float | None:
    return ratio.low if ratio.value is not None and ratio.value > 1 else ratio.high


def _needs(ratio: Estimate, margin: float) -> int | None:
    """About how many blocks would decide.

    As many as find the margin; where there are so many already, the truth lies between 1 and the
    margin, and what must be found is half of it. One of the two is above n for every interval that
    holds 1 and an end of the margin. Where it does not, the other pairs of the family kept it from
    being told: it is not known then.
    """
    if (
        ratio.sd is None
        or ratio.low is None
        or ratio.high is None
        or not ratio.low <= 1 <= ratio.high
    ):
        return None
    whole = math.log1p(margin)
    blocks = blocks_for(whole, ratio.sd, level=ratio.level)
    if blocks <= ratio.n:
        blocks = blocks_for(whole / 2, ratio.sd, level=ratio.level)
    return blocks if blocks > ratio.n else None
