"""A comparison of results as a page."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from benchforge_reporters.charts.changes import change_drawing
from benchforge_reporters.charts.ratios import ratio_ticks
from benchforge_reporters.charts.svg.axis import ChartAxis
from benchforge_reporters.html.overview import CountedState
from markupsafe import Markup

from benchforge.cli.screen.columns import NOTHING, spread
from benchforge.registry import Registry
from benchforge.text.readable import counted, exact, scale, times
from benchforge_results.compare.results import what
from benchforge_results.compare.text import answer_of, silent, verdicts
from benchforge_results.conclude import Summed
from benchforge_results.over_time.compared import MetricChange
from benchforge_results.over_time.older_results import Older

_MOST = 500
"Rows that are shown."
_KINDS: Final = {
    "worse": ("fails", "worse"),
    "not believed": ("invalid", "not believed"),
    "better": ("holds", "better"),
    "not shown": ("inconclusive", "no change shown"),
    "no model": ("inconclusive", "no verdict"),
    "reference": ("inconclusive", "reference"),
}
"Each answer, the worst first: the name of its colour, and its words."


@dataclass(frozen=True)
class ChangeRow:
    """A metric of a case, before and after."""

    kind: str
    word: str
    case: str
    metric: str
    drawing: Markup | None
    ratio: str
    old: str
    new: str


@dataclass(frozen=True)
class ComparePage:
    """The values of the page."""

    title: str
    eyebrow: str
    doubts: tuple[str, ...]
    counts: tuple[CountedState, ...]
    sentences: tuple[str, ...]
    by_reference: str
    rows: tuple[ChangeRow, ...]
    axis: Markup | None
    more: str
    results: tuple[str, ...]


def compare_page(
    new: Summed,
    older: Older,
    changes: Sequence[MetricChange],
    reference: str | None,
    registry: Registry,
) -> ComparePage:
    """Return the values of a comparison's page."""
    seen = sorted(
        (one for one in changes if not one.silent), key=lambda row: [*_KINDS].index(answer_of(row))
    )
    ends = [end for one in seen for end in _ends(one)]
    axis = ChartAxis.of_ratios(ends) if ends else None
    more = len(seen) - _MOST
    return ComparePage(
        title=f"{new.summary.title or new.summary.name}: what changed",
        eyebrow=f"{new.summary.name} · {counted(len(older.results), 'older result')}",
        doubts=tuple(older.doubts),
        counts=tuple(_counts(seen)),
        sentences=(*verdicts(seen, older, reference), *silent(changes)),
        by_reference=reference or "",
        rows=tuple(_row(one, axis) for one in seen[:_MOST]),
        axis=None if axis is None else ratio_ticks(axis),
        more=f"{exact(more)} more are not shown: benchforge compare prints them"
        if more > 0
        else "",
        results=tuple(what(new, older, registry)),
    )


def _counts(changes: Sequence[MetricChange]) -> Iterator[CountedState]:
    answers = [answer_of(one) for one in changes]
    for answer, (kind, word) in _KINDS.items():
        if answer in answers:
            yield CountedState(kind, answers.count(answer), word)


def _row(row: MetricChange, axis: ChartAxis | None) -> ChangeRow:
    kind, word = _KINDS[answer_of(row)]
    values = [row.new.value or 0.0, row.old.value or 0.0]
    size = scale(row.measure.unit, [max(values)])
    unit = "" if size.unit == "1" else f" {size.unit}"
    shown = _shown_ratio(row)
    drawing = None
    if axis is not None and shown is not None:
        about = f"{row.case.title}, {row.measure.title}: {times(shown)} times"
        drawing = change_drawing(axis, shown, row.change.change.interval, kind, about)
    return ChangeRow(
        kind=kind,
        word=word,
        case=row.case.title,
        metric=row.measure.title,
        drawing=drawing,
        ratio=NOTHING if shown is None else f"{times(shown)}x",
        old=spread(row.old, size.text),
        new=f"{spread(row.new, size.text)}{unit}",
    )


def _shown_ratio(row: MetricChange) -> float | None:
    """Return the ratio by the reference where it is known, else new by old; above 0 only."""
    ratio = row.change.change.value if row.change.change.value is not None else row.ratio
    return ratio if ratio is not None and ratio > 0 else None


def _ends(row: MetricChange) -> Iterator[float]:
    ratio = _shown_ratio(row)
    if ratio is not None:
        yield from (ratio, *(row.change.change.interval or ()))
