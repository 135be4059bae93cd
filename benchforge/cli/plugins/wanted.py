"""The part that a command line names, and one made of it with a few options."""

import json
import tomllib
from collections.abc import Iterable, Mapping
from typing import TypeVar

import click
from pydantic import JsonValue, ValidationError

from benchforge.cli.console.options import setting
from benchforge.errors import Unusable
from benchforge.parts.kinds import KINDS, Kind
from benchforge.parts.part import Part
from benchforge.parts.registry import Registry
from benchforge.suite.toml.document import NotFinite, plain
from benchforge.suite.toml.faults import nearest
from benchforge.suite.toml.models import typed

P = TypeVar("P", bound=Part)
OPTION_VALUES = click.option(
    *("--set", "settings"),
    metavar="OPTION=VALUE",
    type=setting,
    multiple=True,
    help="Set an option of the part, as in a suite.",
)


def wanted(registry: Registry, name: str) -> list[tuple[Kind, str]]:
    """Return kind and name of `loader-wrk`, or of `wrk` where one part alone is called so.

    After a load tool comes the reader of its name. Raises Unusable for none, or for several.
    """
    pairs: list[tuple[Kind, str]]
    pairs = [(kind, part_name) for kind in KINDS for part_name in registry.names(kind)]
    fits = [pair for pair in pairs if name in {pair[1], f"{pair[0]}-{pair[1]}"}]
    fits.sort(key=lambda pair: pair[0] == "reader")
    if sum(pair[0] != "reader" for pair in fits) > 1:
        names = [f"{kind}-{name_}" for kind, name_ in fits]
        raise Unusable(f"{name}: {len(fits)} parts have that name", f"one of: {', '.join(names)}")
    if not fits:
        names = [f"{kind}-{pair}" for kind, pair in pairs]
        is_full_name = "-" in name and name.partition("-")[0] in KINDS
        near = nearest(name, names if is_full_name else [pair for _, pair in pairs], "parts")
        hint = near.partition("parts:")[0].strip() or "`benchforge plugins` lists all parts"
        raise Unusable(f"no part named {name!r}", hint)
    return fits


def chosen(settings: Iterable[tuple[str, str]]) -> dict[str, JsonValue]:
    """Return options as `--set OPTION=VALUE` gives them, each a TOML value, or else text."""
    return {name: _value(name, written) for name, written in settings}


def made(cls: type[P], options: Mapping[str, JsonValue]) -> P:
    """Return a part with these options. Raises Unusable that names the option that is wrong."""
    try:
        return typed(cls, options)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        where = f"{cls.kind}-{cls.name}"
        option = ".".join(str(step) for step in first["loc"])
        if first["type"] == "missing":
            problem = f"{where}: it needs the option {option!r}"
            raise Unusable(problem, f"give it: --set {option}=...") from None
        wrong_value = json.dumps(first["input"], default=str)
        problem = f"{where}: {option + ': ' if option else ''}{first['msg']}"
        hint = f"it was given {wrong_value}; see: benchforge plugins show {where}"
        raise Unusable(problem, hint) from None


def _value(name: str, written: str) -> JsonValue:
    try:
        table = tomllib.loads(f"value = {written}")
        return plain(table["value"]) if list(table) == ["value"] else written
    except NotFinite as error:
        raise Unusable(f"--set {name}={written}: {error}") from None
    except (ValueError, RecursionError):
        return written
