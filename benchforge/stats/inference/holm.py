"""Which servers differ: all pairs by Holm, letters, and the ranks that each may have."""

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Literal

from benchforge.model.ranking import Pair, Ranked, Ranking
from benchforge.model.verdict import Estimate
from benchforge.stats.compare import ratio
from benchforge.stats.interval import typical
from benchforge.stats.letters import letters

_TIE = 1e-12  # of logarithms


def ranking(
    values: Mapping[str, Sequence[float | None]],
    better: Literal["higher", "lower"] = "higher",
    level: float = 0.95,
) -> Ranking:
    """Return the servers from best to worst, with what can be said of their order.

    `values` holds one value a block for each server, None where a block has none that counts. A
    pair is compared by the blocks that have both. One whose ratio has no interval counts as one
    without a difference, and says why. Raises as `ratio` does.
    """
    known = {
        server: typical([one for one in of if one is not None], level)
        for server, of in values.items()
    }
    order = sorted(known, key=lambda server: _from_best(known[server], better))
    pairs = [_better_first(values, *pair, better) for pair in combinations(order, 2)]
    one = {pair: ratio(*_both(values, *pair), level) for pair in pairs}
    wide = simultaneous(level, len(pairs))
    ps = [one[pair].p for pair in pairs]
    adjusted = holm([1.0 if p is None else p for p in ps])
    found = tuple(
        Pair(
            first=first,
            second=second,
            ratio=one[first, second],
            simultaneous=ratio(*_both(values, first, second), wide),
            p_holm=None if own is None else p,
            differ=p < 1 - level,
        )
        for (first, second), own, p in zip(pairs, ps, adjusted, strict=True)
    )
    return Ranking(level=level, better=better, order=_ranked(order, known, found), pairs=found)


def _both(
    values: Mapping[str, Sequence[float | None]], first: str, second: str
) -> tuple[list[float], list[float]]:
    """Return the values of the blocks that have both."""
    both = zip(values[first], values[second], strict=True)
    found = [(one, other) for one, other in both if one is not None and other is not None]
    return [one for one, _ in found], [other for _, other in found]


def _better_first(
    values: Mapping[str, Sequence[float | None]], first: str, second: str, better: str
) -> tuple[str, str]:
    """Return two servers by their ratio: typical values may rest on different blocks."""
    value = ratio(*_both(values, first, second)).value or 1.0
    turned = value < 1 if better == "higher" else value > 1
    return (second, first) if turned and abs(math.log(value)) > _TIE else (first, second)


def _from_best(value: Estimate, better: str) -> tuple[bool, float]:
    known = value.value or 0.0
    return value.value is None, -known if better == "higher" else known


def _ranked(
    order: Sequence[str], known: Mapping[str, Estimate], pairs: Sequence[Pair]
) -> tuple[Ranked, ...]:
    differ = {(pair.first, pair.second) for pair in pairs if pair.differ}
    apart = differ | {(second, first) for first, second in differ}
    named = letters(len(order), lambda i, j: (order[i], order[j]) in apart)
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
