"""One file of a result: read into its model, or what is wrong with it."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails, from_json

from benchforge.model.frozen import Frozen
from benchforge.model.places import JsonPath, Places, dotted, places

Model = TypeVar("Model", bound=Frozen)

NEWEST = 1
_PLAIN_WORDS = {"missing": "is missing", "extra_forbidden": "is not known here"}
_SHOWN = 40


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong with a file: in which, at which value, on which line."""

    file: Path
    where: str
    "The value, as a JSON path such as reading.latency.counts.17; empty for the whole file."
    line: int | None
    message: str
    kind: Literal["unreadable", "invalid"] = "invalid"

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else f"{self.file}"
        return ": ".join(filter(None, (place, self.where, self.message)))


@dataclass(frozen=True)
class Parsed(Generic[Model]):
    """A file that could be read, and where its values stand."""

    file: Path
    model: Model
    places: Places

    def fault(self, message: str, *path: str | int) -> Fault:
        """Return a fault of one value of this file."""
        return Fault(self.file, dotted(path), self.places.line(path), message)


def parse(file: Path, *models: type[Model]) -> Parsed[Model] | list[Fault]:
    """Read a file of a result as the one of these models that it says it is."""
    try:
        raw = _bytes(file)
        model = _model(from_json(raw, allow_inf_nan=False), models)
    except (OSError, ValueError) as error:
        return [_unreadable(file, error)]
    where = places(raw.decode())
    try:
        parsed = Parsed(file, model.model_validate_json(raw, strict=True), where)
    except ValidationError as error:
        return [_invalid(file, where, one) for one in error.errors(include_url=False)]
    return list(_hidden(parsed)) or parsed


def _bytes(file: Path) -> bytes:
    if file.exists() and not file.is_file():
        raise ValueError("is not a file")
    return file.read_bytes()


def _model(value: Any, models: tuple[type[Model], ...]) -> type[Model]:
    """Return the model of a file. Raises ValueError when it is none that we can read."""
    kinds = {model.model_fields["kind"].default: model for model in models}
    kind = value.get("kind") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind not in kinds:
        raise ValueError(f"is not ours: it does not say that its kind is {' or '.join(kinds)}")
    number = value.get("format")
    if number is True or isinstance(number, float):  # both may equal 1, and would be taken for it
        told = json.dumps(number)
        raise ValueError(f"does not say its format by a whole number, but by {told}")
    if isinstance(number, int) and number > NEWEST:
        raise ValueError(f"has format {number}, this benchforge reads {NEWEST}: use a newer one")
    return kinds[kind]


def _unreadable(file: Path, error: OSError | ValueError) -> Fault:
    if isinstance(error, OSError):
        return Fault(file, "", None, error.strerror or str(error), "unreadable")
    message, line = str(error), None
    if found := re.fullmatch(r"(?P<what>.*) at line (?P<line>\d+) column \d+", message, re.DOTALL):
        message, line = f"is not JSON: {found['what']}", int(found["line"])
    return Fault(file, "", line, message, "unreadable")


def _invalid(file: Path, where: Places, error: ErrorDetails) -> Fault:
    path: JsonPath = tuple(step for step in error["loc"] if step != "[key]")
    message = _PLAIN_WORDS.get(error["type"], "")
    if not message:
        told = error["msg"].removeprefix("Value error, ")
        message = f"{told[:1].lower()}{told[1:]}{_got(error['input'])}"
    return Fault(file, dotted(path), where.line(path), message)


def _got(value: Any) -> str:
    if isinstance(value, dict | list | tuple):
        return ""  # too much to show, and its line is told
    text = repr(value)
    return f", got {text if len(text) <= _SHOWN else text[:_SHOWN] + '...'}"


def _hidden(parsed: Parsed[Any]) -> Iterator[Fault]:
    """Yield what a parser accepts without a word."""
    for path in parsed.places.twice:
        yield parsed.fault("stands twice in its object", *path)
    for path in parsed.places.infinite:
        yield parsed.fault("is beyond the largest number", *path)
