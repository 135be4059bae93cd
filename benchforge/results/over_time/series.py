"""Each case and metric over results in the order of time, and where its level changed."""

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Final

from benchforge.model.summary.summary import Summary
from benchforge.model.summary.verdict import Estimate
from benchforge.model.values.case_name import CaseName
from benchforge.results.over_time.levels import Key, LevelKey, by_key, level, lines, to_reference
from benchforge.stats.inference.interval import welch
from benchforge.stats.timeseries.trend import partition

LEAST: Final = 20
SMALLEST: Final = 0.03
"The smallest change to report, as a share."
SURE: Final = 0.001

_PENALTY: Final = 8.0
_FEWEST: Final = 3  # results of a level
_FAR: Final = 8.0  # standard deviations: what lies further from its neighbours counts as there
_BESIDE: Final = 2  # neighbours to each side: a level of three is seen by its own
_NORMAL: Final = 1.4826  # standard deviations of a normal distribution in a median deviation
_MOST: Final = 700.0  # of a logarithm: no float holds more
_FINEST: Final = 1e-6  # of a logarithm: what is left of equal values


@dataclass(frozen=True)
class LevelChange:
    """A change of the level."""

    at: int
    "The first value of the new level, from 0."
    ratio: float
    "The new level over the old one."
    p: float
    "p value of Welch's t; too small, since the data chose the place."
    ends: tuple[float, float]
    "Welch's 95 % interval of the ratio; too narrow, for the same reason."


def steps(logs: Sequence[float]) -> list[LevelChange]:
    """Return where the level of logarithms changes, in order. Raises ValueError below LEAST."""
    if len(logs) < LEAST:
        raise ValueError(f"{len(logs)} results: it takes {LEAST}")
    if not all(map(math.isfinite, logs)):
        raise ValueError("a value is not finite")
    edges = [0, *partition(_scaled(logs), _PENALTY * math.log(len(logs)), _FEWEST), len(logs)]
    changes = []
    for (start, middle), (_, end) in pairwise(pairwise(edges)):
        means = welch(logs[middle:end], logs[start:middle], 0.95)
        if means and abs(means.difference) >= math.log1p(SMALLEST) and means.p < SURE:
            ends = (means.difference + side * means.half for side in (0, -1, 1))
            moved, low, high = (math.exp(max(-_MOST, min(_MOST, end))) for end in ends)
            changes.append(LevelChange(middle, moved, means.p, (low, high)))
    return changes


def _scaled(logs: Sequence[float]) -> list[float]:
    """Return values in robust deviations, each at most _FAR of them from its neighbours' median."""
    moves = [later - earlier for earlier, later in pairwise(logs)]
    middle = median(moves)
    rough = _NORMAL * median(abs(move - middle) for move in moves) / math.sqrt(2)
    scale = max(rough, _FINEST)
    near = [median(logs[max(0, nth - _BESIDE) : nth + _BESIDE + 1]) for nth in range(len(logs))]
    pairs = zip(logs, near, strict=True)
    return [level / scale + max(-_FAR, min(_FAR, (log - level) / scale)) for log, level in pairs]


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
