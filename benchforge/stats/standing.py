"""How the cases of a comparison stand to one another: ranks that the believed trials allow."""

import statistics
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations

from benchforge.model.standing import Far, LeftOut, Standing
from benchforge.model.summary import CaseSummary, Line
from benchforge.model.times import doubted
from benchforge.model.trial import CaseName
from benchforge.stats.compare import log_ratios
from benchforge.stats.interval import LEAST, deviation
from benchforge.stats.line import by_block, paired
from benchforge.stats.outliers import outliers
from benchforge.stats.rank import ranking
from benchforge.stats.repetition import planned

TARGET = 0.03
"How closely a ratio is to be known where the suite does not say it, as `needs` counts blocks."

_OF_SERVERS = "servers."
_Values = dict[str, dict[int, float]]
"By server: what counts of each block."


def standings(
    cases: Sequence[CaseSummary],
    labels: Collection[str],
    believed: Collection[int],
    target: float = TARGET,
) -> tuple[Standing, ...]:
    """Return the standings of cases that are compared, by each of the metrics; none of one case.

    `believed` has the trials that count. A metric that is 0 everywhere ranks nobody, and is left
    out.
    """
    if len(cases) <= 1:
        return ()
    lines = [line for case in cases for line in case.lines if line.metric in labels]
    found = dict.fromkeys((line.metric, line.of) for line in lines if line.highest != 0)
    ordered = sorted(found, key=lambda one: list(labels).index(one[0]))
    return tuple(_standing(cases, *one, believed, target) for one in ordered)


def names(cases: Sequence[CaseName]) -> list[str]:
    """Return what each of several servers is called: its label, and what varies of it."""
    told = [", ".join([case.server, *_varies(case)]) for case in cases]
    often = Counter(told)
    return [
        name if often[name] == 1 else f"{name} ({number})" for number, name in enumerate(told, 1)
    ]


def _varies(case: CaseName) -> Iterator[str]:
    for path, value in case.vary.items():
        if path.startswith(_OF_SERVERS):
            yield f"{path.rpartition('.')[2]} {value}"
    if case.arm > 1:
        yield f"arm {case.arm}"


def _standing(
    cases: Sequence[CaseSummary],
    metric: str,
    of: str | None,
    believed: Collection[int],
    target: float,
) -> Standing:
    lines: dict[str, Line] = {}
    values: _Values = {}
    left_out: list[LeftOut] = []
    for name, case in zip(names([one.case for one in cases]), cases, strict=True):
        line = next((one for one in case.lines if (one.metric, one.of) == (metric, of)), None)
        known = {} if line is None else by_block(line, {*believed} - doubted(case, line))
        if why := _why_not(case, len(known)):
            left_out.append(LeftOut(server=name, why=why))
        elif line is not None:
            lines[name], values[name] = line, known
    blocks = min((len(paired(*two)[0]) for two in combinations(values.values(), 2)), default=0)
    one = next(one for case in cases for one in case.lines if (one.metric, one.of) == (metric, of))
    standing = Standing(
        metric=metric,
        of=of,
        unit=one.unit,
        blocks=blocks,
        ranking=None,
        left_out=tuple(left_out),
        target=target,
    )
    if len(values) <= 1 or blocks < LEAST:
        return standing.model_copy(update={"why": _nobody(cases, values, blocks)})
    every = sorted({block for known in values.values() for block in known})
    table = {name: [known.get(block) for block in every] for name, known in values.items()}
    return standing.model_copy(
        update={
            "ranking": ranking(table, one.better),
            "far": tuple(_far(lines, values)),
            "needs": _needs(values, target),
        }
    )


def _why_not(case: CaseSummary, blocks: int) -> str:
    if case.steady is False:
        return "it never settled, so that it has no level to compare"
    if blocks >= LEAST:
        return ""
    told = {0: "no block has", 1: "1 block has"}.get(blocks, f"{blocks} blocks have")
    return f"{told} a value that is believed: it takes {LEAST}"


def _nobody(cases: Sequence[CaseSummary], values: _Values, blocks: int) -> str:
    planned_ = max(case.planned for case in cases)
    if planned_ < LEAST:
        told = "1 block tells" if planned_ == 1 else f"{planned_} blocks tell"
        return f"{told} no difference from noise: it takes {LEAST}"
    if len(values) <= 1:
        few = "no server has" if not values else "only one server has"
        return f"{few} values of {LEAST} blocks that are believed"
    return f"two servers have {blocks} believed blocks in common: it takes {LEAST}"


def _far(lines: Mapping[str, Line], values: _Values) -> Iterator[Far]:
    """Yield what lies far from a server's others, in the blocks that all have."""
    common = sorted(set.intersection(*(set(known) for known in values.values())))
    found = outliers({name: [known[block] for block in common] for name, known in values.items()})
    for name, told in found.items():
        trials = {one.block: one.trial for one in lines[name].samples}
        middle = statistics.median(values[name].values())
        for one in told.flagged:
            block = common[one.at]
            value = values[name][block]
            yield Far(
                server=name,
                trial=trials[block],
                block=block,
                value=value,
                share=value / middle - 1,
                severity=one.severity,
            )


def _needs(values: _Values, target: float) -> int | None:
    """Return how many blocks the pair that scatters most takes, by Stein's rule."""
    found = []
    for one, other in combinations(values.values(), 2):
        ours, theirs = paired(one, other)
        if min([*ours, *theirs], default=0) <= 0 or len(ours) < LEAST:
            return None
        ratios = log_ratios(ours, theirs)
        if deviation(ratios):
            found.append(planned(ratios, target))
    return max(found, default=None)
