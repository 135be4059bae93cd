"""Levelled values: as if others had left both sides as much of the CPUs.

Noise that does not end slows both sides of a block. Its differences from block to block make the
interval of their ratio wider. A constant difference is in no interval: others may leave one side
more of the CPUs in every block, such as a server of many threads. So an answer counts only where
each value divided by what was left to it gives the same answer.
"""

from collections.abc import Mapping
from statistics import fmean
from typing import Literal

from benchforge.model.summary.ranking import Ranking
from benchforge.model.summary.summary import CaseSummary
from benchforge.stats.summary.line import Place
from benchforge.text.readable import percent

Better = Literal["higher", "lower"]


def left_to(case: CaseSummary) -> dict[int, float]:
    """Return the share of the CPUs that others left to a case, by block of disturbed trials."""
    return {each.block: each.left for each in case.doubted if each.disturbed and each.used}


def levelled(value: float, free: float, better: Better) -> float:
    """Return a value as if all CPUs had been left to it: a time is less then, a rate more."""
    return value / free if better == "higher" else value * free


def levelled_places(
    values: Mapping[Place, float], free: Mapping[int, float], better: Better
) -> dict[Place, float]:
    """Return values as `levelled` gives them, where others disturbed the trial."""
    return {
        (block, disturbed): levelled(value, free[block], better) if disturbed else value
        for (block, disturbed), value in values.items()
    }


def uneven(ranking: Ranking, level: Ranking, free: Mapping[str, Mapping[int, float]]) -> str:
    """Return why ranks do not count: levelled values do not tell the same pairs apart, that way."""
    also = {(pair.first, pair.second) for pair in level.pairs if pair.differ}
    for pair in ranking.pairs:
        names = pair.first, pair.second
        if pair.differ and names not in also:
            shares = [fmean(free[name].values()) for name in names if free[name]]
            if len(shares) > 1:
                return may_be_it(names, (shares[0], shares[1]))
    return ""


def may_be_it(names: tuple[str, str], shares: tuple[float, float]) -> str:
    """Return that the difference of two sides may be what others left to them."""
    (a, b), (to_a, to_b) = names, map(percent, shares)
    return f"others left {a} {to_a} of the CPUs and {b} {to_b}: that may be the difference"
