"""Comparison of two documents: value by value, each with its path."""

import json
import math
from collections.abc import Iterator
from itertools import zip_longest

from benchforge.model.values.places import JsonPath
from benchforge.text.readable import cut

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


def leaves(then: object, new: object, path: JsonPath) -> Iterator[tuple[JsonPath, object, object]]:
    """Yield each value of two documents that is not an object in both, or an array in both."""
    if isinstance(then, dict) and isinstance(new, dict):
        for key in dict.fromkeys((*then, *new)):
            yield from leaves(then.get(key, NOTHING), new.get(key, NOTHING), (*path, key))
    elif isinstance(then, list) and isinstance(new, list):
        for number, pair in enumerate(zip_longest(then, new, fillvalue=NOTHING)):
            yield from leaves(*pair, (*path, number))
    else:
        yield path, then, new


def alike(value: object, other: object) -> bool:
    """Whether two such values are the same; one that has a fraction may be off by CLOSE."""
    if isinstance(value, bool) or isinstance(other, bool):
        return value is other
    if isinstance(value, int) and isinstance(other, int):
        return value == other
    if isinstance(value, int | float) and isinstance(other, int | float):
        try:
            return math.isclose(value, other, rel_tol=CLOSE)
        except OverflowError:  # a count beyond all floats
            return False
    return value == other


def written(value: object) -> str:
    """Return a value for people."""
    return "not there" if value is NOTHING else cut(json.dumps(value), _SHOWN)
