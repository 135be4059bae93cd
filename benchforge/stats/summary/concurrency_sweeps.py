"""Which cases of a suite are one server at rising concurrency, and what they say together."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence

from benchforge.model.summary import CaseSummary
from benchforge.model.swept import Level, Swept
from benchforge.model.trial import Trial
from benchforge.stats.groups import Identity, identity, shared
from benchforge.stats.interval import LEAST, typical
from benchforge.stats.line import by_block
from benchforge.stats.scaling import law_at
from benchforge.stats.standing import names
from benchforge.stats.sweep import sweep

LEVELS = 3
_DRIVERS = ("loaders.", "clients.")
_USE = "throughput"
_Levels = dict[int, CaseSummary]


def swept(
    cases: Sequence[CaseSummary],
    trials: Sequence[Trial],
    believed: Collection[int],
    seed: int,
) -> tuple[Swept, ...]:
    """Return what each server did at rising concurrency, in the order of the suite.

    An option of a driver is swept where it alone tells three cases or more apart, and each has
    another number of requests under way. With a rate, that number follows from the answers: then
    nothing is swept. `seed` is of the resampled blocks.
    """
    at_once = _at_once(trials)
    found: dict[str, _Levels] = {}
    whose: dict[str, str] = {}
    for case in cases:
        level = at_once.get(identity(case.case))
        for option in case.case.vary if level else ():
            if option.startswith(_DRIVERS) and level:
                others = {path: one for path, one in case.case.vary.items() if path != option}
                told = case.case
                key = [told.scenario, told.server, told.driver, told.arm, option, others]
                text = json.dumps(key, sort_keys=True)
                whose[text] = option
                if found.setdefault(text, {}).setdefault(level, case) is not case:
                    found[text] = {0: case}  # it changes something else
    return tuple(
        one
        for text, levels in found.items()
        if len(levels) >= LEVELS and 0 not in levels
        for one in _swept(dict(sorted(levels.items())), whose[text], believed, seed)
    )


def _at_once(trials: Sequence[Trial]) -> dict[Identity, int]:
    """Return how many requests each case had under way, of closed loops alone."""
    found: dict[Identity, int] = {}
    for trial in trials:
        load = trial.load
        if load is not None and load.rate is None and (level := load.at_once or load.connections):
            found[identity(trial.case)] = level
    return found


def _swept(
    levels: Mapping[int, CaseSummary], option: str, believed: Collection[int], seed: int
) -> Iterator[Swept]:
    lines = {
        level: one
        for level, case in levels.items()
        for one in [one for one in case.lines if one.use == _USE][:1]
    }
    if not lines:
        return
    values = {level: by_block(line, believed) for level, line in lines.items()}
    known = {level: of for level, of in values.items() if of}
    blocks = sorted(set.intersection(*(set(of) for of in known.values()))) if known else []
    first = next(iter(levels.values())).case
    line = next(iter(lines.values()))
    told = Swept(
        scenario=first.scenario,
        server=names([first])[0],
        driver=first.driver,
        option=option,
        vary={path: one for path, one in shared(first).items() if path != option},
        metric=line.metric,
        unit=line.unit,
        blocks=len(blocks),
        levels=tuple(
            Level(at=level, value=typical([of[block] for block in sorted(of)]))
            for level, of in known.items()
        ),
        left_out=tuple(level for level in levels if level not in known),
        sweep=None,
    )
    yield told.model_copy(
        update=_together(told, {at: [of[b] for b in blocks] for at, of in known.items()}, seed)
    )


def _together(told: Swept, values: Mapping[int, Sequence[float]], seed: int) -> dict[str, object]:
    if len(values) < LEVELS:
        return {"why": f"{len(values)} levels have believed values: it takes {LEVELS}"}
    if told.blocks < LEAST:
        what = "1 block has" if told.blocks == 1 else f"{told.blocks} blocks have"
        return {"why": f"{what} believed values of every level: it takes {LEAST}"}
    found = sweep(values, seed)
    law = found.law
    if law is None:
        return {"sweep": found}
    levels = [one.model_copy(update={"by_law": law_at(law, one.at)}) for one in told.levels]
    return {"sweep": found, "levels": tuple(levels)}
