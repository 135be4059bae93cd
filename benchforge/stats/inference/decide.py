"""Decisions by a ratio: faster, slower, the same within a margin, or inconclusive."""

import math
from typing import Literal

from benchforge.model.summary.verdict import Estimate, RatioDecision, State
from benchforge.stats.inference.interval import LEAST, exp
from benchforge.stats.inference.sample_size import blocks_for, resolved


def decide(
    ratio: Estimate,
    companion: Estimate | None = None,
    *,
    margin: float = 0.03,
    better: Literal["higher", "lower"] = "higher",
    for_same: Estimate | None = None,
) -> RatioDecision:
    """Return the decision by the interval of a ratio, the first that is true.

    Invalid: fewer than 3 blocks, or no value. Faster or slower: the interval excludes 1. The same:
    the interval lies within the margin and holds 1; `for_same` is the ratio with the interval that
    this takes, if it is another one. Else inconclusive, with the blocks that it would take.

    Raises ValueError for a margin that is not positive.
    """
    if not 0 < margin < math.inf:
        raise ValueError(f"the margin is a positive number, not {margin}")
    state, by = _state(ratio, for_same or ratio, margin, better)
    by_interval = _by_interval(ratio, margin, better)
    theirs = companion and _by_interval(companion, margin, better)
    nearest = by.low if by.value is not None and by.value > 1 else by.high
    return RatioDecision(
        state=state,
        ratio=by,
        robust=companion,
        margin=margin,
        at_least=nearest if state in {"faster", "slower"} else None,
        fragile=theirs != by_interval if theirs and by_interval else None,
        detectable_ratio=exp(resolved(by.sd, by.n, level=by.level)) if by.sd else None,
        blocks_needed=_needs(by, margin) if state == "inconclusive" else None,
    )


def _state(
    ratio: Estimate, for_same: Estimate, margin: float, better: str
) -> tuple[State, Estimate]:
    """Return the state, and the ratio with the interval that shows it."""
    if ratio.n < LEAST or ratio.value is None:
        return "invalid", ratio
    state = _by_interval(ratio, margin, better)
    if state in {"faster", "slower"}:
        return state, ratio
    if _by_interval(for_same, margin, better) == "same":
        return "same", for_same
    return "inconclusive", max(ratio, for_same, key=lambda estimate: estimate.level)


def _by_interval(ratio: Estimate, margin: float, better: str) -> State | None:
    """Return the state by the interval alone; None without one."""
    if ratio.low is None or ratio.high is None:
        return None
    if ratio.low > 1:
        return "faster" if better == "higher" else "slower"
    if ratio.high < 1:
        return "slower" if better == "higher" else "faster"
    within = ratio.low > 1 / (1 + margin) and ratio.high < 1 + margin
    return "same" if within else "inconclusive"


def _needs(ratio: Estimate, margin: float) -> int | None:
    """Return about how many blocks would decide; None if unknown.

    They find the margin; with as many blocks already, the truth lies between 1 and the margin, and
    they find half of it. One of the two is above n for every interval that holds 1 and an end of
    the margin. Without these, the other pairs of the family kept it undecided.
    """
    ends = ratio.interval
    if ratio.sd is None or ends is None or not ends[0] <= 1 <= ends[1]:
        return None
    log_margin = math.log1p(margin)
    blocks = blocks_for(log_margin, ratio.sd, level=ratio.level)
    if blocks <= ratio.n:
        blocks = blocks_for(log_margin / 2, ratio.sd, level=ratio.level)
    return blocks if blocks > ratio.n else None
