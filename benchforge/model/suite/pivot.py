"""A table that a suite draws from its cases: what stands on the left, what above, which numbers."""

import json
from collections.abc import Iterable, Sequence
from typing import Literal

from pydantic import Field, JsonValue

from benchforge.model.values.case_name import CaseName
from benchforge.model.values.frozen import Frozen

Statistic = Literal["median", "mean", "average", "sd", "min", "max", "range", "runs"]

AXIS_NAMES = ("scenario", "server", "driver")
"The axes that every case has; the others are paths of what varies."


class Pivot(Frozen):
    """A table [tables.x], every name in it resolved. No cell has more than one case."""

    title: str = ""
    "Above the table; its label without it."
    scenarios: tuple[str, ...] = Field(min_length=1)
    "Labels."
    rows: tuple[str, ...] = Field(min_length=1)
    "Axes: `scenario`, `server`, `driver`, or the path of an option that varies."
    columns: tuple[str, ...] = ()
    "Axes, the outer one first."
    metrics: tuple[str, ...] = Field(min_length=1)
    "Labels."
    show: tuple[Statistic, ...] = ("median", "range")
    "Statistics over the trials of a case; `average` is the mean, `range` lowest to highest."
    where: dict[str, tuple[JsonValue, ...]] = Field(default_factory=dict)
    "Axes to the values of the cases that are kept; a case that an axis is not about is not kept."

    def has(self, case: CaseName) -> bool:
        """Whether a case stands in this table; a placebo stands in none."""
        return (
            case.scenario in self.scenarios
            and not case.placebo
            and all(
                coordinate(case, axis) in map(_text, values) for axis, values in self.where.items()
            )
        )


Place = tuple[str, ...]
"Coordinates of a case, one an axis."


def coordinate(case: CaseName, axis: str) -> str:
    """Return where a case stands on an axis, as JSON; empty where the axis is not about it."""
    if axis in AXIS_NAMES:
        return _text(getattr(case, axis))
    return _text(case.vary[axis]) if axis in case.vary else ""


def place(case: CaseName, axes: Iterable[str]) -> Place:
    """Return where a case stands on several axes."""
    return tuple(coordinate(case, axis) for axis in axes)


def places(axes: Sequence[str], cases: Sequence[CaseName]) -> list[Place]:
    """Return each place that has a case: by axis, its values in the order of the cases."""
    ranks = [list(dict.fromkeys(coordinate(case, axis) for case in cases)) for axis in axes]
    distinct = dict.fromkeys(place(case, axes) for case in cases)
    return sorted(
        distinct, key=lambda at: [rank.index(value) for rank, value in zip(ranks, at, strict=True)]
    )


def crowded(pivot: Pivot, cases: Iterable[CaseName]) -> dict[str, list[str]]:
    """Return by what the cases of one cell differ: axes to values; empty where each has one."""
    cells: dict[Place, list[CaseName]] = {}
    for case in cases:
        if pivot.has(case):
            cells.setdefault(place(case, (*pivot.rows, *pivot.columns)), []).append(case)
    differing: dict[str, list[str]] = {}
    for together in cells.values():
        axes = (*AXIS_NAMES, *dict.fromkeys(path for case in together for path in case.vary))
        for axis in axes:
            values = list(dict.fromkeys(coordinate(case, axis) for case in together))
            if len(values) > 1:
                differing[axis] = list(dict.fromkeys([*differing.get(axis, []), *values]))
    return differing


def _text(value: JsonValue) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
