"""Levels and searches of servers: a row each, every trial a mark, on one axis from zero."""

from collections.abc import Mapping, Sequence
from itertools import chain

from markupsafe import Markup

from benchforge.plugin import (
    RATE,
    Capacity,
    CaseSummary,
    Comparison,
    Estimate,
    MetricSummary,
    Summary,
    readable,
    server_names,
)
from benchforge.plugin.drawing import (
    COLOURS,
    Chart,
    ChartAxis,
    ChartRow,
    grid,
    interval_bar,
    mark,
    svg,
    tick_texts,
)
from benchforge_reporters.text.search import RATES, rate_of
from benchforge_reporters.text.tables import Column, metric_columns

_HEIGHT, _MIDDLE, _APART = 34, 17, 4
_TICKS = 3
_MOST_MARKS = 40
"Trials of a case: the others are small dots without a text of their own."
_MOST_SPECKS = 400
"Small dots of a case: with more trials, evenly spread ones are drawn."
_Mark = tuple[float, int, int, bool]
"Value, trial, block, and whether the value is a lower bound."


def levels(
    column: Column,
    named_cases: Sequence[tuple[str, CaseSummary]],
    levels_by_name: Mapping[str, Estimate],
    colours: Mapping[str, int],
) -> Chart | None:
    """Return a row for each case; None where no value is known.

    `levels_by_name` has the interval of a case's level where the ranking has one, and `colours`
    the colour of each server.
    """
    lines = [(name, case, next(iter(column.lines(case)), None)) for name, case in named_cases]
    drawn = [_values(line) for _, _, line in lines if line]
    values = [value for of_line in drawn for value, *_ in of_line]
    if not values:
        return None
    intervals = [level.interval for name, *_ in lines if (level := levels_by_name.get(name))]
    axis = ChartAxis.from_zero([*values, *chain(*filter(None, intervals))])
    rows = [_row(line, axis, column, levels_by_name.get(line[0]), colours) for line in lines]
    unit = f" ({column.unit})" if column.unit else ""
    return Chart(
        tuple(rows),
        tick_texts(axis, column.scale.text, "", _TICKS),
        f"{column.title}{unit}: each mark is a trial",
        sum(max(0, len(each) - _MOST_MARKS - len(_specks(each))) for each in drawn),
    )


def _row(
    named: tuple[str, CaseSummary, MetricSummary | None],
    axis: ChartAxis,
    column: Column,
    level: Estimate | None,
    colours: Mapping[str, int],
) -> ChartRow:
    name, case, line = named
    colour = colours.get(case.case.server, 0)
    kind = f"colour{colour % COLOURS}"
    drawn = [grid(axis, _HEIGHT, _TICKS)]
    values = _values(line) if line else []
    if line is None or not values:
        word = "failed" if case.failed and not case.trials else "unknown"
        return ChartRow(name, colour, svg(_HEIGHT, drawn[0], f"{name}: {word}"), word)
    centre, detail = _point(line, level, column)
    if level and level.interval:
        drawn.append(interval_bar(axis, level.interval, _MIDDLE, kind))
    if centre is not None:
        x = axis.at(centre)
        drawn.append(f'<line class="middle {kind}" x1="{x}%" x2="{x}%" y1="7" y2="27"/>')
    words = []
    for number, (value, trial, block, at_least) in enumerate(values):
        more = "more than " if at_least else ""
        words.append(f"trial {trial}, block {block}: {more}{column.scale.text(value)}")
        if number < _MOST_MARKS:
            y = _MIDDLE + (block % 3 - 1) * _APART
            drawn.append(mark(axis.at(value), y, colour, words[-1], "bound" if at_least else ""))
    drawn += [
        f'<circle class="speck {kind}" cx="{axis.at(value)}%" cy="{_MIDDLE}" r="1.5"/>'
        for value, *_ in _specks(values)
    ]
    text = column.scale.text(centre) if centre is not None else "unknown"
    about = f"{name}: {text} {column.unit} {detail}; {readable.listed(words, 20)}"
    return ChartRow(name, colour, svg(_HEIGHT, "".join(drawn), about), text, detail)


