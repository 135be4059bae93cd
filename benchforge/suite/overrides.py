"""Tables of a suite with a profile and each --set laid over them."""

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pydantic import JsonValue

from benchforge.errors import Unusable
from benchforge.parts.part import Part
from benchforge.parts.registry import Registry
from benchforge.suite.declared import KINDS, LABELLED, STAR
from benchforge.suite.toml.document import (
    Document,
    NotFinite,
    Setting,
    Tables,
    as_table,
    merged,
    paths_of,
    plain,
)
from benchforge.suite.toml.faults import Fault, Hint, Nearest, SuiteErrors, SuiteFault, nearest
from benchforge.suite.toml.models import options
from benchforge.suite.toml.positions import DEEPEST, Path

_LABELLED = {*LABELLED}


def layered(
    written: Document, profile: str | None, settings: Sequence[tuple[str, str]], registry: Registry
) -> Document:
    """Return a document with a profile and all settings applied. Raises SuiteErrors."""
    tables = {key: value for key, value in written.tables.items() if key != "profiles"}
    document = _laid(replace(written, tables={}), tables, (), registry)
    if profile is not None:
        profiles = as_table(written.tables.get("profiles"))
        if not isinstance(table := profiles.get(profile), dict):
            hint = str(Nearest(profile, profiles, "profiles"))
            message = f"{written.shown} has no profile of that name"
            raise SuiteErrors([SuiteFault(f"--profile {profile}", message, hint=hint)])
        document = _laid(document, table, ("profiles", profile), registry)
    return with_settings(document, settings, registry)


def _laid(document: Document, tables: Tables, path: Path, registry: Registry) -> Document:
    over, starred = spread(tables, document.tables, registry)
    return document.with_layer(over, starred, path)


def with_settings(
    document: Document, settings: Sequence[tuple[str, str]], registry: Registry
) -> Document:
    """Set values by their paths, in order. Raises SuiteErrors for what cannot be set."""
    document = replace(document, origins=dict(document.origins), starred=dict(document.starred))
    faults: list[SuiteFault] = []
    for dotted, written in settings:
        argument = f"--set {dotted}={written}"
        try:
            document = _with_setting(document, argument, _keys(dotted), _value(written), registry)
        except _Unsettable as error:
            faults.append(SuiteFault(argument, error.args[0], hint=error.args[1]))
    if faults:
        raise SuiteErrors(faults)
    return document


class _Unsettable(Exception):
    """Message and hint."""


def _with_setting(
    document: Document, argument: str, keys: tuple[str, ...], value: JsonValue, registry: Registry
) -> Document:
    if keys[0] == "profiles":
        hint = "set the option that it sets, or edit the suite"
        raise _Unsettable("a profile cannot be set with --set", hint)
    tables, origin = document.tables, Setting(argument, keys)
    for path in _meant(keys, tables, registry):
        tables = _put(tables, path, value)
        for inner in paths_of(value, path):
            document.origins[inner] = origin
            document.starred.pop(inner, None)
            if path != keys:
                document.starred[inner] = (*keys[:2], *inner[2:])
    return replace(document, tables=tables)


def _meant(keys: tuple[str, ...], tables: Tables, registry: Registry) -> Sequence[tuple[str, ...]]:
    """Return the paths that are to be set: one, or that of each label where `*` stands for it."""
    top, label, option = (*keys, "", "")[:3]
    declared = tables.get(top, {})
    if top not in _LABELLED or not label or not isinstance(declared, dict):
        return [keys]
    if label == STAR and top in KINDS and option:
        parts = dict(classes(top, declared, registry))
        having = [part_label for part_label, cls in parts.items() if option in options(cls)]
        if not having:
            names = dict.fromkeys(name for cls in parts.values() for name in options(cls))
            hint = nearest(option, names, f"{top} take")
            raise _Unsettable(f"no {KINDS[top]} has an option {option!r}", hint)
        return [(top, part_label, *keys[2:]) for part_label in having]
    if label not in declared:
        raise _Unsettable(f"{top}.{label} is not declared", nearest(label, declared, "declared"))
    return [keys]


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
    starred = dotted.replace(".*.", '."*".')
    try:
        inner: object = tomllib.loads(f"{starred} = 0")
    except (tomllib.TOMLDecodeError, RecursionError):
        raise wrong from None
    keys: list[str] = []
    while isinstance(inner, dict):
        (key,) = inner
        keys.append(key)
        inner = inner[key]
    if len(keys) > DEEPEST:
        raise _Unsettable(f"nested more than {DEEPEST} levels deep", "name an option by its path")
    return tuple(keys)


def _value(written: str) -> JsonValue:
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


def spread(over: Tables, under: Tables, registry: Registry) -> tuple[Tables, dict[Path, Path]]:
    """Return tables whose options under "*" moved to the labels of `over` and `under`.

    The second table has each path with such a value, and the path where it was written. Options
    that no part has stay under "*".
    """
    tables, starred = dict(over), dict[Path, Path]()
    for kind in KINDS:
        written = as_table(over.get(kind))
        star = written.get(STAR)
        if not isinstance(star, dict):
            continue
        labels: Tables = {label: table for label, table in written.items() if label != STAR}
        remaining = dict(star)
        for label, cls in classes(kind, merged(as_table(under.get(kind)), labels), registry):
            taken = {option: star[option] for option in star.keys() & set(options(cls))}
            table_ = as_table(labels.get(label))
            if taken:
                labels[label] = merged(taken, table_)
            for option, value in taken.items():
                remaining.pop(option, None)
                paths = set(paths_of(value, (kind, label, option)))
                if option in table_:
                    paths -= set(paths_of(table_[option], (kind, label, option)))
                starred |= {path: (kind, STAR, *path[2:]) for path in paths}
        tables[kind] = {**labels, STAR: remaining} if remaining else labels
    return tables, starred


def left_faults(tables: Tables, registry: Registry) -> Iterator[Fault]:
    """Yield a fault for each option under "*" that no part has."""
    for kind, name in KINDS.items():
        declared = as_table(tables.get(kind))
        parts = dict(classes(kind, declared, registry))
        if declared.keys() - {STAR} - parts.keys():
            continue  # nobody knows what those take; they have faults of their own
        names = dict.fromkeys(option for cls in parts.values() for option in options(cls))
        for option in as_table(declared.get(STAR)):
            near = Nearest(option, names, f"{kind} take")
            hint: Hint = near if names else f"no {name} is declared"
            yield Fault((kind, STAR, option), f"no {name} has an option {option!r}", hint)


def classes(kind: str, tables: Tables, registry: Registry) -> Iterator[tuple[str, type[Part]]]:
    """Yield each label whose part is there, with its class."""
    for label, table in tables.items():
        use = as_table(table).get("use")
        if label != STAR and isinstance(use, str):
            try:
                yield label, registry.part(KINDS[kind], use)
            except Unusable:
                continue  # it has a fault of its own
