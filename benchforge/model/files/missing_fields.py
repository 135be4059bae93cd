"""Which fields an untyped document lacks that a model needs."""

from collections.abc import Iterator
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from benchforge.model.values.frozen import Frozen
from benchforge.model.values.places import JsonPath


def missing(value: Any, wanted: Any, path: JsonPath = ()) -> Iterator[JsonPath]:
    """Yield the path of each field that is not there, whatever else is wrong.

    `wanted` is a model, or a type that holds models. Where it may be one of several, nothing is
    looked at.
    """
    origin, args = get_origin(wanted), get_args(wanted)
    if isinstance(wanted, type) and issubclass(wanted, Frozen):
        if isinstance(value, dict):
            yield from _of_fields(value, wanted, path)
    elif origin is Annotated:
        yield from missing(value, args[0], path)
    elif origin in {Union, UnionType}:
        left = [one for one in args if one is not NoneType]
        if len(left) == 1:
            yield from missing(value, left[0], path)
    elif origin is tuple and isinstance(value, list):
        for number, inner in enumerate(value):
            yield from missing(inner, args[0], (*path, number))
    elif origin is dict and isinstance(value, dict):
        for key, inner in value.items():
            yield from missing(inner, args[1], (*path, key))


def _of_fields(value: dict[str, Any], model: type[Frozen], path: JsonPath) -> Iterator[JsonPath]:
    for name, field in model.model_fields.items():
        key = field.alias or name
        if key in value:
            yield from missing(value[key], field.annotation, (*path, key))
        elif field.is_required():
            yield (*path, key)
