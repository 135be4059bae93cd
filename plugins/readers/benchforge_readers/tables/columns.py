"""Any table of CSV, whose columns the auditor names."""

from collections.abc import Iterator
from typing import ClassVar

from pydantic import Field

from benchforge.plugin import BenchforgeError, Fact, Reader, Row, Source
from benchforge_readers.printed import BINARY, SECONDS, number
from benchforge_readers.rows_of_csv import rows_of

_UNITS: dict[str, tuple[str, float]] = {
    **{unit: ("s", scale) for unit, scale in SECONDS.items()},
    **{unit: ("B", scale) for unit, scale in BINARY.items() if unit.endswith("B")},
    **{f"{unit}/s": ("B/s", scale) for unit, scale in BINARY.items() if unit.endswith("B")},
    "1/s": ("1/s", 1.0),
    "1": ("1", 1.0),
    "cores": ("cores", 1.0),
}


class ColumnsReader(Reader):
    """A table of CSV by a mapping of its columns: `--column mean=avg_ms:ms`.

    Good to know:

    - Name the reader with `--as columns`: no content says what a column means.
    - Without a unit, `:1` is meant.
    """

    name: ClassVar[str] = "columns"

    columns: dict[str, str] = Field(default_factory=dict)
    "Column of each fact as TITLE or TITLE:UNIT. `name` is the column of the rows' names."
    loop: str = ""
    "`closed` if each connection waited for its response before it sent again."

    def claims(self, head: str) -> bool:
        """Return False: the auditor names it."""
        return False

    def rows(self, source: Source) -> Iterator[Row]:
        """Yield a row for each line."""
        if not self.columns:
            raise BenchforgeError(
                "no column is named", "give one or more: --column rate=TITLE --column mean=TITLE:ms"
            )
        titles = {fact: _split(text) for fact, text in self.columns.items()}
        for where, cells in rows_of(source):
            facts: dict[str, Fact] = {}
            for fact, (title, unit, scale) in titles.items():
                if title not in cells:
                    raise ValueError(f"line 1: no column {title!r}; columns: {', '.join(cells)}")
                if fact == "loop":
                    facts[fact] = Fact(cells[title].strip(), origin=where)
                elif fact != "name" and cells[title].strip():
                    facts[fact] = number(cells[title], title, unit, scale, where)
            if self.loop:
                facts["loop"] = Fact(self.loop, origin="by the auditor")
            name = cells[titles["name"][0]] if "name" in titles else where
            yield Row(name[:80], facts, where, table="rows")


def _split(text: str) -> tuple[str, str, float]:
    title, colon, unit = text.rpartition(":")
    if not colon or unit not in _UNITS:
        return text, "1", 1.0
    return title, *_UNITS[unit]
