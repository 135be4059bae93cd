"""The headings of a table by level: what is the same above neighbours is there once."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from benchforge_reporters.text.tables import Column, Table


class ColumnHead(NamedTuple):
    """A heading above one or several columns."""

    text: str
    unit: str
    width: int


def heads_of(table: Table) -> list[list[ColumnHead]]:
    """Return the rows of headings of a table."""
    depth = len(table.columns[0].levels) if table.columns else 1
    return [list(_heads(table.columns, level, depth)) for level in range(depth)]


def _heads(columns: Sequence[Column], level: int, depth: int) -> Iterator[ColumnHead]:
    if level == depth - 1:
        yield from (ColumnHead(column.levels[level], column.unit, 1) for column in columns)
        return
    for levels, alike in groupby(columns, lambda column: column.levels[: level + 1]):
        yield ColumnHead(levels[-1], "", len(list(alike)))
