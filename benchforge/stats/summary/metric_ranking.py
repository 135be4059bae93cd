"""Standings of the cases of a comparison: possible ranks, and values far from a server's others."""

import math
import statistics
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Literal, NamedTuple

from benchforge.model.suite.until import Until
from benchforge.model.summary.doubts import disturbed, doubted
from benchforge.model.summary.ranking import MetricRanking, RankingOutlier, UnrankedServer
from benchforge.model.summary.summary import CaseSummary, MetricSummary
from benchforge.model.values.case_name import server_names
from benchforge.model.values.units import RATE
from benchforge.stats.inference.hodges_lehmann import log_ratios, paired
from benchforge.stats.inference.holm import ranking
from benchforge.stats.inference.interval import LEAST, check, deviation, mean, planned
from benchforge.stats.inference.stopping import BLOCKS, Stop
from benchforge.stats.summary.line import Place, by_place, left_to, levelled_places, uneven
from benchforge.stats.turns import Rounds
from benchforge.text.readable import counted, exact

_LEAST = 5  # values
# The modified z beyond which one server in 20 (mild) or in 100 (severe) has a value although all
# its values are normal, by the number of values from which it holds. The usual 3.5 is for many
# values: of five, the median deviation is so often small by chance that one server in five is
# flagged.
_CUTOFFS = {
    5: (8.0, 19.0),
    6: (5.8, 10.7),
    8: (5.1, 8.4),
    10: (4.6, 7.0),
    12: (4.4, 6.3),
    15: (4.3, 6.1),
    20: (4.0, 5.3),
    30: (3.9, 4.8),
}
_MATERIAL = 0.01  # of the value: nobody chooses a server by less
_LARGEST = 700.0  # whose exponential is a number still
_EQUAL = 1e-12  # what is left of equal values after their logarithms are subtracted
_TIE = 1e-9
_NORMAL = 0.6745  # MADs that a standard deviation is, for a normal distribution


class Outlier(NamedTuple):
    """A value far from the others of its server: `share` and `severity` as in RankingOutlier."""

    at: int
    "Index of the value, from 0."
    z: float
    "Modified z: number of robust deviations from the median of the logarithms."
    share: float
    severity: Literal["mild", "severe"]


class Outliers(NamedTuple):
    """Outliers among one server's values, in their order, or the reason why they are unknown."""

    flagged: tuple[Outlier, ...] = ()
    why: str = ""


def outliers(values: Mapping[str, Sequence[float]]) -> dict[str, Outliers]:
    """Return what is flagged of each server, by the modified z of the logarithms (from 1 % off on).

    Dropping it finds false differences in 9.5 % of comparisons, and hides the stalls of a server.
    The mean of each block is removed first, since what meets all servers is nobody's outlier. One
    value far off moves the mean, so that those of the other servers seem off as well: in a block
    only the farthest is flagged. Of two servers alone both are: their ratio does not tell whose
    value it was. Raises ValueError for different lengths and values that are not finite.
    Source: Iglewicz and Hoaglin 1993, with cutoffs from simulation.
    """
    all_values = [value for row in values.values() for value in row]
    check(all_values)
    if any(value <= 0 for value in all_values):
        reason = f"a value is {exact(min(all_values))}: what is not above 0 has no logarithm"
        return {server: Outliers(why=reason) for server in values}
    logs = [[math.log(value) for value in row] for row in values.values()]
    blocks = [mean(block) if len(block) > 1 else 0.0 for block in zip(*logs, strict=True)]
    rest = [[value - block for value, block in zip(row, blocks, strict=True)] for row in logs]
    away = [[value - statistics.median(row) for value in row] for row in rest]
    zs = [_modified(row) for row in away]
    mild, _ = _cutoffs(len(blocks))
    rows = [(row, z) for row, z in zip(away, zs, strict=True) if z]
    far = []
    for index in range(len(blocks)):
        off = [abs(row[index]) for row, z in rows if abs(z[index]) > mild]
        far.append(max(off, default=0.0))
    return {
        server: Outliers(why=_unknown(len(blocks))) if z is None else _flagged(z, row, far)
        for server, z, row in zip(values, zs, away, strict=True)
    }


def _modified(away: Sequence[float]) -> list[float] | None:
    """Return each value's modified z; None where too few or too many equal values have none."""
    if len(away) < _LEAST:
        return None
    mad = statistics.median(map(abs, away))
    return [_NORMAL * each / mad for each in away] if mad > _EQUAL else None


def _cutoffs(n: int) -> tuple[float, float]:
    return _CUTOFFS[max((least for least in _CUTOFFS if least <= n), default=_LEAST)]


def _unknown(n: int) -> str:
    if n < _LEAST:
        return f"among {counted(n, 'value')} no outlier is known: it takes {_LEAST}"
    return "half of the values or more are equal: how they spread is not known"


def _flagged(zs: Sequence[float], away: Sequence[float], far: Sequence[float]) -> Outliers:
    mild, severe = _cutoffs(len(zs))
    return Outliers(
        flagged=tuple(
            Outlier(
                at=index,
                z=z,
                share=math.expm1(min(off, _LARGEST)),
                severity="severe" if abs(z) > severe else "mild",
            )
            for index, (z, off, farthest) in enumerate(zip(zs, away, far, strict=True))
            if abs(z) > mild and abs(off) >= max(farthest * (1 - _TIE), _MATERIAL)
        )
    )


