"""A table as a terminal shows it: as many columns as fit, and no number cut."""

from __future__ import annotations

import io
from bisect import bisect_right
from typing import TYPE_CHECKING

from benchforge.plugin import safe
from benchforge_reporters.text.tables import Column, Table

if TYPE_CHECKING:  # importing rich takes longer than most of our commands
    from rich.table import Table as RichTable
    from rich.text import Text

    from benchforge_reporters.text.cells import Cell

_AT_LEAST = 3  # columns: they are shown however narrow the terminal is
_ENDLESS = 100_000


def fitted(table: Table, width: int | None, colour: bool) -> tuple[str, tuple[Column, ...]]:
    """Return the table as text, and the columns that it has no room for."""
    from rich.console import Console  # noqa: PLC0415  # late, as above
    from rich.measure import Measurement  # noqa: PLC0415

    console = Console(
        file=io.StringIO(),
        width=_ENDLESS,
        force_terminal=colour,
        color_system="standard" if colour else None,
        no_color=not colour,
        legacy_windows=False,
    )

    def measured(shown: int, *, stacked: bool) -> tuple[int, RichTable]:
        drawn = _drawn(table, shown, stacked)
        return Measurement.get(console, console.options, drawn).maximum, drawn

    # All in one line; else the spread below the median, and as many columns as fit.
    shown = len(table.columns)
    needs, drawn = measured(shown, stacked=False)
    if width is not None and needs > width:
        least = min(_AT_LEAST, shown)
        more = range(least + 1, shown + 1)
        shown = least + bisect_right(more, width, key=lambda many: measured(many, stacked=True)[0])
        needs, drawn = measured(shown, stacked=True)
    with console.capture() as captured:
        console.print(drawn, width=needs, no_wrap=True, crop=False)
    lines = (line.rstrip() for line in captured.get().splitlines())
    return "\n".join(lines), table.columns[shown:]


def _drawn(table: Table, shown: int, stacked: bool) -> RichTable:
    from rich.box import SIMPLE_HEAD  # noqa: PLC0415  # late, as above
    from rich.table import Table as Drawn  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    drawn = Drawn(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for head in table.heads:
        drawn.add_column(Text(safe.line(head)), no_wrap=True)
    for column in table.columns[:shown]:
        head = "\n".join(map(safe.line, (*column.levels, column.unit)))
        drawn.add_column(Text(head), justify="right", no_wrap=True)
    for row in table.rows:
        labels = (Text(safe.line(label)) for label in row.labels)
        drawn.add_row(*labels, *(_text(cell, stacked) for cell in row.cells[:shown]))
    return drawn


def _text(cell: Cell, stacked: bool) -> Text:
    from rich.text import Text  # noqa: PLC0415  # late, as above

    style = "bold red" if cell.loud else "" if cell.all_known else "yellow"
    text = Text("! " if cell.loud else "", style)  # loud without colour, too
    for number, (value, spread) in enumerate(cell.parts):
        text.append("\n" if number else "").append(safe.line(value), style)
        if spread:
            text.append("\n" if stacked else " ").append(spread, "dim")
    return text
