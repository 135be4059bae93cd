"""A table that a suite draws from its cases: what stands on the left, what above, which numbers."""

import json
from collections.abc import Iterable, Sequence
from typing import Literal

from pydantic import Field, JsonValue

from benchforge.model.values.case_name import KIND, STAGE, CaseName
from benchforge.model.values.frozen import Frozen

Statistic = Literal["median", "mean", "average", "sd", "min", "max", "range", "runs"]

AXIS_NAMES = ("scenario", "server", "driver")
"The axes that every case has; the others are paths of what varies."


class Pivot(Frozen):
    """A table [tables.x], with every name resolved. No cell has more than one case."""

    title: str = ""
    "Title above the table; the label if the suite gives none."
    scenarios: tuple[str, ...] = Field(min_length=1)
    "Labels of the scenarios."
    rows: tuple[str, ...] = Field(min_length=1)
    "Axes of the rows: `scenario`, `server`, `driver`, or the path of an option that varies."
    columns: tuple[str, ...] = ()
    "Axes of the columns, the outermost first."
    metrics: tuple[str, ...] = Field(min_length=1)
    "Labels of the metrics."
    show: tuple[Statistic, ...] = ("median", "range")
    "Statistics over the trials of a case; `average` is the mean, `range` lowest to highest."
    where: dict[str, tuple[JsonValue, ...]] = Field(default_factory=dict)
    "Values of the cases to keep, by axis. Cases without one of these axes are left out."

    @property
    def part(self) -> str:
        """Axis of the parts of loads that the table has: kind or stage; empty for the whole."""
        named = (*self.rows, *self.columns, *self.where)
        return next((axis for axis in (KIND, STAGE) if axis in named), "")

    def has(self, case: CaseName) -> bool:
        """Return True if the table shows a case; no table shows a placebo."""
        drawn = case.scenario in self.scenarios and self.part == case.part and not case.placebo
        where = self.where.items()
        return drawn and all(coordinate(case, axis) in map(_text, wanted) for axis, wanted in where)


Place = tuple[str, ...]
"Coordinates of a case, one an axis."


def coordinate(case: CaseName, axis: str) -> str:
    """Return where a case stands on an axis, as JSON; empty where the axis is not about it."""
    if axis in AXIS_NAMES:
        return _text(getattr(case, axis))
    return _text(case.vary[axis]) if axis in case.vary else ""


def place(case: CaseName, axes: Iterable[str]) -> Place:
    """Return the position of a case on several axes."""
    return tuple(coordinate(case, axis) for axis in axes)


def places(axes: Sequence[str], cases: Sequence[CaseName]) -> list[Place]:
    """Return each position that has a case, sorted by the order of the cases on each axis."""
    ranks = [list(dict.fromkeys(coordinate(case, axis) for case in cases)) for axis in axes]
    distinct = dict.fromkeys(place(case, axes) for case in cases)
    return sorted(
        distinct, key=lambda at: [rank.index(step) for rank, step in zip(ranks, at, strict=True)]
    )


def crowded(pivot: Pivot, cases: Iterable[CaseName]) -> dict[str, list[str]]:
    """Return by what the cases of one cell differ: axes to values; empty where each has one."""
    cells: dict[Place, list[CaseName]] = {}
    for case in cases:
        if pivot.has(case):
            cells.setdefault(place(case, (*pivot.rows, *pivot.columns)), []).append(case)
    differing: dict[str, list[str]] = {}
    for together in cells.values():
        for axis, values in differences(together).items():
            differing[axis] = list(dict.fromkeys([*differing.get(axis, []), *values]))
    return differing


def differences(cases: Sequence[CaseName]) -> dict[str, list[str]]:
    """Return the axes on which cases differ, each with their coordinates."""
    axes = (*AXIS_NAMES, *dict.fromkeys(path for case in cases for path in case.vary))
    by_axis = {axis: list(dict.fromkeys(coordinate(case, axis) for case in cases)) for axis in axes}
    return {axis: values for axis, values in by_axis.items() if len(values) > 1}


def _text(value: JsonValue) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
