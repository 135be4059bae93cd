"""A table with its headings by level: what is the same above neighbours is there once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from benchforge_reporters.text.tables import Column, Table


@dataclass(frozen=True)
class ColumnHead:
    """A heading above one or several columns."""

    text: str
    unit: str
    width: int


@dataclass(frozen=True)
class HeadedTable:
    """A table, and its rows of headings."""

    table: Table
    head_rows: tuple[tuple[ColumnHead, ...], ...]


def headed(table: Table) -> HeadedTable:
    """Return a table with its headings."""
    depth = len(table.columns[0].levels) if table.columns else 1
    rows = (tuple(_heads(table.columns, level, depth)) for level in range(depth))
    return HeadedTable(table, tuple(rows))


def _heads(columns: Sequence[Column], level: int, depth: int) -> Iterator[ColumnHead]:
    if level == depth - 1:
        yield from (ColumnHead(column.levels[level], column.unit, 1) for column in columns)
        return
    for levels, alike in groupby(columns, lambda column: column.levels[: level + 1]):
        yield ColumnHead(levels[-1], "", len(list(alike)))
