"""Tables of a scenario: a row a case, a kind of request, or a trial."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, islice
from typing import NamedTuple

from benchforge.plugin import CaseSummary, MetricSummary, Summary, Trial, readable, titled
from benchforge_reporters.text.cells import Cell, Footnotes, Taken, case_labels, of_lines, of_trial

_KIND = "kind"
ALL = "(all)"
"The row of all kinds together: no label of a kind has parentheses."
NOT_BY_KIND = (
    "Each kind has its share of the requests/s: response times tell servers and kinds "
    "apart. CPU time and memory by kind are unknown: the same processes answer all kinds."
)


@dataclass(frozen=True)
class Column:
    """One metric, or one part of it, and the scale of its values."""

    metric: str
    of: str | None
    scale: readable.Scale
    in_one_cell: bool
    heads: tuple[str, ...] = ()
    "Headings above the column, the outermost first, if they are more than its metric."
    counted_in: str | None = None
    "Unit of its lines, before any scale."

    @property
    def levels(self) -> tuple[str, ...]:
        """The headings above it: by default the metric's label and which part of it."""
        return self.heads or (titled(self.metric, self.of),)

    @property
    def title(self) -> str:
        """The headings above it, in one line."""
        return " · ".join(self.levels)

    @property
    def unit(self) -> str:
        """The unit of the numbers below; counts need none."""
        return "" if self.scale.unit == "1" else self.scale.unit

    def lines(self, case: CaseSummary) -> tuple[MetricSummary, ...]:
        """Return the lines of a case that are in this column."""
        lines = (line for line in case.metrics if line.metric == self.metric)
        lines = (line for line in lines if self.in_one_cell or line.of == self.of)
        return tuple(line for line in lines if self.counted_in in {None, line.unit})


class ColumnHead(NamedTuple):
    """A heading above one or several columns."""

    text: str
    unit: str
    width: int


@dataclass(frozen=True, slots=True)
class TableRow:
    """Labels on the left, and values."""

    labels: tuple[str, ...]
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Table:
    """One table of a scenario."""

    heads: tuple[str, ...]
    "Headings of the labels."
    columns: tuple[Column, ...]
    rows: tuple[TableRow, ...]
    footnotes: tuple[str, ...]

    @property
    def head_rows(self) -> list[list[ColumnHead]]:
        """The headings by level: what is the same above neighbours is there once."""
        levels = [column.levels for column in self.columns]
        depth = len(levels[0]) if levels else 1
        groups = [groupby(each[:number] for each in levels) for number in range(1, depth)]
        return [
            *([ColumnHead(path[-1], "", len([*alike])) for path, alike in row] for row in groups),
            [ColumnHead(column.levels[-1], column.unit, 1) for column in self.columns],
        ]


def scenarios(summary: Summary) -> list[tuple[str, list[CaseSummary]]]:
    """Return the cases by scenario, in the order of the suite, with its label and title."""
    return [
        (": ".join(filter(None, (name, summary.titles.get(name)))), list(cases))
        for name, cases in groupby(summary.cases, lambda case: case.case.scenario)
    ]


def case_table(cases: Sequence[CaseSummary], first: int | None = None) -> Table:
    """Return one row a case: medians, and from the lowest to the highest value.

    Of the columns it has the `first` ones, and no footnote of others. What nobody has a value of,
    such as the rate of a load without one, is in a note instead of a column.
    """
    valued, missing = _with_values(cases)
    columns, notes = tuple(valued[:first]), Footnotes()
    labels = case_labels(cases)
    cells = [tuple(_cell(case, column, notes) for column in columns) for case in cases]
    rows = zip(labels.rows, cases, cells, strict=True)
    return Table(
        heads=(*labels.heads, "trials"),
        columns=columns,
        rows=tuple(TableRow((*named, _trials(case)), values) for named, case, values in rows),
        footnotes=(*notes, *(_unknown(missing, cases) if first is None else ())),
    )


