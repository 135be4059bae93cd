"""Whether two documents say the same: value by value, each with its path."""

import json
import math
from collections.abc import Iterator

from benchforge.model.places import JsonPath

CLOSE = 1e-9
"Relative, of numbers with a fraction; counts and texts must be equal."
NOTHING = object()
"In place of a value that is not there."
_SHOWN = 60


def member(value: object, *path: str | int) -> object:
    """Return what stands at a path of a document, NOTHING where nothing does."""
    for step in path:
        if isinstance(value, dict):
            value = value.get(step, NOTHING)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return NOTHING
    return value


def leaves(one: object, other: object, path: JsonPath) -> Iterator[tuple[JsonPath, object, object]]:
    """Yield each value of two documents that is not an object in both, or an array in both."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in [*one, *(key for key in other if key not in one)]:
            yield from leaves(member(one, key), member(other, key), (*path, key))
    elif isinstance(one, list) and isinstance(other, list):
        for number in range(max(len(one), len(other))):
            yield from leaves(member(one, number), member(other, number), (*path, number))
    else:
        yield path, one, other


def alike(one: object, other: object) -> bool:
    """Whether two such values are the same; one that has a fraction may be off by CLOSE."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int) and isinstance(other, int):
        return one == other
    if isinstance(one, int | float) and isinstance(other, int | float):
        try:
            return math.isclose(one, other, rel_tol=CLOSE)
        except OverflowError:  # a count beyond all floats
            return False
    return one == other


def written(value: object) -> str:
    """Return a value as people are told of it."""
    if value is NOTHING:
        return "not there"
    text = json.dumps(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
