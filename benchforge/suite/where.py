"""Which cases are meant: axes of the matrix, and the values that they take."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from benchforge.model.pivot import NAMES
from benchforge.suite.faults import nearest
from benchforge.suite.suite import Scenario
from benchforge.suite.words import shown

Axes = Mapping[str, Sequence[JsonValue]]
"Each axis with the values that it takes."


class Misplaced(NamedTuple):
    """What is wrong with one axis of a `where`."""

    axis: str
    message: str
    hint: str


def axes(scenarios: Mapping[str, Scenario]) -> Axes:
    """Return the axes of some scenarios, each with its values."""
    found: dict[str, list[JsonValue]] = {axis: [] for axis in NAMES}
    for label, one in scenarios.items():
        found["scenario"] += [label]
        found["server"] += one.servers
        found["driver"] += (*one.loaders, *one.clients)
        for path, values in one.vary.items():
            found.setdefault(path, []).extend(values)
        for point in one.include:
            for path, value in point.items():
                found.setdefault(path, []).append(value)
    return {axis: _distinct(values) for axis, values in found.items()}


def misplaced(where: Mapping[str, JsonValue], known: Axes) -> Iterator[Misplaced]:
    """Yield what is wrong with a `where`: axes to a value, or to an array of several."""
    for axis, value in where.items():
        if isinstance(value, dict):
            hint = 'quote the whole path: where = { "servers.*.workers" = 4 }'
            yield Misplaced(axis, "expected a value, got a table", hint)
        elif axis not in known:
            yield Misplaced(axis, f"no axis {axis!r}", nearest(axis, known, "axes"))
        elif value == []:
            yield Misplaced(axis, "keeps nothing", "give at least one value, or leave it out")
        else:
            taken = ", ".join(map(shown, known[axis]))
            for one in values(value):
                if json.dumps(one) not in map(json.dumps, known[axis]):
                    yield Misplaced(axis, f"never is {shown(one)}", f"it takes: {taken}")


def values(value: JsonValue) -> tuple[JsonValue, ...]:
    """Return the values that one of a `where` stands for."""
    return tuple(value) if isinstance(value, list) else (value,)


def _distinct(several: Sequence[JsonValue]) -> list[JsonValue]:
    return list({json.dumps(value): value for value in several}.values())
