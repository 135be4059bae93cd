"""What a ratio would be, had others left both sides as much of the CPUs.

Noise that does not end slows both sides of a block. A ratio of the two stands on its interval: what
differs from block to block makes it wider. What does not differ is in no interval: others may leave
one side more of the CPUs in every block, as to a server of many threads among few. An answer counts
only where each value divided by what was left to it gives the same one.
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
    """Return what share of the CPUs others left to a case, by block: of its disturbed trials."""
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
        if pair.differ and (pair.first, pair.second) not in also:
            shares = [
                fmean(free[name].values()) for name in (pair.first, pair.second) if free[name]
            ]
            if len(shares) > 1:
                return may_be_it((pair.first, pair.second), (shares[0], shares[1]))
    return ""


def may_be_it(names: tuple[str, str], shares: tuple[float, float]) -> str:
    """Return what is said where what others left to two sides may be what they differ by."""
    (a, b), (to_a, to_b) = names, map(percent, shares)
    return f"others left {a} {to_a} of the CPUs and {b} {to_b}: that may be the difference"