def _with_values(cases: Sequence[CaseSummary]) -> tuple[list[Column], list[Column]]:
    """Return the columns with a value of any case, and the others; all without any value."""
    columns = metric_columns(cases)
    valued = [column for column in columns if _has_value(column, cases)] or [*columns]
    return valued, [column for column in columns if column not in valued]


def _unknown(columns: Sequence[Column], cases: Sequence[CaseSummary]) -> Iterator[str]:
    by_reason: dict[str, list[str]] = {}
    for column in columns:
        lines = (line for case in cases for line in column.lines(case))
        reason = next(filter(None, (line.why.partition(" (trial")[0] for line in lines)), "")
        by_reason.setdefault(reason, []).append(column.title)
    for reason, titles in by_reason.items():
        yield f"unknown: {', '.join(titles)}{f': {reason}' if reason else ''}"


def _has_value(column: Column, cases: Sequence[CaseSummary]) -> bool:
    samples = (sample for case in cases for line in column.lines(case) for sample in line.samples)
    return any(sample.sample.value is not None for sample in samples)


def _trials(case: CaseSummary) -> str:
    counts = f"{case.trials} of {case.planned}"
    if case.believed is None or case.believed == case.trials:
        return counts
    disturbed = sum(doubted.used and doubted.disturbed for doubted in case.doubted)
    others = case.trials - case.believed - disturbed
    states = [f"{case.believed} believed"]
    states += [f"{disturbed} disturbed"] * (disturbed > 0)
    states += [f"{others} not believed"] * (others > 0)
    return f"{counts}: {', '.join(states)}"


def _cell(case: CaseSummary, column: Column, notes: Footnotes) -> Cell:
    if case.failed and not case.trials:
        return Cell.of_word("failed", loud=True)
    return of_lines(column.lines(case), column.scale, notes)


def trial_table(cases: Sequence[CaseSummary], most: int) -> tuple[Table, int]:
    """Return a row for each of the first `most` trials, failed ones too, and how many are left."""
    columns, missing = _with_values(cases)
    notes, labels = Footnotes(), case_labels(cases)
    named_cases = zip(labels.rows, cases, strict=True)
    rows = chain.from_iterable(_trial_rows(*named, columns, notes) for named in named_cases)
    rows_shown = tuple(islice(rows, most))
    footnotes = (*notes, *_unknown(missing, cases))
    table = Table(("trial", "block", *labels.heads), tuple(columns), rows_shown, footnotes)
    return table, sum(len(_blocks(case)) for case in cases) - len(rows_shown)


def _trial_rows(
    named: tuple[str, ...], case: CaseSummary, columns: Sequence[Column], notes: Footnotes
) -> Iterator[TableRow]:
    blocks, failed = _blocks(case), {failure.trial for failure in case.failed}
    values = [_by_trial(column.lines(case)) for column in columns]
    for number in sorted(blocks):
        cells = tuple(
            Cell.of_word("failed", loud=True)
            if number in failed
            else of_trial(by_trial.get(number, ()), column.scale, notes)
            for column, by_trial in zip(columns, values, strict=True)
        )
        yield TableRow((str(number), str(blocks[number]), *named), cells)


def _blocks(case: CaseSummary) -> dict[int, int]:
    blocks = {sample.trial: sample.block for line in case.metrics for sample in line.samples}
    return blocks | {failure.trial: failure.block for failure in case.failed}


def _by_trial(lines: Sequence[MetricSummary]) -> dict[int, list[Taken]]:
    by_trial: dict[int, list[Taken]] = {}
    for line in lines:
        for each in line.samples:
            by_trial.setdefault(each.trial, []).append((line, each))
    return by_trial


