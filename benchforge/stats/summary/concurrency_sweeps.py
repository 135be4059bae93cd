"""Which cases of a suite are one server at rising concurrency, and what they say together."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence

from benchforge.model.summary.concurrency_sweep import ConcurrencySweep, Level
from benchforge.model.summary.summary import CaseSummary
from benchforge.model.trial.trial import Trial
from benchforge.model.values.case_name import server_names, shared
from benchforge.stats.inference.interval import LEAST, typical
from benchforge.stats.summary.groups import Identity, identity
from benchforge.stats.summary.line import by_block
from benchforge.stats.sweep.sweep import sweep

LEVELS = 3
_DRIVERS = ("loaders.", "clients.")
_Levels = dict[int, CaseSummary]


def swept(
    cases: Sequence[CaseSummary], trials: Sequence[Trial], believed: Collection[int], seed: int
) -> tuple[ConcurrencySweep, ...]:
    """Return what each server did at rising concurrency, in the order of the suite.

    An option of a driver is swept where it alone tells three cases or more apart, and each has
    another number of requests under way. With a rate, that number follows from the answers: then
    nothing is swept. `seed` is of the resampled blocks.
    """
    at_once = _at_once(trials)
    by_option: dict[str, _Levels] = {}
    whose: dict[str, str] = {}
    for case in cases:
        level = at_once.get(identity(case.case))
        for option in case.case.vary if level else ():
            if option.startswith(_DRIVERS) and level:
                others = {path: one for path, one in case.case.vary.items() if path != option}
                name = case.case
                key = [name.scenario, name.server, name.driver, name.arm, option, others]
                text = json.dumps(key, sort_keys=True)
                whose[text] = option
                if by_option.setdefault(text, {}).setdefault(level, case) is not case:
                    by_option[text] = {0: case}  # it changes something else
    return tuple(
        one
        for text, levels in by_option.items()
        if len(levels) >= LEVELS and 0 not in levels
        for one in _swept(dict(sorted(levels.items())), whose[text], believed, seed)
    )


def _at_once(trials: Sequence[Trial]) -> dict[Identity, int]:
    """Return how many requests each case had under way, of closed loops alone."""
    under_way: dict[Identity, int] = {}
    for trial in trials:
        load = trial.load
        if (
            load is not None
            and load.rate is None
            and (level := load.concurrency or load.connections)
        ):
            under_way[identity(trial.case)] = level
    return under_way


def _swept(
    levels: Mapping[int, CaseSummary], option: str, believed: Collection[int], seed: int
) -> Iterator[ConcurrencySweep]:
    lines = {
        level: one
        for level, case in levels.items()
        for one in [one for one in case.metrics if one.measurand == "responses per second"][:1]
    }
    if not lines:
        return
    values = {level: by_block(line, believed) for level, line in lines.items()}
    by_level = {level: of for level, of in values.items() if of}
    blocks = sorted(set.intersection(*(set(of) for of in by_level.values()))) if by_level else []
    first = next(iter(levels.values())).case
    line = next(iter(lines.values()))
    partial = ConcurrencySweep(
        scenario=first.scenario,
        server=server_names([first])[0],
        driver=first.driver,
        option=option,
        vary={path: one for path, one in shared(first).items() if path != option},
        metric=line.metric,
        unit=line.unit,
        blocks=len(blocks),
        levels=tuple(
            Level(concurrency=level, value=typical([of[block] for block in sorted(of)]))
            for level, of in by_level.items()
        ),
        left_out=tuple(level for level in levels if level not in by_level),
        sweep=None,
    )
    yield partial.model_copy(
        update=_together(
            partial, {at: [of[b] for b in blocks] for at, of in by_level.items()}, seed
        )
    )


def _together(
    partial: ConcurrencySweep, values: Mapping[int, Sequence[float]], seed: int
) -> dict[str, object]:
    if len(values) < LEVELS:
        return {"why": f"{len(values)} levels have believed values: it takes {LEVELS}"}
    if partial.blocks < LEAST:
        what = "1 block has" if partial.blocks == 1 else f"{partial.blocks} blocks have"
        return {"why": f"{what} believed values of every level: it takes {LEAST}"}
    return {"sweep": sweep(values, seed)}
