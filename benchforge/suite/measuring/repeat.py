"""The table [repeat]: of a number of blocks and a width, what is said last holds."""

from collections.abc import Mapping

from pydantic import JsonValue

from benchforge.suite.suite import Repeat
from benchforge.suite.toml.document import Document, Setting, Tables, as_table
from benchforge.suite.toml.faults import Checked
from benchforge.suite.toml.models import table_of

_TABLE = "repeat"
_NUMBER, _WIDTH = ("blocks",), ("until", "between")


def repeated(document: Document, profile: str | None) -> Checked[Repeat]:
    """Return the table as it holds."""
    table = document.tables.get(_TABLE, {})
    if isinstance(table, dict):
        table = {**_said_last(table, document, profile)}
    return (yield from table_of(Repeat, {_TABLE: table}, _TABLE))


def _said_last(table: Mapping[str, JsonValue], document: Document, profile: str | None) -> Tables:
    """Return [repeat] without what a later layer replaced: `blocks` and `until` exclude each other.

    A profile lies over the suite, and --set over both. What one layer says is left as it is.
    """
    layers = {key: _layer(key, document, profile) for key in (*_NUMBER, *_WIDTH) if key in table}
    number = layers.get("blocks", -1)
    until = layers.get("until", -1)
    if number > until:
        over = [key for key in _WIDTH if layers.get(key, number) < number]
    else:
        over = [key for key in _NUMBER if number < until]
    return {key: value for key, value in table.items() if key not in over}


def said_of_profile(document: Document, profile: str | None) -> set[str]:
    """Return the keys of [repeat] that are for this profile: those of the suite are for others."""
    table = as_table(document.tables.get(_TABLE))
    return {key for key in table if profile is None or _layer(key, document, profile)}


def _layer(key: str, document: Document, profile: str | None) -> int:
    """Return where a key of [repeat] is from: 0 the suite, 1 its profile, 2 --set."""
    if isinstance(document.origins.get((_TABLE, key)), Setting):
        return 2
    return int(profile is not None and ("profiles", profile, _TABLE, key) in document.origins)
