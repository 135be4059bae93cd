"""Standings of the cases of a comparison: the ranks that the believed trials allow."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations

from benchforge.model.suite.until import Until
from benchforge.model.summary.doubts import disturbed, doubted
from benchforge.model.summary.ranking import MetricRanking, RankingOutlier, UnrankedServer
from benchforge.model.summary.summary import CaseSummary, MetricSummary
from benchforge.model.values.case_name import server_names
from benchforge.model.values.units import RATE
from benchforge.stats.inference.hodges_lehmann import log_ratios
from benchforge.stats.inference.holm import ranking
from benchforge.stats.inference.interval import LEAST, deviation
from benchforge.stats.inference.sample_size import planned
from benchforge.stats.inference.stopping import BLOCKS, Stop
from benchforge.stats.summary.level import left_to, levelled_places, uneven
from benchforge.stats.summary.line import Place, by_place, paired
from benchforge.stats.summary.outliers import outliers
from benchforge.stats.turns import Rounds

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
    ranked = ranking(_table(values), better, stop=stop, rounds=rounds)
    level = {name: levelled_places(row, free[name], better) for name, row in values.items()}
    if level != values:
        of_level = ranking(_table(level), better, stop=stop, rounds=rounds)
        if reason := uneven(ranked, of_level, free):
            return standing.model_copy(update={"why": reason})
    far, needed = tuple(_far(lines, values)), _needs(values, target)
    update = {"ranking": ranked, "outliers": far, "blocks_needed": needed}
    return standing.model_copy(update=update)


def _table(values: _Values) -> dict[str, list[float | None]]:
    """Return the values of each server at all places, in one order."""
    places = sorted({key for values_at in values.values() for key in values_at})
    return {name: [values_at.get(key) for key in places] for name, values_at in values.items()}


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
    """Yield the values far from a server's others, in the blocks that all have."""
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
