"""Ranks in words: what the intervals of all pairs together allow, and what they do not."""

from collections.abc import Iterator
from itertools import groupby

from benchforge.plugin import Comparison, Estimate, Ranking, Standing, Summary, titled
from benchforge.reporters.numbers import scale

RANKS = (
    "a rank is one that the intervals of all pairs together allow (95 %); "
    "who shares a letter was not found to differ"
)
_BIMODAL = 0.2  # of a server's blocks
_MOST = 20  # pairs that are shown
_EXACT = 100  # blocks: of more, two digits are known at best
_TO = "\N{EN DASH}"


def ranked(summary: Summary) -> bool:
    """Whether anybody has a rank."""
    return any(one.ranking for group in summary.comparisons for one in group.standings)


def standings(summary: Summary, scenario: str) -> list[str]:
    """Return what is to be said of each comparison of a scenario, a line for each thing."""
    return [
        f"{where}{line}"
        for where, group in _groups(summary, scenario)
        for one in group.standings
        for line in _lines(one)
    ]


def pairs(summary: Summary, scenario: str) -> list[str]:
    """Return each pair of a scenario: the ratio, and the interval that holds with all others."""
    found = [
        f"{where}{metric(one)}: {line}"
        for where, group in _groups(summary, scenario)
        for one in group.standings
        if one.ranking
        for line in _pairs(one.ranking)
    ]
    more = len(found) - _MOST
    return [*found[:_MOST], *([f"and {more} more, in summary.json"] if more > 0 else [])]


def metric(one: Standing) -> str:
    """Return what a standing is by."""
    return titled(one.metric, one.of)


def interval(one: Estimate, digits: str) -> str:
    """Return a value with its interval, each in a format such as `.3g`."""
    if one.value is None:
        return f"unknown: {one.why}"
    if one.low is None or one.high is None:
        return f"{one.value:{digits}} (no interval: {one.why})"
    return f"{one.value:{digits}} ({one.low:{digits}} to {one.high:{digits}})"


def _groups(summary: Summary, scenario: str) -> Iterator[tuple[str, Comparison]]:
    """Yield the comparisons of a scenario, each after what tells it from the others."""
    groups = [one for one in summary.comparisons if one.scenario == scenario]
    drivers = len({one.driver for one in groups}) > 1
    for group in groups:
        named = [f"{path.rpartition('.')[2]} {value}" for path, value in group.vary.items()]
        told = ", ".join([group.driver, *named] if drivers else named)
        yield f"{told}: " if told else "", group


def _lines(one: Standing) -> Iterator[str]:
    title = metric(one)
    if one.ranking is None:
        yield f"{title}: nobody is ranked: {one.why}"
    else:
        blocks = f"{one.blocks} blocks" if one.blocks != 1 else "1 block"
        yield f"{title}, {blocks}: {'; '.join([*_ranks(one.ranking), *_needs(one)])}"
    for left in one.left_out if one.ranking else ():
        yield f"{title}: {left.server} is not ranked: {left.why}"
    yield from _far(one, title)


def _needs(one: Standing) -> Iterator[str]:
    if one.needs is not None and one.needs > one.blocks:
        about = one.needs if one.needs < _EXACT else float(f"{one.needs:.2g}")
        yield f"to resolve {100 * one.target:g} % takes about {about:,.0f} blocks here"


def _ranks(ranking: Ranking) -> Iterator[str]:
    for (best, worst), same in groupby(ranking.order, key=lambda one: (one.best, one.worst)):
        rank = str(best) if best == worst else f"{best}{_TO}{worst}"
        who = (f"{one.server} ({one.letters})" if one.letters else one.server for one in same)
        yield f"rank {rank}: {', '.join(who)}"


def _far(one: Standing, title: str) -> Iterator[str]:
    for server, those in groupby(one.far, key=lambda far: far.server):
        found = list(those)
        sizes = scale(one.unit, [far.value for far in found])
        told = ", ".join(
            f"trial {far.trial} in block {far.block} ({sizes.text(far.value)}, {far.share:+.0%}, "
            f"{far.severity})"
            for far in found
        )
        bimodal = "bimodal, " if len(found) >= _BIMODAL * one.blocks else ""
        yield f"{title}: {bimodal}far from the others of {server}, and counted all the same: {told}"


def _pairs(ranking: Ranking) -> Iterator[str]:
    for pair in ranking.pairs:
        differ = "differ" if pair.differ else "no difference found"
        yield f"{pair.first} / {pair.second} is {interval(pair.simultaneous, '.3f')}: {differ}"
