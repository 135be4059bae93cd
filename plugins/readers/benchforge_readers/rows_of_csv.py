"""Rows of CSV, by the titles of their columns, one at a time."""

import csv
from collections.abc import Iterator, Mapping

from benchforge.plugin import Source

_MOST_COLUMNS = 1000
Cells = Mapping[str, str] | ValueError | LookupError
"Cells of a row by their titles, or why it has none; a LookupError is that of another table."


def rows_of(source: Source) -> Iterator[tuple[str, Cells]]:
    """Yield the place and the cells of each row. Raises ValueError for what is no table."""
    reader = csv.reader(source.lines(), delimiter=_delimiter(source.head))
    try:
        titles = [title.strip() for title in next(reader, [])]
        if not 1 < len(titles) <= _MOST_COLUMNS or len(set(titles)) < len(titles):
            raise ValueError("line 1: the titles of its columns are missing or not unique")
        for cells in reader:
            where = f"line {reader.line_num}"
            if cells and len(cells) != len(titles):
                yield where, ValueError(f"{len(cells)} cells below {len(titles)} titles")
            elif cells:
                yield where, dict(zip(titles, cells, strict=True))
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: {error}") from None


def _delimiter(head: str) -> str:
    return max((",", ";", "\t"), key=head.partition("\n")[0].count)
