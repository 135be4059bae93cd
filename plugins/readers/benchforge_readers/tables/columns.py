"""Any table of CSV, Markdown or JSON, whose columns the auditor names."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import ClassVar

from pydantic import Field

from benchforge.plugin import BenchforgeError, Fact, Reader, Row, Source
from benchforge_readers.printed import BINARY, SECONDS, number, quantity, unread
from benchforge_readers.records import records_of

_UNITS: dict[str, tuple[str, float]] = {
    **{unit: ("s", scale) for unit, scale in SECONDS.items()},
    **{unit: ("B", scale) for unit, scale in BINARY.items() if unit.endswith("B")},
    **{f"{unit}/s": ("B/s", scale) for unit, scale in BINARY.items() if unit.endswith("B")},
    "1/s": ("1/s", 1.0),
    "1": ("1", 1.0),
    "cores": ("cores", 1.0),
}
_THOUSANDS = {"k": 1e3, "K": 1e3, "M": 1e6}
_SHORT = {"1": _THOUSANDS, "1/s": {**_THOUSANDS, "/s": 1.0, "req/s": 1.0, "rps": 1.0}}
_MARKS = " *_`~"
_UNKNOWN = {"", "-", "\N{EM DASH}", "n/a", "none", "null", "nan"}
_WORDS = ("loop", "protocol", "closer")
"Facts that are no numbers."


class ColumnsReader(Reader):
    """A table by a mapping of its columns: `--column mean=avg_ms:ms`.

    Good to know:

    - It reads CSV, tables of Markdown, JSON and JSON lines. `latency.p99` is a field of a field of
      JSON, and `key` is the name of a record in the table that it is in.
    - Name the reader with `--as columns`: no content says what a column means.
    - Without a unit, `:1` is meant. A cell that names its unit, such as 1.5ms, has that one.
    """

    name: ClassVar[str] = "columns"

    columns: dict[str, str] = Field(default_factory=dict)
    "Column of each fact as TITLE or TITLE:UNIT. `name` is the column of the rows' names."

    def claims(self, head: str) -> bool:
        return False  # the auditor names it

    def rows(self, source: Source) -> Iterator[Row]:
        if not self.columns:
            raise BenchforgeError(
                "no column is named", "give one or more: --column rate=TITLE --column mean=TITLE:ms"
            )
        titles = {fact: _split(text) for fact, text in self.columns.items()}
        name = titles.pop("name", ("",))[0]
        missing = {title for title, *_ in titles.values()}
        listed: Collection[str] = ()
        for where, cells in records_of(source, sorted(missing), name):
            try:
                if isinstance(cells, Exception):
                    raise cells
                missing -= (listed := cells.keys())
                title = cells.get(name, "").strip(_MARKS) or where
                yield Row(title[:80], _facts(titles, cells, where), where, table="rows")
            except ValueError as error:
                yield unread(str(error), where)
            except LookupError as error:
                yield unread(str(error.args[0]), where, "passed over")
        for title in sorted(missing):
            yield unread(f"no column {title!r}; columns: {', '.join(listed)}", "the table")


def _facts(
    titles: Mapping[str, tuple[str, str, float]], cells: Mapping[str, str], where: str
) -> dict[str, Fact]:
    facts: dict[str, Fact] = {}
    for fact, (title, unit, scale) in titles.items():
        text = cells.get(title, "").strip(_MARKS)
        if text.lower() in _UNKNOWN:
            continue
        if fact in _WORDS:
            facts[fact] = Fact(text, origin=where)
            continue
        text = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text)
        if text[-1].isdigit() or text[-1] == ".":
            facts[fact] = number(text, title, unit, scale, where)
        else:  # it names a unit of its own
            units = {name: each for name, (kind, each) in _UNITS.items() if kind == unit}
            facts[fact] = quantity(text, title, {**units, **_SHORT.get(unit, {})}, unit, where)
    return facts


def _split(text: str) -> tuple[str, str, float]:
    title, colon, unit = text.rpartition(":")
    if not colon or unit not in _UNITS:
        return text, "1", 1.0
    return title, *_UNITS[unit]
