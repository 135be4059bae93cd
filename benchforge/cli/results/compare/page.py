"""A comparison of results as a page."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from benchforge.cli.console.columns import NOTHING, spread
from benchforge.cli.results.compare.results import what
from benchforge.cli.results.compare.text import ComparedResults, answer_of, silent, verdicts
from benchforge.report.charts.axis import ChartAxis
from benchforge.report.charts.changes import change_drawing
from benchforge.report.charts.drawing import ratio_ticks
from benchforge.report.page.counted_state import CountedState
from benchforge.results.over_time.compared import MetricChange
from benchforge.text.readable import counted, exact, scale, times

_MOST = 500
"Rows that are shown."
_KINDS: Final = {
    "worse": ("fails", "worse"),
    "broken": ("invalid", "broken"),
    "not believed": ("invalid", "not believed"),
    "better": ("holds", "better"),
    "not shown": ("inconclusive", "no change shown"),
    "no model": ("inconclusive", "no verdict"),
    "reference": ("inconclusive", "reference"),
}
"Each answer, the worst first: the name of its colour, and its words."


def compare_page(comparison: ComparedResults) -> dict[str, Any]:
    """Return the values of a comparison's page."""
    changes = sorted(comparison.visible, key=lambda row: [*_KINDS].index(answer_of(row)))
    ends = [end for change in changes for end in _ends(change)]
    axis = ChartAxis.of_ratios(ends) if ends else None
    more = len(changes) - _MOST
    summary, older = comparison.new.summary, counted(len(comparison.older.results), "older result")
    return {
        "title": f"{summary.title or summary.name}: what changed",
        "eyebrow": f"{summary.name} · {older}",
        "doubts": comparison.older.doubts,
        "counts": _counts(changes),
        "sentences": [
            *verdicts(changes, comparison.older, comparison.reference),
            *silent(comparison.rows),
        ],
        "by_reference": comparison.reference,
        "rows": [_row(change, axis) for change in changes[:_MOST]],
        "axis": None if axis is None else ratio_ticks(axis),
        "more": f"{exact(more)} more are not shown: benchforge compare prints them"
        if more > 0
        else "",
        "results": what(comparison.new, comparison.older, comparison.registry),
    }


def _counts(changes: Sequence[MetricChange]) -> Iterator[CountedState]:
    answers = [answer_of(one) for one in changes]
    for answer, (kind, word) in _KINDS.items():
        if answer in answers:
            yield CountedState(kind, answers.count(answer), word)


def _row(row: MetricChange, axis: ChartAxis | None) -> dict[str, Any]:
    kind, word = _KINDS[answer_of(row)]
    size = scale(row.measure.unit, [max(row.new.value or 0.0, row.old.value or 0.0)])
    unit = "" if size.unit == "1" else f" {size.unit}"
    ratio = _shown_ratio(row)
    drawing = None
    if axis is not None and ratio is not None:
        about = f"{row.case.title}, {row.measure.title}: {times(ratio)} times"
        drawing = change_drawing(axis, ratio, row.change.change.interval, kind, about)
    return {
        "kind": kind,
        "word": word,
        "case": row.case.title,
        "metric": row.measure.title,
        "drawing": drawing,
        "ratio": NOTHING if ratio is None else f"{times(ratio)}x",
        "old": spread(row.old, size.text),
        "new": f"{spread(row.new, size.text)}{unit}",
    }


def _shown_ratio(row: MetricChange) -> float | None:
    """Return the ratio by the reference where it is known, else new by old; above 0 only."""
    ratio = row.change.change.value if row.change.change.value is not None else row.ratio
    return ratio if ratio is not None and ratio > 0 else None


def _ends(row: MetricChange) -> Iterator[float]:
    ratio = _shown_ratio(row)
    if ratio is not None:
        yield from (ratio, *(row.change.change.interval or ()))
