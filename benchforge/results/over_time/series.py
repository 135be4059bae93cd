"""Each case and metric over results in the order of time, and where its level changed."""

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from benchforge.model.summary.summary import Summary
from benchforge.model.summary.verdict import Estimate
from benchforge.model.values.case_name import CaseName
from benchforge.results.over_time.levels import Key, LevelKey, by_key, level, lines, to_reference
from benchforge.results.over_time.steps import LEAST, LevelChange, steps


@dataclass(frozen=True)
class Point:
    """What one result says."""

    result: int
    "Its place in the order of time, from 0."
    value: Estimate
    "Value with its interval within its session."
    ratio: Estimate | None
    "Ratio to the reference of the same session; None without a reference."
    digest: str
    "Digest of the case: its options and its code."


@dataclass(frozen=True)
class SeriesChange:
    """Where the level changed."""

    before: int
    "The last result of the old level."
    after: int
    "The first result of the new level."
    step: LevelChange


@dataclass(frozen=True)
class Course:
    """One metric of one case over time."""

    case: CaseName
    "Case, as its last result names it."
    measure: LevelKey
    points: tuple[Point, ...]
    changed: tuple[SeriesChange, ...] = ()
    why: tuple[str, ...] = ()
    "Reasons why no change was looked for, such as series that are too short."


def courses(
    results: Sequence[Summary],
    starts: Collection[int],
    reference: str | None,
    metrics: Collection[str] = (),
) -> Iterator[Course]:
    """Yield every case and metric of results that are in the order of time.

    At each of `starts` a new environment and series begins. `metrics` are labels, none for all.
    """
    keyed = [by_key(result) for result in results]
    by_measure: dict[tuple[Key, LevelKey], list[Point]] = {}
    names: dict[Key, CaseName] = {}
    for index, cases in enumerate(keyed):
        for key, case in cases.items():
            names[key] = case.case
            for measure, line in lines(case).items():
                if not metrics or measure.metric in metrics:
                    ratio = None
                    if reference is not None and case.case.server != reference:
                        ratio = to_reference(case, measure, cases, reference)
                    point = Point(index, level(case, line), ratio, case.case.digest)
                    by_measure.setdefault((key, measure), []).append(point)
    for (key, measure), points in by_measure.items():
        changed, reason = _changed(points, starts)
        if reference is not None and names[key].server == reference:
            reason = ["it is the reference"]
        yield Course(names[key], measure, tuple(points), tuple(changed), tuple(reason))


def series(points: Sequence[Point], starts: Collection[int]) -> list[list[Point]]:
    """Return the points of each series: one begins where the environment is another."""
    pieces: list[list[Point]] = []
    last: int | None = None
    for point in points:
        current = max((start for start in starts if start <= point.result), default=0)
        if current != last:
            pieces.append([])
        pieces[-1].append(point)
        last = current
    return pieces


def _changed(
    points: Sequence[Point], starts: Collection[int]
) -> tuple[list[SeriesChange], list[str]]:
    changed: list[SeriesChange] = []
    reason: list[str] = []
    for piece in series(points, starts):
        if piece[0].ratio is None:
            reason.append("changes are looked for in the ratio to a reference")
            continue
        log_ratios = [
            (point.result, math.log(point.ratio.value))
            for point in piece
            if point.ratio is not None and point.ratio.value is not None
        ]
        if len(log_ratios) < LEAST:
            results = "result has" if len(log_ratios) == 1 else "results have"
            reason.append(f"{len(log_ratios)} {results} a ratio: changes take {LEAST}")
            continue
        changed += [
            SeriesChange(log_ratios[step.at - 1][0], log_ratios[step.at][0], step)
            for step in steps([log for _, log in log_ratios])
        ]
    return changed, list(dict.fromkeys(reason))
