"""Rankings of servers: all pairs by Holm, letters, and possible ranks."""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from string import ascii_letters
from typing import Literal

from benchforge.model.summary.ranking import Pair, RankedServer, Ranking
from benchforge.model.summary.verdict import Estimate
from benchforge.stats.inference.hodges_lehmann import paired, ratio
from benchforge.stats.inference.interval import typical
from benchforge.stats.inference.joint import holm, simultaneous
from benchforge.stats.inference.stopping import BLOCKS, Stop, at_level, guarded
from benchforge.stats.turns import Rounds, explained

_LEVEL = 0.95
_TIE = 1e-12  # of logarithms


def ranking(
    values: Mapping[str, Mapping[tuple[int, bool], float]],
    better: Literal["higher", "lower"] = "higher",
    stop: Stop = BLOCKS,
    rounds: Mapping[str, Rounds] | None = None,
) -> Ranking:
    """Return the servers from best to worst, with the certainty of their order.

    `values` holds one value for each server and block that counts, apart where others disturbed
    the trial. A pair is compared by the blocks that have both. One whose ratio has no interval
    counts as one without a difference, and says why. Intervals and p allow for what may `stop` the
    run, and for what the `rounds` of servers in turns explain. Raises as `ratio` does.
    """
    alone = {name: typical([*values[name].values()]) for name in values}
    estimates = {name: at_level(value, _LEVEL, stop) for name, value in alone.items()}
    order = sorted(estimates, key=lambda server: _from_best(estimates[server], better))
    ratios = {}
    for first, second in combinations(order, 2):
        pair, ratio_ = (first, second), ratio(*paired(values[first], values[second]))
        value = ratio_.value or 1.0
        # Typical values may rest on different blocks: the better one by their ratio is first.
        turned = value < 1 if better == "higher" else value > 1
        if turned and abs(math.log(value)) > _TIE:
            pair, ratio_ = pair[::-1], ratio(*paired(values[second], values[first]))
        sd = explained(*(rounds[server] for server in pair)) if rounds else 0.0
        ratios[pair] = at_level(guarded(ratio_, sd, stop), _LEVEL, stop)
    wide = simultaneous(_LEVEL, len(ratios))
    ps = [1.0 if ratio_.p is None else stop.p(ratio_.p, ratio_.n) for ratio_ in ratios.values()]
    compared = tuple(
        Pair(
            first=first,
            second=second,
            ratio=ratio_,
            simultaneous=at_level(ratio_, wide, stop),
            p_holm=None if ratio_.p is None else p,
            differ=p < 1 - _LEVEL,
        )
        for ((first, second), ratio_), p in zip(ratios.items(), holm(ps), strict=True)
    )
    ranked = _ranked(order, estimates, compared)
    return Ranking(level=_LEVEL, better=better, order=ranked, pairs=compared)


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
            letters=named[index] if named else "",
            best=1 + sum(second == server for _, second in differ),
            worst=len(order) - sum(first == server for first, _ in differ),
        )
        for index, server in enumerate(order)
    )


_MOST = 500  # columns: nobody reads so many, and random relations make more of them than atoms


def letters(k: int, differ: Callable[[int, int], bool]) -> tuple[str, ...] | None:
    """Return the letters of each of k servers, which stand in the order of their ranks.

    `differ(i, j)` is asked for i < j. None where it would take more than 500 letters. Letters
    after z and Z are numbers in brackets. Insert-absorb, Piepho 2004, J. Comp. Graph. Stat. 13.
    """
    columns = [frozenset(range(k))]
    for i, j in combinations(range(k), 2):
        if differ(i, j):
            columns = _absorbed(columns, i, j)
        if len(columns) > _MOST:
            return None
    columns.sort(key=sorted)
    return tuple(
        "".join(_letter(index) for index, column in enumerate(columns) if i in column)
        for i in range(k)
    )


def _absorbed(columns: list[frozenset[int]], i: int, j: int) -> list[frozenset[int]]:
    """Return columns of which none holds both, and none is part of another."""
    untouched = [column for column in columns if not {i, j} <= column]
    split = {column - {each} for column in columns if {i, j} <= column for each in (i, j)}
    return untouched + [
        part
        for part in split
        if not any(part <= column for column in untouched)
        and not any(part < other for other in split)
    ]


def _letter(index: int) -> str:
    return ascii_letters[index] if index < len(ascii_letters) else f"({index + 1})"
