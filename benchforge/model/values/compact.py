"""Models that are kept by the thousand, in less memory."""

import sys
from datetime import datetime
from types import NoneType
from typing import Any, TypeVar

from benchforge.model.values.frozen import Frozen

Model = TypeVar("Model", bound=Frozen)
_FIELD_SETS: dict[frozenset[str], set[str]] = {}
_LONG = 64  # characters: pydantic makes such a text anew each time that it is read
_HOLD_NOTHING = {str, int, float, bool, NoneType, datetime}


def compact(model: Model) -> Model:
    """Let a model that was just made share with others what they have in common. Return it.

    pydantic keeps with each model a set of the fields that were given: a third of what a trial
    takes. Models that were given the same fields have one set here. Nothing changes it: a copy of
    a model has a set of its own. Long texts that are equal are one; pydantic shares the others.
    """
    left: list[Any] = [model]
    while left:
        inner = left.pop()
        kind = type(inner)
        if kind is tuple:
            left += [value for value in inner if type(value) not in _HOLD_NOTHING]
        elif kind is dict:
            left += _holders(inner)
        elif (given := getattr(inner, "__pydantic_fields_set__", None)) is not None:
            shared = _FIELD_SETS.setdefault(frozenset(given), given)
            object.__setattr__(inner, "__pydantic_fields_set__", shared)
            left += _holders(inner.__dict__)
    return model


def _holders(values: dict[Any, Any]) -> list[Any]:
    """Return what holds other values, and share the texts."""
    holders = []
    for key, value in values.items():
        kind = type(value)
        if kind is str and len(value) >= _LONG:
            values[key] = sys.intern(value)
        elif kind not in _HOLD_NOTHING:
            holders.append(value)
    return holders
