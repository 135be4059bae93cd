"""Which servers differ: all pairs by Holm, letters, and the ranks that each may have."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Literal

from benchforge.model.ranking import Pair, Ranked, Ranking
from benchforge.model.verdict import Estimate
from benchforge.stats.compare import ratio
from benchforge.stats.interval import typical
from benchforge.stats.letters import letters


def ranking(
    values: Mapping[str, Sequence[float]],
    better: Literal["higher", "lower"] = "higher",
    level: float = 0.95,
) -> Ranking:
    """Return the servers from best to worst, with what can be said of their order.

    `values` holds one value a block for each server. A pair whose ratio has no interval counts as
    one without a difference, and says why. Raises as `ratio` does.
    """
    known = {server: typical(of, level) for server, of in values.items()}
    order = sorted(known, key=lambda server: _from_best(known[server], better))
    pairs = list(combinations(order, 2))
    one = {pair: ratio(values[pair[0]], values[pair[1]], level) for pair in pairs}
    wide = simultaneous(level, len(pairs))
    ps = [one[pair].p for pair in pairs]
    adjusted = holm([1.0 if p is None else p for p in ps])
    found = tuple(
        Pair(
            first=first,
            second=second,
            ratio=one[first, second],
            simultaneous=ratio(values[first], values[second], wide),
            p_holm=None if own is None else p,
            differ=p < 1 - level,
        )
        for (first, second), own, p in zip(pairs, ps, adjusted, strict=True)
    )
    return Ranking(level=level, better=better, order=_ranked(order, known, found), pairs=found)


def _from_best(value: Estimate, better: str) -> tuple[bool, float]:
    known = value.value or 0.0
    return value.value is None, -known if better == "higher" else known


def _ranked(
    order: Sequence[str], known: Mapping[str, Estimate], pairs: Sequence[Pair]
) -> tuple[Ranked, ...]:
    differ = {(pair.first, pair.second) for pair in pairs if pair.differ}
    named = letters(len(order), lambda i, j: (order[i], order[j]) in differ)
    return tuple(
        Ranked(
            server=server,
            value=known[server],
            letters=named[at] if named else "",
            best=1 + sum(second == server for _, second in differ),
            worst=len(order) - sum(first == server for first, _ in differ),
        )
        for at, server in enumerate(order)
    )


def holm(ps: Sequence[float]) -> list[float]:
    """Return each p as it counts in the family of all: times its rank from the largest.

    Raises ValueError for a p outside 0..1. Source: Holm 1979, Scand. J. Statist. 6.
    """
    if not all(0 <= p <= 1 for p in ps):
        raise ValueError(f"a p is between 0 and 1: {list(ps)}")
    adjusted = [0.0] * len(ps)
    highest = 0.0
    for rank, at in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        highest = max(highest, min(1.0, ps[at] * (len(ps) - rank)))
        adjusted[at] = highest
    return adjusted


def simultaneous(level: float, size: int) -> float:
    """Return the level of each of `size` intervals that hold together at `level` (Bonferroni)."""
    return 1 - (1 - level) / max(1, size)
