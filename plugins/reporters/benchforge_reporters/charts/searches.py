"""The trials of a search for a rate: a mark at each rate that was tried, full where it passed."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from benchforge.plugin import Capacity, CaseSummary, readable
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

_HEIGHT, _MIDDLE, _APART = 34, 17, 4


def searches(
    named_cases: Sequence[tuple[str, CaseSummary]], colours: Mapping[str, int]
) -> Chart | None:
    """Return a row for each search; None where no trial says anything."""
    searched = [
        (name, colours.get(case.case.server, 0), case.capacity)
        for name, case in named_cases
        if case.capacity is not None and case.capacity.attempts
    ]
    if not searched:
        return None
    axis = ChartAxis.from_zero(
        attempt.rate for _, _, capacity in searched for attempt in capacity.attempts
    )
    rows = tuple(
        ChartRow(name, colour, _row(name, capacity, colour, axis), rate_of(capacity))
        for name, colour, capacity in searched
    )
    caption = "rates that were tried: a full mark passed; the bar is the interval of the rate"
    return Chart(rows, tick_texts(axis, RATES.text), caption)


def _row(name: str, capacity: Capacity, colour: int, axis: ChartAxis) -> Markup:
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
