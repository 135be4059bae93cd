"""Values that the command line sets: `--set servers.django.workers=2`."""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import replace

from pydantic import JsonValue

from benchforge.suite.axis import PLACES
from benchforge.suite.document import Document, Setting, Tables, paths_of
from benchforge.suite.faults import Fault, SuiteErrors, nearest
from benchforge.suite.plain import NotFinite, plain


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
    labelled = top in {*PLACES, "runtimes", "metrics", "scenarios", "tables"}
    declared = document.tables.get(top, {})
    if labelled and label is not None and isinstance(declared, dict) and label not in declared:
        raise _Unsettable(f"{top}.{label} is not declared", nearest(label, declared, "declared"))
    tables = _put(document.tables, keys, value)
    origin = Setting(shown, keys)
    return replace(
        document,
        tables=tables,
        origins={**document.origins, **dict.fromkeys(paths_of(value, keys), origin)},
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
    try:
        return plain(table["value"]) if list(table) == ["value"] else written
    except NotFinite as error:
        raise _Unsettable(str(error), "") from None
