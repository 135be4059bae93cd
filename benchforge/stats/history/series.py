"""Each case and metric over results in the order of time, and where its level changed."""

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from benchforge.model.summary import CaseSummary, Summary
from benchforge.model.trial import CaseName
from benchforge.model.verdict import Estimate
from benchforge.stats.history import LEAST, Step, steps
from benchforge.stats.levels import (
    Key,
    Measure,
    by_key,
    level,
    lines,
    reference_of,
    relative,
)


@dataclass(frozen=True)
class Point:
    """What one result says."""

    result: int
    "Its place in the order of time, from 0."
    value: Estimate
    "With the interval within its session."
    ratio: Estimate | None
    "To the reference of the same session; None where no reference was asked for."
    digest: str
    "Of the case: its options and its code."


@dataclass(frozen=True)
class Changed:
    """Where the level changed."""

    before: int
    "The last result of the old level."
    after: int
    "The first result of the new level."
    step: Step


@dataclass(frozen=True)
class Course:
    """One metric of one case over time."""

    case: CaseName
    "As its last result has it."
    measure: Measure
    points: tuple[Point, ...]
    changed: tuple[Changed, ...] = ()
    why: tuple[str, ...] = ()
    "Why no change was looked for: of each series that is too short, say."


def courses(
    results: Sequence[Summary],
    starts: Collection[int],
    reference: str | None,
    metrics: Collection[str] = (),
) -> Iterator[Course]:
    """Yield every case and metric of results that are in the order of time.

    A new series begins at each of `starts`, with another environment: no change is looked for
    across it. `metrics` are labels, none for all.
    """
    keyed = [by_key(one) for one in results]
    found: dict[tuple[Key, Measure], list[Point]] = {}
    names: dict[Key, CaseName] = {}
    for place, cases in enumerate(keyed):
        for key, case in cases.items():
            names[key] = case.case
            for measure, line in lines(case).items():
                if not metrics or measure.metric in metrics:
                    ratio = _ratio(measure, case, cases, reference)
                    point = Point(place, level(case, line), ratio, case.case.digest)
                    found.setdefault((key, measure), []).append(point)
    for (key, measure), points in found.items():
        changed, why = _changed(points, starts)
        if reference is not None and names[key].server == reference:
            why = ["it is the reference"]
        yield Course(names[key], measure, tuple(points), tuple(changed), tuple(why))


def series(points: Sequence[Point], starts: Collection[int]) -> list[list[Point]]:
    """Return the points of each series: one begins where the environment is another."""
    found: list[list[Point]] = []
    last: int | None = None
    for point in points:
        current = max((start for start in starts if start <= point.result), default=0)
        if current != last:
            found.append([])
        found[-1].append(point)
        last = current
    return found


def _ratio(
    measure: Measure, case: CaseSummary, cases: dict[Key, CaseSummary], reference: str | None
) -> Estimate | None:
    if reference is None or case.case.server == reference:
        return None
    beside = reference_of(case.case, reference, cases)
    if beside is None:
        why = f"{reference} was not measured beside it, once"
        return Estimate(method="t of logs", level=0.95, n=0, why=why)
    return relative(case, lines(case)[measure], beside, lines(beside).get(measure))


def _changed(points: Sequence[Point], starts: Collection[int]) -> tuple[list[Changed], list[str]]:
    changed: list[Changed] = []
    why: list[str] = []
    for one in series(points, starts):
        if one[0].ratio is None:
            why.append("changes are looked for in the ratio to a reference")
            continue
        known = [
            (point.result, math.log(point.ratio.value))
            for point in one
            if point.ratio is not None and point.ratio.value is not None
        ]
        if len(known) < LEAST:
            results = "result has" if len(known) == 1 else "results have"
            why.append(f"{len(known)} {results} a ratio: changes take {LEAST}")
            continue
        changed += [
            Changed(known[step.at - 1][0], known[step.at][0], step)
            for step in steps([log for _, log in known])
        ]
    return changed, list(dict.fromkeys(why))
