"""Reading of a result's file into its model, or a list of its faults."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Generic, Literal, TypeVar, Union, get_args, get_origin

from pydantic import ValidationError
from pydantic_core import ErrorDetails, from_json

from benchforge.model.values.bounds import bounded
from benchforge.model.values.frozen import Frozen
from benchforge.model.values.places import JsonPath, Places, dotted, hides, places
from benchforge.text import door
from benchforge.text.readable import conjoined, cut, exact

Model = TypeVar("Model", bound=Frozen)

FORMAT = 2
"The number that every file of a result states: 1 is of benchforge 0.1.0."
MOST_BYTES = 32 * door.MIB
_MOST_FAULTS = 1_000
_LARGE = door.MIB
_PLAIN_WORDS = {"missing": "is missing", "extra_forbidden": "is not known here"}
_SHOWN = 40
_DIGITS = 10**_SHOWN


@dataclass(frozen=True)
class FileFault:
    """A fault of a file, with its value and line."""

    file: Path
    where: str
    "JSON path of the value, such as reading.latency.counts.17; empty for the whole file."
    line: int | None
    message: str
    kind: Literal["unreadable", "invalid"] = "invalid"
    "Kind of fault."

    def __str__(self) -> str:
        location = f"{self.file}:{self.line}" if self.line else f"{self.file}"
        return ": ".join(filter(None, (location, self.where, self.message)))


@dataclass(frozen=True)
class Parsed(Generic[Model]):
    """A parsed file, with its text."""

    file: Path
    model: Model
    text: Callable[[], bytes] = field(repr=False)

    @cached_property
    def places(self) -> Places:
        """Line of each value: it is looked for where something is wrong."""
        return places(self.text().decode())

    def fault(self, message: str, *path: str | int) -> FileFault:
        """Return a fault of one value of this file."""
        return FileFault(self.file, dotted(path), self.places.line(path), message)


def parse(folder: Path, name: str, *models: type[Model]) -> Parsed[Model] | list[FileFault]:
    """Read a file of a result's folder as the one of these models that it says it is."""
    return _parse(folder / name, lambda: door.read(folder, name, MOST_BYTES), models)


def parse_as_written(folder: Path, name: str, model: type[Model]) -> Parsed[Model] | None:
    """Read a small file with which nothing is wrong; None for another, and one that is missing."""
    try:
        raw = bounded(door.read(folder, name, _LARGE))
    except (OSError, ValueError):
        return None
    return _as_written(folder / name, raw, (model,))


def parse_named(path: Path, *models: type[Model]) -> Parsed[Model] | list[FileFault]:
    """Read a file that a person names, likewise."""
    return _parse(path, lambda: door.read_named(path, MOST_BYTES), models)


def _parse(
    file: Path, read: Callable[[], bytes], models: tuple[type[Model], ...]
) -> Parsed[Model] | list[FileFault]:
    try:
        raw = bounded(read())
    except (OSError, ValueError) as error:
        return [_unreadable(file, error)]
    return _as_written(file, raw, models) or _looked_through(file, raw, models)


def _looked_through(
    file: Path, raw: bytes, models: tuple[type[Model], ...]
) -> Parsed[Model] | list[FileFault]:
    """Return a file that another program may have written, or all that is wrong with it."""
    try:
        value = from_json(raw, allow_inf_nan=False)
        model = _model(value, models)
    except ValueError as error:
        return [_unreadable(file, error)]
    # For each field that is missing, pydantic copies all that stands beside it.
    if len(raw) > _LARGE and (paths := [*islice(missing(value, model), _MOST_FAULTS)]):
        where = places(raw.decode())
        return [FileFault(file, dotted(path), where.line(path), "is missing") for path in paths]
    scans = hides(raw, value)
    del value
    try:
        parsed = Parsed(file, model.model_validate_json(raw, strict=True), lambda: raw)
    except ValidationError as error:
        if (wrong := error.error_count()) > _MOST_FAULTS:
            return [FileFault(file, "", None, f"{exact(wrong)} values are wrong, too many to name")]
        where = places(raw.decode())
        return [_invalid(file, where, error_) for error_ in error.errors(include_url=False)]
    return (list(_hidden(file, raw)) if scans else []) or parsed


