"""Each option changed to another valid value: one that changes no answer is not heard."""

from collections.abc import Callable, Iterator
from typing import Any

from pydantic import JsonValue, ValidationError

from benchforge.parts.part import Part
from benchforge.suite.toml.models import typed

Behaviour = Callable[[Part], object]

# Tried one after another, after values near the one that is there; the first that is taken counts.
_ANY: tuple[Any, ...] = (
    *(2, 1, 3, 100, 0.5, 2.5, True, False, "text", "2s", "1MiB", "100/s"),
    *("module:name", "http://127.0.0.1:8081"),
    *(["text"], ["--text"], [2], {"NAME": "text"}, {"name": 2}),
)


def deaf(part: Part, options: dict[str, JsonValue], behaviour: Behaviour) -> Iterator[str]:
    """Yield a line for each option that changes nothing, and for each that could not be tried.

    An option may need another one to matter: each pair is tried before it is called deaf.
    `behaviour` returns something comparable, and raises nothing.
    """
    written_names = map(_written, type(part).model_fields.items())
    names = [name for name in written_names if name not in _OURS]
    there = behaviour(part)
    for name in names:
        tried = False
        heard = False
        for base in _bases(part, options, names, name):
            other = _other(type(part), base, name)
            if other is None:
                continue
            tried = True
            before = there if base == options else behaviour(typed(type(part), base))
            if heard := behaviour(other) != before:
                break
        if not tried:
            yield f"option {name!r}: no other valid value was found: it was not tried"
        elif not heard:
            yield f"option {name!r} changes nothing"


_OURS = ("runtime", "ready_within")
"What benchforge itself reads of a part."


def _written(field: tuple[str, Any]) -> str:
    name, info = field
    return str(info.alias or name)


def _bases(
    part: Part, options: dict[str, JsonValue], names: list[str], name: str
) -> Iterator[dict[str, JsonValue]]:
    """Yield the options as they are, then with each of the others changed."""
    yield options
    for other in names:
        if other != name:
            for value in _values(part, options, other):
                base = {**options, other: value}
                if _taken(type(part), base) is not None:
                    yield base


def _other(cls: type[Part], options: dict[str, JsonValue], name: str) -> Part | None:
    """Return the part with another value of one option; None where none is found."""
    before = _taken(cls, options)
    if before is None:
        return None
    field = _field(cls, name)
    for value in _values(before, options, name):
        after = _taken(cls, {**options, name: value})
        if after is not None and getattr(after, field) != getattr(before, field):
            return after
    return None


def _field(cls: type[Part], name: str) -> str:
    return next(one for one in cls.model_fields.items() if _written(one) == name)[0]


def _values(part: Part, options: dict[str, JsonValue], name: str) -> Iterator[Any]:
    """Yield what may be valid for an option: near what is there, then anything."""
    field = _field(type(part), name)
    yield from _near(
        options.get(name, getattr(part, field)), type(part).model_fields[field].annotation
    )
    yield from _ANY


def _near(value: Any, annotation: Any) -> Iterator[JsonValue]:
    for literal in _literals(annotation):
        if literal != value:
            yield literal
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int | float):
        for other in (value + 1, value * 2, value - 1):
            yield int(other) if float(other).is_integer() else float(other)
    elif isinstance(value, str):
        yield from (f"{value}x", f"x{value}", f"/{value}")
    elif isinstance(value, list):
        yield from ([*value, "text"], value[:-1])


def _literals(annotation: Any) -> Iterator[JsonValue]:
    for argument in getattr(annotation, "__args__", ()):
        if isinstance(argument, str | int):
            yield argument
        else:
            for inner in _literals(argument):
                yield inner
                yield [inner]


def _taken(cls: type[Part], options: dict[str, JsonValue]) -> Part | None:
    try:
        return typed(cls, options)
    except (ValidationError, ValueError, TypeError):
        return None
