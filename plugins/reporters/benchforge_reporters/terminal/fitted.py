"""A table as a terminal shows it: as many columns as fit, and no number cut."""

import io
from bisect import bisect_right
from itertools import accumulate

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.measure import Measurement, measure_renderables
from rich.table import Column as RichColumn
from rich.table import Table as RichTable
from rich.text import Text

from benchforge.plugin import safe
from benchforge_reporters.text.cells import Cell
from benchforge_reporters.text.tables import Column, Table

_AT_LEAST = 3  # columns: they are shown however narrow the terminal is
_BETWEEN = 3  # two columns: a blank on each side of what would be a line
_ENDLESS = 100_000


def fitted(table: Table, width: int | None, colour: bool) -> tuple[str, tuple[Column, ...]]:
    """Return the table as text, and the columns that it has no room for."""
    console = Console(
        file=io.StringIO(),
        width=_ENDLESS,
        force_terminal=colour,
        color_system="standard" if colour else None,
        no_color=not colour,
        legacy_windows=False,
    )

    # All in one line; else the spread below the median, and as many columns as fit.
    column_count = len(table.columns)
    stacked = width is not None and _needs(console, table, stacked=False)[-1] > width
    if width is not None and stacked:
        fits = bisect_right(_needs(console, table, stacked=True), width) - 1
        column_count = max(min(_AT_LEAST, column_count), fits)
    drawn = _drawn(table, column_count, stacked)
    needs = Measurement.get(console, console.options, drawn).maximum
    with console.capture() as captured:
        console.print(drawn, width=needs, no_wrap=True, crop=False)
    lines = (line.rstrip() for line in captured.get().splitlines())
    return "\n".join(lines), table.columns[column_count:]


def _needs(console: Console, table: Table, *, stacked: bool) -> list[int]:
    """Return the width of the table with its labels only, with one column, and so on."""

    def width(column: RichColumn) -> int:
        cells = [column.header, *column.cells]
        return measure_renderables(console, console.options, cells).maximum

    columns = _drawn(table, len(table.columns), stacked).columns
    needs = accumulate((_BETWEEN + width(column) for column in columns), initial=-_BETWEEN)
    return [*needs][len(table.heads) :]


def _drawn(table: Table, column_count: int, stacked: bool) -> RichTable:
    drawn = RichTable(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for head in table.heads:
        drawn.add_column(Text(safe.line(head)), no_wrap=True)
    for column in table.columns[:column_count]:
        head = "\n".join(map(safe.line, (*column.levels, column.unit)))
        drawn.add_column(Text(head), justify="right", no_wrap=True)
    for row in table.rows:
        labels = (Text(safe.line(label)) for label in row.labels)
        drawn.add_row(*labels, *(_text(cell, stacked) for cell in row.cells[:column_count]))
    return drawn


def _text(cell: Cell, stacked: bool) -> Text:
    style = "bold red" if cell.loud else "" if cell.all_known else "yellow"
    text = Text("! " if cell.loud else "", style)  # loud without colour, too
    for number, (value, spread) in enumerate(cell.parts):
        text.append("\n" if number else "").append(safe.line(value), style)
        if spread:
            text.append("\n" if stacked else " ").append(spread, "dim")
    return text
