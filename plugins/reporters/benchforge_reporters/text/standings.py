"""Ranks and sweeps in words: what the intervals of all pairs allow, and the most at once."""

from collections.abc import Iterator
from itertools import groupby

from benchforge.plugin import (
    ConcurrencySweep,
    Estimate,
    MetricRanking,
    Ranking,
    Summary,
    readable,
    titled,
)

RANKS = (
    "a rank is one that the intervals of all pairs together allow (95 %); "
    "who shares a letter was not found to differ"
)
_BIMODAL = 0.2  # of a server's blocks
_MOST = 20  # pairs that are shown
_EXACT = 100  # blocks: of more, two digits are known at best


def ranked(summary: Summary) -> bool:
    """Return whether a server has a rank."""
    return any(ranking.ranking for group in summary.comparisons for ranking in group.rankings)


def standings(summary: Summary, scenario: str) -> list[str]:
    """Return the ranks and outliers of each comparison of a scenario, a line for each."""
    rankings = _rankings(summary, scenario)
    return [f"{where}{line}" for where, ranking in rankings for line in _lines(ranking)]


def pairs(summary: Summary, scenario: str) -> list[str]:
    """Return each pair of a scenario: the ratio, and the interval that holds with all others."""
    sentences = [
        f"{where}{titled(ranking.metric, ranking.of)}: {line}"
        for where, ranking in _rankings(summary, scenario)
        if ranking.ranking
        for line in _pairs(ranking.ranking)
    ]
    more = len(sentences) - _MOST
    return [*sentences[:_MOST], *([f"and {more} more, in summary.json"] if more > 0 else [])]


def _interval(estimate: Estimate) -> str:
    if estimate.value is None:
        return f"unknown: {estimate.why}"
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:.3f} (no interval: {estimate.why})"
    return f"{estimate.value:.3f} ({estimate.low:.3f} to {estimate.high:.3f})"


def _rankings(summary: Summary, scenario: str) -> Iterator[tuple[str, MetricRanking]]:
    """Yield the rankings of a scenario, each after what tells its comparison from the others."""
    groups = [comparison for comparison in summary.comparisons if comparison.scenario == scenario]
    drivers = len({group.driver for group in groups}) > 1
    for group in groups:
        named = [f"{path.rpartition('.')[2]} {value}" for path, value in group.vary.items()]
        label = ", ".join([group.driver, *named] if drivers and group.driver else named)
        yield from ((f"{label}: " if label else "", ranking) for ranking in group.rankings)


def _lines(standing: MetricRanking) -> Iterator[str]:
    title = titled(standing.metric, standing.of)
    if standing.ranking is None:
        yield f"{title}: nobody is ranked: {standing.why}"
    else:
        blocks = f"{standing.blocks} blocks" if standing.blocks != 1 else "1 block"
        yield f"{title}, {blocks}: {'; '.join([*_ranks(standing.ranking), *_needs(standing)])}"
    for unranked in standing.left_out if standing.ranking else ():
        yield f"{title}: {unranked.server} is not ranked: {unranked.why}"
    yield from _far(standing, title)


def _needs(standing: MetricRanking) -> Iterator[str]:
    needed = standing.blocks_needed
    if needed is not None and needed > standing.blocks:
        about = readable.figure(needed if needed < _EXACT else float(f"{needed:.2g}"))
        yield f"to resolve {readable.percent(standing.target)} takes about {about} blocks here"


def _ranks(ranking: Ranking) -> Iterator[str]:
    for (best, worst), same in groupby(ranking.order, key=lambda entry: (entry.best, entry.worst)):
        rank = str(best) if best == worst else f"{best}–{worst}"
        names = (f"{it.server} ({it.letters})" if it.letters else it.server for it in same)
        yield f"rank {rank}: {', '.join(names)}"


def _far(standing: MetricRanking, title: str) -> Iterator[str]:
    for server, those in groupby(standing.outliers, key=lambda far: far.server):
        outliers = list(those)
        sizes = readable.scale(standing.unit, [far.value for far in outliers])
        texts = ", ".join(
            f"trial {far.trial} in block {far.block} ({sizes.text(far.value)}, "
            f"{readable.change(far.share)}, {far.severity})"
            for far in outliers
        )
        modes = "bimodal, " if len(outliers) >= max(2, _BIMODAL * standing.blocks) else ""
        yield f"{title}: {modes}far from the others of {server}, and counted all the same: {texts}"


def _pairs(ranking: Ranking) -> Iterator[str]:
    for pair in ranking.pairs:
        differ = "differ" if pair.differ else "no difference found"
        yield f"{pair.first} / {pair.second} is {_interval(pair.simultaneous)}: {differ}"


def sweeps(summary: Summary, scenario: str) -> list[str]:
    """Return a line for each server of a scenario that was swept."""
    swept = [sweep for sweep in summary.sweeps if sweep.scenario == scenario]
    return [f"{title(sweep)}: {', '.join(_sentences(sweep))}" for sweep in swept]


def title(swept: ConcurrencySweep) -> str:
    """Return which server was swept, by which option of which driver, and where."""
    option = swept.option.rpartition(".")[2]
    named = [f"{path.rpartition('.')[2]} {value}" for path, value in swept.vary.items()]
    return f"{', '.join([swept.server, *named])} by {swept.driver}, {option} varied"


def scaled(swept: ConcurrencySweep) -> readable.Scale:
    """Return the scale of a sweep's values."""
    values = [level.value.value for level in swept.levels if level.value.value]
    return readable.scale(swept.unit, values)


def _sentences(swept: ConcurrencySweep) -> Iterator[str]:
    sizes, sweep = scaled(swept), swept.sweep
    if sweep is None:
        yield f"no curve: {swept.why}"
        return
    if swept.left_out:
        left_out = readable.conjoined(map(str, swept.left_out))
        yield f"without {left_out} (no value is believed)"
    best = sweep.highest
    if best.value is None:
        yield f"the highest {swept.metric} is unknown: {best.why}"
        return
    ends = f" (no interval: {best.why})"
    if best.low is not None and best.high is not None:
        ends = f" ({sizes.text(best.low)} to {sizes.text(best.high)})"
    yield f"at most {sizes.text(best.value)} {sizes.unit}{ends} at {sweep.best_level} at once"
    if sweep.saturated is not None:
        low, high = sweep.saturated_range or (sweep.saturated, sweep.saturated)
        about = f" (about {low} to {high})" if low != high else ""
        last = swept.levels[-1].concurrency
        still = f"not saturated below {last}" if sweep.saturated == last else ""
        yield f"{still or f'saturated from {sweep.saturated}'}{about}"
    if sweep.knee is not None:
        yield f"as many as {readable.figure(sweep.knee)} times one at a time"