def _point(line: MetricSummary, level: Estimate | None, column: Column) -> tuple[float | None, str]:
    """Return the level with its interval in words, else with the lowest and the highest value."""
    if level is not None and level.value is not None and level.interval is not None:
        low, high = (column.scale.text(end) for end in level.interval)
        return level.value, f"{low}\N{EN DASH}{high}"
    if line.level is None or line.lowest is None or line.highest is None:
        return None, ""
    low, high = column.scale.text(line.lowest), column.scale.text(line.highest)
    return line.level, f"[{low}\N{EN DASH}{high}]"


def _specks(values: Sequence[_Mark]) -> Sequence[_Mark]:
    others = values[_MOST_MARKS:]
    return others[:: -(-len(others) // _MOST_SPECKS) or 1]


def _values(line: MetricSummary) -> list[_Mark]:
    return [
        (sample.sample.value, sample.trial, sample.block, sample.sample.lower_bound)
        for sample in line.samples
        if sample.sample.value is not None
    ]


def drawn_column(cases: Sequence[CaseSummary]) -> Column | None:
    """Return the column of the throughput, else the first one of a single value."""
    columns = [column for column in metric_columns(cases) if not column.in_one_cell]
    lines = ((column, line) for column in columns for case in cases for line in column.lines(case))
    throughput = (column for column, line in lines if line.measurand == RATE)
    return next(throughput, columns[0] if columns else None)


def answer_chart(
    comparison: Comparison, summary: Summary, colours: Mapping[str, int]
) -> Chart | None:
    """Return the chart of a comparison; None if no metric of it can be drawn."""
    cases = summary.cases_of(comparison)
    column = drawn_column(cases)
    if column is None:
        return None
    names = server_names([case.case for case in cases])
    ranked = summary.standing(comparison)
    order = ranked.ranking.order if ranked and ranked.ranking else ()
    by_name = {entry.server: entry.value for entry in order}
    return levels(column, list(zip(names, cases, strict=True)), by_name, colours)


def searches(cases: Sequence[tuple[str, CaseSummary]], colours: Mapping[str, int]) -> Chart | None:
    """Return a row for each search of named cases; None where no trial says anything."""
    searched = [
        (name, colours.get(case.case.server, 0), case.capacity)
        for name, case in cases
        if case.capacity is not None and case.capacity.attempts
    ]
    if not searched:
        return None
    axis = ChartAxis.from_zero(each.rate for _, _, search in searched for each in search.attempts)
    rows = tuple(
        ChartRow(name, colour, _search_row(name, capacity, colour, axis), rate_of(capacity))
        for name, colour, capacity in searched
    )
    caption = "rates that were tried: a full mark passed; the bar is the interval of the rate"
    return Chart(rows, tick_texts(axis, RATES.text), caption)


def _search_row(name: str, capacity: Capacity, colour: int, axis: ChartAxis) -> Markup:
    pieces = [grid(axis, _HEIGHT)]
    if capacity.rate.interval is not None:
        kind = f"colour{colour % COLOURS}"
        pieces.append(interval_bar(axis, capacity.rate.interval, _MIDDLE, kind))
    words = []
    for number, attempt in enumerate(capacity.attempts):
        passed = "passed" if attempt.passed else f"not kept: {attempt.why}"
        words.append(f"trial {attempt.trial}: {RATES.text(attempt.rate)}/s, {passed}")
        height = _MIDDLE + (number % 3 - 1) * _APART
        kind = "" if attempt.passed else "bound"
        pieces.append(mark(axis.at(attempt.rate), height, colour, words[-1], kind))
    return svg(_HEIGHT, "".join(pieces), f"{name}: {readable.listed(words, 20)}")
