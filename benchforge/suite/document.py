"""A suite's tables and where each value was written, with a profile laid over them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from pydantic import JsonValue

from benchforge.suite.faults import Fault, SuiteErrors, nearest
from benchforge.suite.positions import Path, Spot

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

    @cached_property
    def _lines(self) -> list[str]:
        return self.text.split("\n")  # not splitlines: TOML knows fewer ends of lines than Python

    def line(self, number: int) -> str:
        """Return a line of the text, the first of which is 1."""
        return self._lines[number - 1].rstrip("\r") if number <= len(self._lines) else ""

    def origin(self, path: Path) -> Spot | Setting | None:
        """Return where a path was written, or what is nearest above it; None for the whole."""
        while path and path not in self.origins:
            path = path[:-1]
        return self.origins.get(path)


def with_profile(document: Document, name: str | None) -> Document:
    """Lay a profile over the document: tables merge, all else replaces.

    Raises SuiteErrors when there is no such profile.
    """
    profiles = document.tables.get("profiles")
    tables = {key: value for key, value in document.tables.items() if key != "profiles"}
    if name is None:
        return replace(document, tables=tables)
    profiles = profiles if isinstance(profiles, dict) else {}
    profile = profiles.get(name)
    if not isinstance(profile, dict):
        hint = nearest(name, profiles, "profiles")
        message = f"{document.shown} has no profile of that name"
        raise SuiteErrors([Fault(f"--profile {name}", message, hint=hint)])
    origins = dict(document.origins)
    for path in _replaced(tables, profile, ()):
        origins[path] = document.origins["profiles", name, *path]
    return replace(document, tables=_merged(tables, profile), origins=origins)


def _merged(under: Tables, over: Tables) -> Tables:
    both = dict(under)
    for key, value in over.items():
        below = under.get(key)
        if isinstance(value, dict) and isinstance(below, dict):
            both[key] = _merged(below, value)
        else:
            both[key] = value
    return both


def _replaced(under: Tables, over: Tables, path: Path) -> Iterator[Path]:
    """Yield each path that has its value from `over`."""
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
