"""The tables that a suite draws of its cases: rows and columns are axes of the matrix."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from benchforge.plugin import (
    AXIS_NAMES,
    CaseSummary,
    Pivot,
    Place,
    Statistic,
    place,
    places,
    readable,
)
from benchforge_reporters.text.cells import CENTRES, NOTHING, Cell, Footnotes, of_lines, short
from benchforge_reporters.text.tables import Column, Table, TableRow, metric_columns
from benchforge_reporters.text.words import in_short

_COUNT = readable.Scale("1", exact=True)


class Grid:
    """The cases of a table, each in its cell; a cell may have none. By scenario as the table says.

    It has the rows and columns with a case.
    """

    def __init__(self, pivot: Pivot, cases: Sequence[CaseSummary]) -> None:
        parts_shown = [part for case in cases for part in case.by_part(pivot.part)]
        self.pivot, self.cases = pivot, [case for case in parts_shown if pivot.has(case.case)]
        self.cases.sort(key=lambda case: pivot.scenarios.index(case.case.scenario))
        names = [case.case for case in self.cases]
        self.rows, self.columns = places(pivot.rows, names), places(pivot.columns, names)
        axes = (*pivot.rows, *pivot.columns)
        self._by_place = {place(case.case, axes): case for case in self.cases}

    def case(self, row: Place, column: Place) -> CaseSummary | None:
        """Return the case of a cell."""
        return self._by_place.get((*row, *column))


@dataclass(frozen=True)
class _Shown:
    """A column: its place, the statistic of its cases, and how it is drawn."""

    at: Place
    statistic: Statistic
    spread: bool
    drawn: Column


def pivot_table(pivot: Pivot, cases: Sequence[CaseSummary], first: int | None = None) -> Table:
    """Return a table of the suite; of its columns the `first` ones, and no footnote of others."""
    cells, notes = Grid(pivot, cases), Footnotes()
    columns = tuple(_columns(cells))[:first]
    return Table(
        heads=short(pivot.rows),
        columns=tuple(column.drawn for column in columns),
        rows=tuple(
            TableRow(
                tuple(map(word, row)),
                tuple(_cell(cells.case(row, column.at), column, notes) for column in columns),
            )
            for row in cells.rows
        ),
        footnotes=tuple(notes),
    )


def word(coordinate: str) -> str:
    """Return a coordinate for a person: text without its quotes, all else as JSON."""
    value = json.loads(coordinate) if coordinate else ""
    return value if isinstance(value, str) else coordinate


def heads(axes: Sequence[str], place_values: Place) -> tuple[str, ...]:
    """Return what stands above a column: labels as they are, other values behind their names."""
    names = short(axes)
    return tuple(
        word(value) if axis in AXIS_NAMES else f"{name}={word(value) or 'none'}"
        for axis, name, value in zip(axes, names, place_values, strict=True)
    )


def remarks(case: CaseSummary) -> list[str]:
    """Return the faults of a case that has numbers, or why it has none."""
    texts = []
    if case.failed:
        last, trials = case.failed[-1].failure, readable.counted(len(case.failed), "trial")
        texts.append(f"{trials} failed: {last.stage}: {last.message}")
    elif case.trials < case.planned:
        texts.append(f"measured in {case.trials} of {case.planned} trials")
    if doubts := in_short([case]):
        texts.append(f"not believed: {doubts}")
    failed = [finding.check for finding in case.findings if finding.check.status == "fail"]
    if wrong := {f"{each.id} {each.name}": None for each in failed if each.subject == "behaviour"}:
        texts.append(f"it failed {', '.join(wrong)}: see what the checks found")
    for line in case.metrics:
        bad = max((sample.sample.value or 0 for sample in line.samples), default=0)
        if line.measurand == "failed requests" and line.of is None and bad:
            texts.append(f"up to {readable.exact(bad)} requests of a trial did not end well")
    return [f"{case.case.title}: {text}" for text in texts]


def metrics_of(cells: Grid) -> list[Column]:
    """Return a column for each metric and each part of it; for one without values, too."""
    columns, valued = list[Column](), metric_columns(cells.cases)
    for metric in cells.pivot.metrics:
        parts = [column for column in valued if column.metric == metric]
        columns += parts or [Column(metric, None, readable.Scale("1"), in_one_cell=False)]
    return columns


def _columns(cells: Grid) -> Iterator[_Shown]:
    metrics, statistics = metrics_of(cells), list(_statistics(cells.pivot.show))
    for column in cells.columns:
        names = heads(cells.pivot.columns, column)
        # What is the same above all columns is beside the title.
        named = len(metrics) > 1 or not names
        cases = [case for row in cells.rows if (case := cells.case(row, column)) is not None]
        drawn = [metric for metric in metrics if any(map(metric.lines, cases))]
        for metric in drawn or metrics:
            for statistic, spread in statistics:
                title = f"{statistic} [range]" if spread else statistic
                below = () if cells.pivot.show == ("median", "range") else (title,)
                levels = (*names, *(metric.levels if named else ()), *below)
                scale = _COUNT if statistic == "runs" else metric.scale
                yield _Shown(column, statistic, spread, replace(metric, heads=levels, scale=scale))


def _statistics(show: Sequence[Statistic]) -> Iterator[tuple[Statistic, bool]]:
    """Yield each statistic, and whether the range that follows it stands beside it."""
    for number, statistic in enumerate(show):
        previous = show[number - 1] if number else None
        if statistic == "range" and previous in CENTRES:
            continue
        yield statistic, statistic in CENTRES and show[number + 1 : number + 2] == ("range",)


def _cell(case: CaseSummary | None, column: _Shown, notes: Footnotes) -> Cell:
    if case is None:
        return Cell.of_word("")
    marks = "".join(f" {notes.mark(remark)}" for remark in remarks(case))
    if not case.trials:
        state = "failed" if case.failed else NOTHING
        return Cell.of_word(state + marks, bool(case.failed), False)
    if column.statistic == "runs":
        return _marked(Cell.of_word(_COUNT.text(case.trials)), marks)
    lines = column.drawn.lines(case)
    if column.statistic != "range":
        cell = of_lines(lines, column.drawn.scale, notes, column.statistic, column.spread)
        return _marked(cell, marks)
    # The median's own cell knows what is unknown and what is loud; of it, the spread is shown.
    cell = of_lines(lines, column.drawn.scale, notes)
    return _marked(replace(cell, parts=tuple((b or a, "") for a, b in cell.parts)), marks)


def _marked(cell: Cell, marks: str) -> Cell:
    (text, spread), *others = cell.parts
    return replace(cell, parts=((text + marks, spread), *others))