def metric_columns(cases: Iterable[CaseSummary]) -> tuple[Column, ...]:
    """Return every metric in the order of the suite, its parts with one scale for all cases.

    What is counted in another unit, as some times are in turns, is another quantity.
    """
    lines_by_column: dict[tuple[str, str | None, bool, str], list[MetricSummary]] = {}
    for line in _in_order([case.metrics for case in cases]):
        merged = line.measurand == "failed requests"  # its parts are classes of one thing
        key = line.metric, None if merged else line.of, merged, line.unit
        lines_by_column.setdefault(key, []).append(line)
    by_quantity: dict[tuple[str, str], list[MetricSummary]] = {}
    for (metric, _, _, unit), lines in lines_by_column.items():
        by_quantity.setdefault((metric, unit), []).extend(lines)
    scales = {quantity: _scale(lines) for quantity, lines in by_quantity.items()}
    return tuple(
        Column(metric, part, scales[metric, unit], merged, counted_in=unit)
        for metric, part, merged, unit in lines_by_column
    )


def _in_order(of_cases: Sequence[Sequence[MetricSummary]]) -> list[MetricSummary]:
    """Return all lines, those of a metric together: a case may lack what another one has."""
    lines = [line for lines in of_cases for line in lines]
    labels = list(dict.fromkeys(line.metric for line in lines))
    return sorted(lines, key=lambda line: labels.index(line.metric))


def _scale(lines: Sequence[MetricSummary]) -> readable.Scale:
    samples = [each.sample for line in lines for each in line.samples]
    values = [sample.value for sample in samples if sample.value is not None]
    # A column without any value has no scale to choose.
    return readable.scale(lines[0].unit, values) if values else readable.Scale("1")


def kinds_heading(cases: Sequence[CaseSummary]) -> str:
    """Return the heading of the table of kinds, without its scenario."""
    searched = any(case.capacity for case in cases)
    return "by kind of request" + (", in trials that passed near the rate" if searched else "")


def kind_table(cases: Sequence[CaseSummary], first: int | None = None) -> Table | None:
    """Return a row for each kind and case, the same kinds together; None without a mix."""
    rows = [row for case in cases if case.kinds for row in _kind_rows(case)]
    kinds = list(dict.fromkeys(row.case.vary[_KIND] for row in rows))
    kinds.sort(key=ALL.__eq__)
    rows.sort(key=lambda row: kinds.index(row.case.vary[_KIND]))
    return case_table(rows, first) if rows else None


def not_reached(trials: Sequence[Trial]) -> Iterator[str]:
    """Yield a sentence for each step that some flows of a case did not reach."""
    streams = [trial.reading.kinds for trial in trials if trial.stream and trial.reading]
    for step in dict.fromkeys(label for kinds in streams for label in kinds):
        readings = [kinds[step] for kinds in streams if step in kinds]
        missed = sum(reading.not_reached or 0 for reading in readings)
        ended = sum(reading.responses + (reading.unanswered or 0) for reading in readings)
        if missed:
            flows = readable.counted(missed + ended, "flow")
            yield f"{step}: not reached by {readable.exact(missed)} of {flows}, which ended before"


def _kind_rows(case: CaseSummary) -> Iterator[CaseSummary]:
    labels = {line.metric for lines in case.kinds.values() for line in lines}
    together = tuple(line for line in case.metrics if line.metric in labels)
    named = {"case": case.case.of_kind(ALL), "metrics": together, "kinds": {}}
    if case.capacity is not None:
        for row in case.by_part(_KIND):
            n = max((len(line.samples) for line in row.metrics), default=0)
            counts = {"trials": n, "planned": n, "believed": n, "capacity": None}
            yield row.model_copy(update={"metrics": _times_first(row.metrics), **counts})
        return
    for row in (*case.by_part(_KIND), case.model_copy(update=named)):
        yield row.model_copy(update={"metrics": _times_first(row.metrics)})


def _times_first(lines: Sequence[MetricSummary]) -> tuple[MetricSummary, ...]:
    """Return the lines with the response times first: the shares decide the rates of kinds."""
    return tuple(sorted(lines, key=lambda line: line.unit != "s"))
