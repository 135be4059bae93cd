"""A suite's tables and where each value was written, with a profile and settings laid over them."""

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

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

    def origin(self, path: Path) -> Spot | Setting | None:
        """Return where a path was written, or what is nearest above it; None for the whole."""
        while path and path not in self.origins:
            path = path[:-1]
        return self.origins.get(path)


def with_profile(document: Document, name: str | None) -> Document:
    """Lay a profile over the document: tables merge, all else replaces.

    Raises SuiteErrors when there is no such profile.
    """
    profiles = document.tables.get("profiles", {})
    tables = {key: value for key, value in document.tables.items() if key != "profiles"}
    if name is None or not isinstance(profiles, dict):
        return replace(document, tables=tables)
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
            yield from _paths(value, (*path, key))


def _paths(value: JsonValue, path: Path) -> Iterator[Path]:
    yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _paths(inner, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _paths(inner, (*path, number))


def with_settings(document: Document, settings: Sequence[tuple[str, str]]) -> Document:
    """Set values by their paths, in order. Raises SuiteErrors for what cannot be set."""
    faults: list[Fault] = []
    for dotted, written in settings:
        shown = f"--set {dotted}={written}"
        try:
            document = _with_setting(document, shown, _keys(dotted), _value(written))
        except _Unsettable as error:
            faults.append(Fault(shown, error.args[0], hint=error.args[1]))
    if faults:
        raise SuiteErrors(faults)
    return document


class _Unsettable(Exception):
    """Message and hint."""


def _with_setting(
    document: Document, shown: str, keys: tuple[str, ...], value: JsonValue
) -> Document:
    top, label = keys[0], keys[1] if len(keys) > 1 else None
    if top == "profiles":
        raise _Unsettable("a profile cannot be set", "set what it sets, or edit the suite")
    labelled = top in {"servers", "backends", "loaders", "clients", "metrics", "scenarios"}
    declared = document.tables.get(top, {})
    if labelled and label is not None and isinstance(declared, dict) and label not in declared:
        raise _Unsettable(f"{top}.{label} is not declared", nearest(label, declared, "declared"))
    tables = _put(document.tables, keys, value)
    origin = Setting(shown, keys)
    return replace(
        document,
        tables=tables,
        origins={**document.origins, **dict.fromkeys(_paths(value, keys), origin)},
    )


def _put(tables: Tables, keys: tuple[str, ...], value: JsonValue) -> Tables:
    key, *rest = keys
    if not rest:
        return {**tables, key: value}
    inner = tables.get(key, {})
    if not isinstance(inner, dict):
        raise _Unsettable(f"{key!r} is not a table", "a path is made of the keys of tables")
    return {**tables, key: _put(inner, tuple(rest), value)}


def _keys(dotted: str) -> tuple[str, ...]:
    wrong = _Unsettable("not a path", "write --set servers.django.workers=2")
    if "\n" in dotted:
        raise wrong
    try:
        inner: object = tomllib.loads(f"{dotted} = 0")
    except (tomllib.TOMLDecodeError, RecursionError):
        raise wrong from None
    keys: list[str] = []
    while isinstance(inner, dict):
        (key,) = inner
        keys.append(key)
        inner = inner[key]
    return tuple(keys)


def _value(written: str) -> JsonValue:
    """Read a TOML value; what is none is text."""
    if re.search("[\ud800-\udfff]", written):
        raise _Unsettable("not UTF-8", "give it as UTF-8")
    try:
        table = tomllib.loads(f"value = {written}")
    except (ValueError, RecursionError):
        return written
    plain: JsonValue = table["value"] if list(table) == ["value"] else written
    return plain
