"""A suite's tables and where each value was written, with a profile laid over them."""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, time
from functools import cached_property
from typing import Any

from pydantic import JsonValue

from benchforge.suite.toml.positions import Path, Spot

Tables = dict[str, JsonValue]


@dataclass(frozen=True)
class Setting:
    """What was given by --set."""

    shown: str
    path: Path


@dataclass(frozen=True)
class Document:
    """Tables as they hold, and the origin of each path in them."""

    shown: str
    "The file, as the user named it."
    text: str
    tables: Tables
    origins: dict[Path, Spot | Setting]
    starred: dict[Path, Path] = field(default_factory=dict)
    "Paths that have their value from a `*` instead of a label, each with its place."

    @cached_property
    def _lines(self) -> list[str]:
        return self.text.split("\n")  # not splitlines: TOML knows fewer ends of lines than Python

    def line(self, number: int) -> str:
        """Return a line of the text, the first of which is 1."""
        return self._lines[number - 1].rstrip("\r") if number <= len(self._lines) else ""

    def origin(self, path: Path) -> Spot | Setting | None:
        """Return where a path was written, or what is nearest above it; None for the whole."""
        return self.origins.get(self._nearest(path))

    def written(self, path: Path) -> Path:
        """Return the path itself, or with a `*` where its value was written for several labels."""
        return self.starred.get(self._nearest(path), path)

    def of_profile(self, path: Path) -> bool:
        """Return True if a path has its value from a profile."""
        written_path, spot = self.starred.get(path, path), self.origins.get(path)
        spots = (
            origin
            for spot_path, origin in self.origins.items()
            if spot_path[:1] == ("profiles",) and spot_path[2:] == written_path
        )
        return spot is not None and spot in spots

    def _nearest(self, path: Path) -> Path:
        while path and path not in self.origins:
            path = path[:-1]
        return path

    def with_layer(self, over: Tables, starred: Mapping[Path, Path], key_path: Path) -> "Document":
        """Lay tables over those that hold: tables merge, all else replaces.

        They were written at a path of the text, and what is `starred` with a `*` there.
        """
        origins, stars = dict(self.origins), dict(self.starred)
        for path in _replaced(self.tables, over, ()):
            origins[path] = self.origins[(*key_path, *starred.get(path, path))]
            stars.pop(path, None)
            if path in starred:
                stars[path] = starred[path]
        return replace(self, tables=merged(self.tables, over), origins=origins, starred=stars)


def as_table(value: JsonValue) -> Tables:
    """Return a value that is a table; in place of any other, an empty one."""
    return value if isinstance(value, dict) else {}


def merged(under: Tables, over: Tables) -> Tables:
    """Return tables with others laid over them: tables merge, all else replaces."""
    joined = dict(under)
    for key, value in over.items():
        below = under.get(key)
        if isinstance(value, dict) and isinstance(below, dict):
            joined[key] = merged(below, value)
        else:
            joined[key] = value
    return joined


def _replaced(under: Tables, over: Tables, path: Path) -> Iterator[Path]:
    for key, value in over.items():
        below = under.get(key)
        if isinstance(value, dict) and isinstance(below, dict):
            yield from _replaced(below, value, (*path, key))
        else:
            yield from paths_of(value, (*path, key))


def paths_of(value: JsonValue, path: Path) -> Iterator[Path]:
    """Yield a path and all paths in its value."""
    yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from paths_of(inner, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from paths_of(inner, (*path, number))


class NotFinite(Exception):
    """A number that JSON does not have, at `path`."""

    def __init__(self, path: Path) -> None:
        super().__init__("expected a finite number")
        self.path = path


def plain(value: Any, path: Path = ()) -> JsonValue:
    """Return the value with dates and times as text. Raises NotFinite for `inf` and `nan`."""
    match value:
        case dict():
            return {key: plain(inner, (*path, key)) for key, inner in value.items()}
        case list():
            return [plain(inner, (*path, number)) for number, inner in enumerate(value)]
        case date() | time():
            return value.isoformat()
        case float() if not math.isfinite(value):
            raise NotFinite(path)
        case str() | int() | float():
            return value
    raise TypeError(f"{type(value).__name__} is no value of TOML")


def in_toml(value: Any) -> str:
    """Return a value of JSON as TOML writes it in one line."""
    if isinstance(value, dict):
        pairs = [f"{toml_key(key)} = {in_toml(inner)}" for key, inner in value.items()]
        return f"{{ {', '.join(pairs)} }}" if pairs else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(in_toml, value))}]"
    # What JSON may hold as it is, and TOML may not.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_key(key: str) -> str:
    """Return a key as TOML writes it."""
    return key if key.isascii() and key.replace("-", "_").isidentifier() else in_toml(key)
