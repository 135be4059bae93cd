"""The kind of value that everything on disk is made of."""

import sys
from datetime import datetime
from types import NoneType
from typing import Any, Self, TypeVar

from pydantic import BaseModel, ConfigDict

ROW = ConfigDict(extra="forbid", allow_inf_nan=False, defer_build=True)
"Of a frozen dataclass with slots: it takes a fifth of the memory of a model, in thousands of rows."
_set = object.__setattr__

_FIELD_SETS: dict[frozenset[str], set[str]] = {}
_TEXTS: dict[tuple[tuple[str, str], ...], dict[str, str]] = {}
_LONG = 64  # characters: pydantic makes such a text anew each time that it is read
_HOLD_NOTHING = {str, int, float, bool, NoneType, datetime}


class Frozen(BaseModel):
    """A value that never changes, refuses unknown fields and cannot hold NaN or infinity."""

    # Built when first used: most commands need few of the models.
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    def like(self, **values: Any) -> Self:
        """Return a model with other values, which are valid, in a third of the time of a new one.

        It shares the set of the fields that were given: nothing changes that.
        """
        other = type(self).__new__(type(self))
        _set(other, "__dict__", self.__dict__ | values)
        _set(other, "__pydantic_fields_set__", self.__pydantic_fields_set__)
        _set(other, "__pydantic_extra__", None)
        _set(other, "__pydantic_private__", None)
        return other


Model = TypeVar("Model", bound=Frozen)


def compact(model: Model) -> Model:
    """Let a new model share equal parts with others, and return it.

    pydantic keeps the set of given fields with each model, a third of what a trial takes. Models
    share these sets here, which nothing changes, and equal long texts and tables of texts.
    """
    pending: list[Any] = [model]
    while pending:
        inner = pending.pop()
        kind = type(inner)
        if kind is tuple:
            pending += [value for value in inner if type(value) not in _HOLD_NOTHING]
        elif kind is dict:
            pending += _holders(inner)
        elif (fields_set := getattr(inner, "__pydantic_fields_set__", None)) is not None:
            shared = _FIELD_SETS.setdefault(frozenset(fields_set), fields_set)
            _set(inner, "__pydantic_fields_set__", shared)
            pending += _holders(inner.__dict__)
        elif hasattr(kind, "__pydantic_fields__"):
            values = {name: getattr(inner, name) for name in kind.__slots__}
            pending += _holders(values)
            for name, value in values.items():
                _set(inner, name, value)
    return model


def _holders(values: dict[Any, Any]) -> list[Any]:
    """Return what holds other values, and share the texts."""
    holders = []
    for key, value in values.items():
        kind = type(value)
        if kind in _HOLD_NOTHING:
            if kind is str and len(value) >= _LONG:
                values[key] = sys.intern(value)
        elif kind is dict and {*map(type, value.values())} <= {str}:
            values[key] = _TEXTS.setdefault((*value.items(),), value)
        else:
            holders.append(value)
    return holders
