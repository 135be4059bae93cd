"""Sweeps: the cases of a suite that are one server at rising concurrency."""

import functools
import json
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from random import Random
from typing import Final

from benchforge.model.summary.capacity import ConcurrencySweep, Level, Sweep
from benchforge.model.summary.summary import CaseSummary, MetricSummary
from benchforge.model.summary.verdict import Estimate
from benchforge.model.trial.trial import Trial
from benchforge.model.values.case_name import Identity, identity, server_names, shared
from benchforge.model.values.units import RATE
from benchforge.stats.inference.interval import LEAST, mean, typical
from benchforge.stats.summary.line import by_block

LEVELS = 3
_DRIVERS = ("loaders.", "clients.")
_Levels = dict[int, CaseSummary]


def swept(
    cases: Sequence[CaseSummary], trials: Sequence[Trial], believed: Collection[int], seed: int
) -> tuple[ConcurrencySweep, ...]:
    """Return the sweep of each server at rising concurrency, in the order of the suite.

    An option of a driver is swept where it alone tells three cases or more apart, and each has
    another number of requests under way. With a rate, that number follows from the answers: then
    nothing is swept. `seed` is of the resampled blocks.
    """
    at_once = _at_once(trials)
    by_option: dict[tuple[str, str], _Levels] = {}
    for case in cases:
        name, level = case.case, at_once.get(identity(case.case), 0)
        for option in filter(lambda path: path.startswith(_DRIVERS), name.vary if level else ()):
            others = {path: value for path, value in name.vary.items() if path != option}
            rest = [name.scenario, name.server, name.driver, name.arm, others]
            key = option, json.dumps(rest, sort_keys=True)
            if by_option.setdefault(key, {}).setdefault(level, case) is not case:
                by_option[key] = {0: case}  # it changes something else
    return tuple(
        sweep_
        for (option, _), levels in by_option.items()
        if len(levels) >= LEVELS and 0 not in levels
        for sweep_ in _swept(dict(sorted(levels.items())), option, believed, seed)
    )


def _at_once(trials: Sequence[Trial]) -> dict[Identity, int]:
    """Return how many requests each case had under way, of closed loops alone."""
    closed = [(trial.case, trial.load) for trial in trials if trial.load and not trial.load.rate]
    sizes = ((case, load.concurrency or load.connections) for case, load in closed)
    return {identity(case): size for case, size in sizes if size}


def _swept(
    levels: Mapping[int, CaseSummary], option: str, believed: Collection[int], seed: int
) -> Iterator[ConcurrencySweep]:
    lines: dict[int, MetricSummary] = {}
    for level, case in levels.items():
        if rates := [line for line in case.metrics if line.measurand == RATE]:
            lines[level] = rates[0]
    if not lines:
        return
    values = {level: by_block(line, believed) for level, line in lines.items()}
    by_level = {level: values_ for level, values_ in values.items() if values_}
    blocks = sorted(set.intersection(*map(set, by_level.values()))) if by_level else []
    first = next(iter(levels.values())).case
    line = next(iter(lines.values()))
    partial = ConcurrencySweep(
        scenario=first.scenario,
        server=server_names([first])[0],
        driver=first.driver,
        option=option,
        vary={path: value for path, value in shared(first).items() if path != option},
        metric=line.metric,
        unit=line.unit,
        blocks=len(blocks),
        levels=tuple(
            Level(concurrency=level, value=typical([values_[block] for block in sorted(values_)]))
            for level, values_ in by_level.items()
        ),
        left_out=tuple(level for level in levels if level not in by_level),
        sweep=None,
    )
    update: dict[str, object] = {}
    if len(by_level) < LEVELS:
        update["why"] = f"{len(by_level)} levels have believed values: it takes {LEVELS}"
    elif len(blocks) < LEAST:
        blocks_have = "1 block has" if len(blocks) == 1 else f"{len(blocks)} blocks have"
        update["why"] = f"{blocks_have} believed values of every level: it takes {LEAST}"
    else:
        shared_values = {level: [row[key] for key in blocks] for level, row in by_level.items()}
        update["sweep"] = sweep(shared_values, seed)
    yield partial.model_copy(update=update)


_METHOD: Final = "t of logs, highest of several"
_LEVEL, _SHARE = 0.95, 0.95
_RESAMPLES = 1000


def sweep(values: Mapping[int, Sequence[float]], seed: int = 0) -> Sweep:
    """Return the sweep of the throughputs of each level of concurrency, one of each block.

    All numbers are of this session. `seed` is of the resampled blocks. Raises ValueError for
    values that are not finite.
    """
    best, best_level = _highest(values)
    if best_level is None:
        return Sweep(highest=best, best_level=None, saturated=None, saturated_range=None, knee=None)
    logs = {concurrency: [*map(math.log, values[concurrency])] for concurrency in sorted(values)}
    means = {concurrency: mean(logs_of_level) for concurrency, logs_of_level in logs.items()}
    return Sweep(
        highest=best,
        best_level=best_level,
        saturated=_saturated(means),
        saturated_range=_resampled(logs, Random(seed)),  # noqa: S311 - resampling is no secret
        knee=math.exp(means[best_level] - means[1]) if 1 in means else None,
    )


def _highest(values: Mapping[int, Sequence[float]]) -> tuple[Estimate, int | None]:
    """Return the highest typical value and its level.

    The best of several is picked by its luck as well. Each level's lower end is therefore one that
    all hold together (Bonferroni), and the highest of them is below the truth; the best level's
    own upper end is not above the highest upper end.
    """
    typicals = {concurrency: typical(values_, _LEVEL) for concurrency, values_ in values.items()}
    n = len(next(iter(values.values()), ()))
    reason = next((estimate.why for estimate in typicals.values() if estimate.value is None), "")
    highest = functools.partial(Estimate, method=_METHOD, level=_LEVEL, n=n)
    if reason or not typicals:
        return highest(why=reason or "no level was measured"), None
    best_level = max(typicals, key=lambda concurrency: typicals[concurrency].value or 0)
    best, wide = typicals[best_level].value, 1 - (1 - _LEVEL) / len(typicals)
    lows = [low for values_ in values.values() if (low := typical(values_, wide).low) is not None]
    highs = [estimate.high for estimate in typicals.values() if estimate.high is not None]
    if len(lows) < len(typicals):
        reason = next(estimate.why for estimate in typicals.values() if estimate.why)
        return highest(value=best, why=reason), best_level
    return highest(value=best, low=max(lows), high=max(highs), df=n - 1), best_level


def _saturated(means: Mapping[int, float]) -> int:
    """Return the smallest level with 95 % of the highest throughput."""
    threshold = max(means.values()) + math.log(_SHARE)
    return min(concurrency for concurrency, mean_log in means.items() if mean_log >= threshold)


def _resampled(logs: Mapping[int, Sequence[float]], draw: Random) -> tuple[int, int] | None:
    """Return the range of the level of saturation in 95 % of resamples of whole blocks."""
    n = len(next(iter(logs.values())))
    if n < LEAST:
        return None
    saturations = []
    for _ in range(_RESAMPLES):
        blocks = draw.choices(range(n), k=n)
        means = {level: sum(row[block] for block in blocks) / n for level, row in logs.items()}
        saturations.append(_saturated(means))
    saturations.sort()
    cut = round(_RESAMPLES * (1 - _SHARE) / 2)
    return saturations[cut], saturations[-1 - cut]
