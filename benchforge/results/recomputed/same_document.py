"""Whether two documents say the same: value by value, each with its path."""

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


def leaves(
    document: object, other: object, path: JsonPath
) -> Iterator[tuple[JsonPath, object, object]]:
    """Yield each value of two documents that is not an object in both, or an array in both."""
    if isinstance(document, dict) and isinstance(other, dict):
        for key in dict.fromkeys((*document, *other)):
            then, new_value = document.get(key, NOTHING), other.get(key, NOTHING)
            yield from leaves(then, new_value, (*path, key))
    elif isinstance(document, list) and isinstance(other, list):
        for number, (then, new_value) in enumerate(zip_longest(document, other, fillvalue=NOTHING)):
            yield from leaves(then, new_value, (*path, number))
    else:
        yield path, document, other


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
    """Return a value as people are told of it."""
    if value is NOTHING:
        return "not there"
    text = json.dumps(value)
    return cut(text, _SHOWN)
