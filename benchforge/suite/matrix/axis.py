"""What a scenario varies: an option of one part or of all parts of a kind, or a path variable."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from pydantic import JsonValue

from benchforge.model.trial.answers.answer import Request
from benchforge.parts.part import Part
from benchforge.suite.suite import Declared
from benchforge.suite.toml.document import Tables
from benchforge.suite.toml.models import typed

Point = Mapping[str, JsonValue]
"What varies, by its path in the suite, to its value."

PLACES = ("servers", "backends", "loaders", "clients")

_VARIABLE = re.compile(r"\{([A-Za-z_]\w*)\}")


@dataclass(frozen=True)
class Axis:
    """A path of `vary`, understood."""

    place: str
    "A table of parts, or `path`."
    label: str
    "Label of a part, `*` for all of them, or the name of a path variable."
    option: tuple[str, ...] = ()
    "An option, and keys inside it."

    def reaches(self, place: str, declaration: Declared) -> bool:
        """Tell whether a part of the table `place` has the option."""
        if self.place != place or self.label not in {"*", declaration.label}:
            return False
        fields = declaration.cls.model_fields.items()
        return any(self.option[0] == (field.alias or name) for name, field in fields)


@lru_cache(maxsize=1024)
def axis(path: str) -> Axis | None:
    """Understand a path of `vary`; None where it has another form."""
    match path.split("."):
        case ["path", variable]:
            return Axis("path", variable)
        case [place, label, *option] if place in PLACES and all([label, *option]) and option:
            return Axis(place, label, tuple(option))
        case _:
            return None


def reaching(point: Point, place: str, declaration: Declared) -> dict[str, JsonValue]:
    """Return what of a point is about a part of the table `place`."""
    axes = ((path, axis(path), value) for path, value in point.items())
    return {
        path: value for path, varied, value in axes if varied and varied.reaches(place, declaration)
    }


def moved(declaration: Declared, point: Point) -> Tables:
    """Return the options of a part at a point, all of which is about that part."""
    options: Tables = dict(declaration.options)
    for path, value in point.items():
        if varied := axis(path):
            options = _put(options, varied.option, value)
    return options


def part_at(declaration: Declared, place: str, point: Point) -> Part:
    """Return a part of the table `place` at a point. Raises pydantic's ValidationError."""
    return part_with(declaration, reaching(point, place, declaration))


def part_with(declaration: Declared, concerned: Point) -> Part:
    """Return a part with what of a point is about it. Raises pydantic's ValidationError."""
    if not concerned:
        return declaration.part
    return typed(declaration.cls, moved(declaration, concerned))


def _put(table: JsonValue, keys: tuple[str, ...], value: JsonValue) -> Tables:
    inner = table if isinstance(table, dict) else {}
    key, *rest = keys
    return {**inner, key: _put(inner.get(key), tuple(rest), value) if rest else value}


def variables(request: Request) -> tuple[str, ...]:
    """Return the variables of a request's path."""
    return tuple(dict.fromkeys(_VARIABLE.findall(request.path)))


def filled(request: Request, point: Point) -> tuple[Request, dict[str, JsonValue]]:
    """Return the request with its path's variables filled in, and what of the point that took.

    Raises pydantic's ValidationError when that is no path any more.
    """
    taken = {path: point[path] for name in variables(request) if (path := f"path.{name}") in point}
    if not taken:
        return request, taken
    path = _VARIABLE.sub(lambda match: str(taken.get(f"path.{match[1]}", match[0])), request.path)
    dumped = request.model_dump(mode="json") | {"path": path}
    return typed(Request, dumped), taken
