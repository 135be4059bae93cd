"""Servers that were not shown to differ: how large a difference may still be."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final

from benchforge.plugin import CLOSE, CaseSummary, MetricRanking, Ranking, readable

_TWICE: Final = 2.0  # from there on a difference is a factor, and below it a share


def tie(ranking: Ranking, servers: Sequence[str]) -> tuple[bool, str]:
    """Return whether servers are close together, and a sentence on how far apart they may be."""
    names, most = readable.conjoined(servers), ranking.most_apart(servers)
    if most is None:
        return False, f"Undecided between {names}: no interval, so no difference is ruled out"
    share = readable.figure(100 * (most - 1), 2)
    if most < CLOSE:
        return (
            True,
            f"No difference seen between {names}: any difference is below {share} % (95 % sure)",
        )
    size = f"{share} %" if most < _TWICE else f"a factor of {readable.figure(most, 2)}"
    return False, f"Undecided between {names}: they may differ by up to {size}"


def ties(ranking: Ranking, servers: Sequence[str]) -> Iterator[tuple[bool, str]]:
    """Yield what `tie` returns for each run of servers, in their order, of which no two differ."""
    run: list[str] = []
    for server in servers:
        if any(ranking.pair(one, server).differ for one in run):
            if len(run) > 1:
                yield tie(ranking, run)
            run = []
        run.append(server)
    if len(run) > 1:
        yield tie(ranking, run)


def far_apart(ranking: Ranking | None) -> bool:
    """Return whether servers may be far apart although they were not shown to differ."""
    names = [] if ranking is None else [one.server for one in ranking.order]
    return ranking is not None and any(not close for close, _ in ties(ranking, names))


def scatter(cases: Sequence[CaseSummary], ranked: MetricRanking, side: str) -> list[str]:
    """Return how much the trials of one side differ, in a sentence; none if that is unknown."""
    if all(case.in_turns for case in cases):
        return _of_ratios(cases, ranked)
    lines = (line for case in cases for line in case.metrics)
    ratios = [
        line.highest / line.lowest
        for line in lines
        if (line.metric, line.of) == (ranked.metric, ranked.of) and line.highest and line.lowest
    ]
    most = max(ratios, default=1.0)
    if most <= 1:
        return []
    share = readable.figure(100 * (most - 1), 2)
    blocks = readable.counted(max(case.trials for case in cases), "block")
    return [
        f"Why: the trials of one {side} differ by up to {share} %, and there are {blocks} only."
    ]


def _of_ratios(cases: Sequence[CaseSummary], ranked: MetricRanking) -> list[str]:
    """Return how much the ratio of two servers in turns differs between blocks.

    Noise of the machine meets all servers of a block alike: it is in their values, not in ratios.
    """
    values = [
        {one.block: one.sample.value for one in line.samples if one.sample.value}
        for case in cases
        for line in case.metrics
        if (line.metric, line.of) == (ranked.metric, ranked.of)
    ]
    ratios = [
        [ours[block] / theirs[block] for block in ours.keys() & theirs.keys()]
        for ours, theirs in combinations(values, 2)
    ]
    most, blocks = max(((max(one) / min(one), len(one)) for one in ratios if one), default=(1.0, 0))
    if most <= 1:
        return []
    share = readable.figure(100 * (most - 1), 2)
    counted = readable.counted(blocks, "block")
    return [f"Why: from block to block the ratio differs by up to {share} %; there are {counted}."]
