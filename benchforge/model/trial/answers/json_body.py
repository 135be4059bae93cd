"""What a JSON body contains, and how many elements its arrays have."""

import json
from typing import Annotated, Any

from pydantic import AfterValidator, JsonValue, NonNegativeInt

from benchforge.text.readable import counted, cut

_SHOWN = 60  # characters of a value that a server chose
_ROOT = "$"


def _only_lengths(items: Any, place: str = "") -> Any:
    """Return what was written. Raises ValueError where a table leads to something else."""
    if isinstance(items, dict):
        if not items:
            raise ValueError(
                f"{place or 'the table'} is empty: name the arrays, as {{ rows = 50 }}"
            )
        for key, inner in items.items():
            _only_lengths(inner, f"{place}.{key}" if place else key)
    elif isinstance(items, bool) or not isinstance(items, int) or items < 0:
        text = json.dumps(items)
        raise ValueError(f"{place} is {text}: expected a whole number, at least 0, or a table")
    return items


Items = Annotated[NonNegativeInt | dict[str, JsonValue], AfterValidator(_only_lengths)]
"The length of an array, or by the keys of an object those of arrays in it."


def items_difference(items: Any, got: Any, place: str = _ROOT) -> str | None:
    """Return which array of a JSON value is missing or has another length; None where none is."""
    if isinstance(items, int):
        elements = counted(items, "element")
        if not isinstance(got, list):
            return f"expected an array of {elements} in {place}, got {_shown(got)}"
        return None if len(got) == items else f"expected {elements} in {place}, got {len(got)}"
    if not isinstance(got, dict):
        return f"expected an object in {place}, got {_shown(got)}"
    for key, inner in items.items():
        if key not in got:
            return f"expected {place}.{key} in the JSON, it is not there"
        if mismatch := items_difference(inner, got[key], f"{place}.{key}"):
            return mismatch
    return None


def subset_difference(expected: Any, got: Any, items: Any = None, place: str = _ROOT) -> str | None:
    """Return what of an expected JSON value another one lacks; None where it has all of it.

    Objects may have more members. Arrays are as long as the expected ones, or as `items` says.
    """
    if isinstance(expected, dict) and isinstance(got, dict):
        for key, value in expected.items():
            if key not in got:
                return f"expected {place}.{key} in the JSON, it is not there"
            inner = items.get(key) if isinstance(items, dict) else None
            if mismatch := subset_difference(value, got[key], inner, f"{place}.{key}"):
                return mismatch
        return None
    whole = len(expected) if isinstance(expected, list) and items is None else items
    if isinstance(expected, list) and isinstance(got, list) and len(got) == whole:
        for number, (wanted, given) in enumerate(zip(expected, got, strict=False)):
            if mismatch := subset_difference(wanted, given, place=f"{place}[{number}]"):
                return mismatch
        return None
    same = expected == got and isinstance(expected, bool) == isinstance(got, bool)
    return None if same else f"expected {place} = {json.dumps(expected)}, got {_shown(got)}"


def items_conflict(items: Any, subset: Any, place: str = _ROOT) -> str | None:
    """Return where a value that `json` asks for cannot have these arrays; None where it can.

    Of an array whose length `items` gives, `json` may give the first elements alone.
    """
    if isinstance(items, int):
        if not isinstance(subset, list):
            return f"`items` says that {place} is an array, and `json` that it is {_shown(subset)}"
        if len(subset) > items:
            elements = counted(items, "element")
            return f"`items` gives {place} {elements}, and `json` names {len(subset)}"
        return None
    if not isinstance(subset, dict):
        return f"`items` says that {place} is an object, and `json` that it is {_shown(subset)}"
    conflicts = (
        items_conflict(inner, subset[key], f"{place}.{key}")
        for key, inner in items.items()
        if key in subset
    )
    return next(filter(None, conflicts), None)


def _shown(value: Any) -> str:
    """Return what a person reads of a JSON value that a server chose."""
    try:
        text = json.dumps(value)
    except RecursionError:
        return "what is nested too deeply"
    return cut(text, _SHOWN)
