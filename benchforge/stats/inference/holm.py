"""Which servers differ: all pairs by Holm, letters, and the ranks that each may have."""

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Literal

from benchforge.model.summary.ranking import Pair, RankedServer, Ranking
from benchforge.model.summary.verdict import Estimate
from benchforge.stats.inference.compact_letters import letters
from benchforge.stats.inference.interval import typical
from benchforge.stats.inference.ratio import ratio

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
    estimates = {
        server: typical([value for value in of if value is not None], level)
        for server, of in values.items()
    }
    order = sorted(estimates, key=lambda server: _from_best(estimates[server], better))
    pairs = [_better_first(values, *pair, better) for pair in combinations(order, 2)]
    ratios = {pair: ratio(*_both(values, *pair), level) for pair in pairs}
    wide = simultaneous(level, len(pairs))
    ps = [ratios[pair].p for pair in pairs]
    adjusted = holm([1.0 if p is None else p for p in ps])
    compared = tuple(
        Pair(
            first=first,
            second=second,
            ratio=ratios[first, second],
            simultaneous=ratio(*_both(values, first, second), wide),
            p_holm=None if own is None else p,
            differ=p < 1 - level,
        )
        for (first, second), own, p in zip(pairs, ps, adjusted, strict=True)
    )
    return Ranking(
        level=level, better=better, order=_ranked(order, estimates, compared), pairs=compared
    )


def _both(
    values: Mapping[str, Sequence[float | None]], first: str, second: str
) -> tuple[list[float], list[float]]:
    """Return the values of the blocks that have both."""
    both = zip(values[first], values[second], strict=True)
    paired = [(ours, theirs) for ours, theirs in both if ours is not None and theirs is not None]
    return [ours for ours, _ in paired], [theirs for _, theirs in paired]


def _better_first(
    values: Mapping[str, Sequence[float | None]], first: str, second: str, better: str
) -> tuple[str, str]:
    """Return two servers by their ratio: typical values may rest on different blocks."""
    value = ratio(*_both(values, first, second)).value or 1.0
    turned = value < 1 if better == "higher" else value > 1
    return (second, first) if turned and abs(math.log(value)) > _TIE else (first, second)


def _from_best(value: Estimate, better: str) -> tuple[bool, float]:
    number = value.value or 0.0
    return value.value is None, -number if better == "higher" else number


def _ranked(
    order: Sequence[str], estimates: Mapping[str, Estimate], pairs: Sequence[Pair]
) -> tuple[RankedServer, ...]:
    differ = {(pair.first, pair.second) for pair in pairs if pair.differ}
    apart = differ | {(second, first) for first, second in differ}
    named = letters(len(order), lambda i, j: (order[i], order[j]) in apart)
    return tuple(
        RankedServer(
            server=server,
            value=estimates[server],
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