def _as_written(file: Path, raw: bytes, models: tuple[type[Model], ...]) -> Parsed[Model] | None:
    """Return a small file if its model gives the same bytes again, so that nothing is wrong."""
    kind, *others = models
    if others or len(raw) > _LARGE:
        return None
    try:
        model = kind.model_validate_json(raw, strict=True)
    except ValidationError:
        return None
    if not raw.startswith(text := _written(model, b"")) or raw[len(text) :] not in {b"", b"\n"}:
        return None
    return Parsed(file, model, partial(_written, model, raw[len(text) :]))


def _written(model: Frozen, end: bytes) -> bytes:
    return model.__pydantic_serializer__.to_json(model, indent=1, by_alias=True) + end


def _model(value: Any, models: tuple[type[Model], ...]) -> type[Model]:
    """Return the model of a file. Raises ValueError when it is none that we can read."""
    kinds = {model.model_fields["kind"].default: model for model in models}
    kind = value.get("kind") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind not in kinds:
        raise ValueError(f"is not ours: it does not say that its kind is {conjoined(kinds, 'or')}")
    number = value.get("format")
    if number is True or isinstance(number, float):  # both compare equal to an int
        raise ValueError(f"does not say its format by a whole number, but by {json.dumps(number)}")
    if isinstance(number, int) and 0 < number != FORMAT:
        other = f"has format {min(number, _DIGITS)}, this benchforge reads {FORMAT}"
        raise ValueError(f"{other}: use the version that wrote it")
    return kinds[kind]


def _unreadable(file: Path, error: OSError | ValueError) -> FileFault:
    if isinstance(error, OSError):
        return FileFault(file, "", None, error.strerror or str(error), "unreadable")
    message, line = str(error), None
    if match := re.fullmatch(r"(?P<what>.*) at line (?P<line>\d+) column \d+", message, re.DOTALL):
        message, line = f"is not JSON: {match['what']}", int(match["line"])
    return FileFault(file, "", line, message, "unreadable")


def _invalid(file: Path, where: Places, error: ErrorDetails) -> FileFault:
    path: JsonPath = tuple(step for step in error["loc"] if step != "[key]")
    message = _PLAIN_WORDS.get(error["type"], "")
    if not message:
        reason = error["msg"].removeprefix("Value error, ")
        message = f"{reason[:1].lower()}{reason[1:]}{_got(error['input'])}"
    return FileFault(file, dotted(path), where.line(path), message)


def _got(value: Any) -> str:
    if isinstance(value, dict | list | tuple):
        return ""  # too much to show, and its line is told
    if isinstance(value, int) and abs(value) >= _DIGITS:
        return ", got a number of many digits"
    text = repr(value[: _SHOWN + 1] if isinstance(value, str) else value)
    return f", got {cut(text, _SHOWN)}"


def _hidden(file: Path, raw: bytes) -> Iterator[FileFault]:
    """Yield what a parser accepts without a word."""
    where = places(raw.decode())
    for path in where.twice:
        yield FileFault(file, dotted(path), where.line(path), "occurs twice in its object")
    for path in where.infinite:
        yield FileFault(file, dotted(path), where.line(path), "is beyond the largest number")


def missing(value: Any, wanted: Any, path: JsonPath = ()) -> Iterator[JsonPath]:
    """Yield the path of each missing field of `wanted`: a model, or a type that holds one model."""
    origin, args = get_origin(wanted), get_args(wanted)
    if isinstance(wanted, type) and issubclass(wanted, Frozen):
        if isinstance(value, dict):
            yield from _of_fields(value, wanted, path)
    elif origin is Annotated:
        yield from missing(value, args[0], path)
    elif origin in {Union, UnionType}:
        alternatives = [argument for argument in args if argument is not NoneType]
        if len(alternatives) == 1:
            yield from missing(value, alternatives[0], path)
    elif origin is tuple and isinstance(value, list):
        for number, inner in enumerate(value):
            yield from missing(inner, args[0], (*path, number))
    elif origin is dict and isinstance(value, dict):
        for key, inner in value.items():
            yield from missing(inner, args[1], (*path, key))


def _of_fields(value: dict[str, Any], model: type[Frozen], path: JsonPath) -> Iterator[JsonPath]:
    for name, info in model.model_fields.items():
        key = info.alias or name
        if key in value:
            yield from missing(value[key], info.annotation, (*path, key))
        elif info.is_required():
            yield (*path, key)
