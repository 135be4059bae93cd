"""Models that are kept by the thousand, in less memory."""

from collections.abc import Iterable
from datetime import datetime
from types import NoneType
from typing import Any

from benchforge.model.values.frozen import Frozen

_LATEST: dict[type, set[str]] = {}
"The set of the model that was the last of its class: most have the same."
_FIELD_SETS: dict[frozenset[str], set[str]] = {}
# By type, not by isinstance: that takes a call of Python for each class that is abstract.
_HOLD_NOTHING = {str, int, float, bool, NoneType, datetime}


def compact(model: Frozen) -> None:
    """Let a model that was just made share with others what they have in common.

    pydantic keeps with each model a set of the fields that were given: a third of what a trial
    takes. Models that were given the same fields have one set here. Nothing changes it: a copy of
    a model has a set of its own.
    """
    left: list[Any] = [model]
    while left:
        inner = left.pop()
        kind = type(inner)
        if kind is tuple:
            left += _holders(inner)
        elif kind is dict:
            left += _holders(inner.values())
        elif kind in _LATEST or issubclass(kind, Frozen):
            given = inner.__pydantic_fields_set__
            shared = _LATEST.get(kind)
            if shared != given:
                shared = _FIELD_SETS.setdefault(frozenset(given), given)
                _LATEST[kind] = shared
            object.__setattr__(inner, "__pydantic_fields_set__", shared)
            left += _holders(inner.__dict__.values())


def _holders(values: Iterable[Any]) -> list[Any]:
    return [value for value in values if type(value) not in _HOLD_NOTHING]