TARGET = 0.03
"Width to which `_needs` counts blocks where the suite names none."
_Values = dict[str, dict[Place, float]]
"Values that count by server and place, believed or disturbed."


def standings(
    cases: Sequence[CaseSummary],
    labels: Collection[str],
    believed: Collection[int],
    until: Until | None = None,
    stop: Stop = BLOCKS,
) -> tuple[MetricRanking, ...]:
    """Return the standings of cases that are compared, by each of the metrics; none of one case.

    `believed` has the trials that count; `until` tells the width that is wanted, and `stop` what
    may end the run. A metric that is 0 everywhere ranks nobody, and is left out.
    """
    if len(cases) <= 1:
        return ()
    lines = [line for case in cases for line in case.metrics if line.metric in labels]
    measures = dict.fromkeys((line.metric, line.of) for line in lines if line.highest != 0)
    ordered = sorted(measures, key=lambda measure: list(labels).index(measure[0]))
    target = TARGET if until is None else until.width
    return tuple(_standing(cases, measure, believed, target, stop) for measure in ordered)


def _standing(
    cases: Sequence[CaseSummary],
    measure: tuple[str, str | None],
    believed: Collection[int],
    target: float,
    stop: Stop,
) -> MetricRanking:
    metric, part = measure
    lines: dict[str, MetricSummary] = {}
    values: _Values = {}
    free: dict[str, dict[int, float]] = {}
    left_out: list[UnrankedServer] = []
    rounds: dict[str, Rounds] = {}
    names = server_names([case.case for case in cases])
    for name, case in zip(names, cases, strict=True):
        line = case.line(metric, part)
        values_at: dict[Place, float] = {}
        if line is not None:
            values_at = by_place(line, {*believed} - doubted(case, line), disturbed(case, line))
        if reason := _why_not(case, len(values_at)):
            left_out.append(UnrankedServer(server=name, why=reason))
        elif line is not None:
            lines[name], values[name], free[name] = line, values_at, left_to(case)
            rounds[name] = case.rounds
    blocks = min((len(paired(*two)[0]) for two in combinations(values.values(), 2)), default=0)
    first_line = next(line for case in cases if (line := case.line(metric, part)))
    standing = MetricRanking(
        metric=metric,
        of=part,
        unit=first_line.unit,
        blocks=blocks,
        ranking=None,
        left_out=tuple(left_out),
        target=target,
    )
    if len(values) <= 1 or blocks < LEAST:
        return standing.model_copy(update={"why": _nobody(cases, values, blocks)})
    of_rate = first_line.measurand == RATE
    rounds = {name: rounds[name] if of_rate else {} for name in values}
    better = first_line.better
    ranked = ranking(values, better, stop=stop, rounds=rounds)
    level = {name: levelled_places(row, free[name], better) for name, row in values.items()}
    if level != values:
        of_level = ranking(level, better, stop=stop, rounds=rounds)
        if reason := uneven(ranked, of_level, free):
            return standing.model_copy(update={"why": reason})
    far, needed = tuple(_far(lines, values)), _needs(values, target)
    update = {"ranking": ranked, "outliers": far, "blocks_needed": needed}
    return standing.model_copy(update=update)


def _why_not(case: CaseSummary, blocks: int) -> str:
    if case.steady is False:
        return "it never settled, so that it has no level to compare"
    if blocks >= LEAST:
        return ""
    have = {0: "no block has", 1: "1 block has"}.get(blocks, f"{blocks} blocks have")
    return f"{have} a value that is believed: it takes {LEAST}"


def _nobody(cases: Sequence[CaseSummary], values: _Values, blocks: int) -> str:
    planned_ = max(case.planned for case in cases)
    if planned_ < LEAST:
        tells = "1 block tells" if planned_ == 1 else f"{planned_} blocks tell"
        return f"{tells} no difference from noise: it takes {LEAST}"
    if len(values) <= 1:
        few = "no server has" if not values else "only one server has"
        return f"{few} values of {LEAST} blocks that are believed"
    return f"two servers have {blocks} believed blocks in common: it takes {LEAST}"


def _far(lines: Mapping[str, MetricSummary], values: _Values) -> Iterator[RankingOutlier]:
    common = sorted(set.intersection(*(set(values_at) for values_at in values.values())))
    rows = {name: [row[key] for key in common] for name, row in values.items()}
    by_server = outliers(rows)
    for name, outlying in by_server.items():
        trials = {sample.block: sample.trial for sample in lines[name].samples}
        for outlier in outlying.flagged:
            block, _ = common[outlier.at]
            yield RankingOutlier(
                server=name,
                trial=trials[block],
                block=block,
                value=values[name][common[outlier.at]],
                share=outlier.share,
                severity=outlier.severity,
            )


def _needs(values: _Values, target: float) -> int | None:
    """Return how many blocks the pair that scatters most takes, by Stein's rule."""
    needed = []
    for first, second in combinations(values.values(), 2):
        first_values, theirs = paired(first, second)
        if min([*first_values, *theirs], default=0) <= 0 or len(first_values) < LEAST:
            return None
        ratios = log_ratios(first_values, theirs)
        if deviation(ratios):
            needed.append(planned(ratios, target))
    return max(needed, default=None)
