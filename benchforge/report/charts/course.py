"""Values over several results: levels in the order of time, and ratios of new to old values."""

from collections.abc import Collection, Iterator, Mapping

from markupsafe import Markup

from benchforge.model.summary.verdict import Estimate
from benchforge.report.charts.axis import ChartAxis
from benchforge.report.charts.drawing import grid, interval_bar, svg, titled
from benchforge.text import readable

_HEIGHT, _FOOT = 150, 18
_EDGE = 6.0
"Per cent that stay free on both sides."
_MOST_LABELS = 12


def course_drawing(
    values: Mapping[int, Estimate],
    results: int,
    series: Collection[int],
    changes: Collection[int],
    scale: readable.Scale,
) -> Markup | None:
    """Return the drawing of a value in each of several results; None if no result has one.

    `values` are by the result's index, `series` are the results that begin a new series, and
    `changes` those at which the level changed.
    """
    estimates = {place: one for place, one in values.items() if one.value is not None}
    if not estimates:
        return None
    tops = [one.high if one.high is not None else one.value or 0.0 for one in estimates.values()]
    axis = ChartAxis.from_zero([*tops, *(one.value or 0.0 for one in estimates.values())])
    axis = ChartAxis(axis.low, axis.high, room=(0.0, 8.0))
    pieces = [*_ticks(axis, scale), *_results(results, series, changes)]
    words = []
    for place, estimate in estimates.items():
        value, at = estimate.value or 0.0, _x(place, results)
        words.append(f"result {place + 1}: {scale.text(value)}")
        if estimate.interval is not None:
            low, high = (_y(axis, end) for end in estimate.interval)
            line = f'x1="{at}%" x2="{at}%" y1="{low}" y2="{high}"'
            pieces.append(f'<line class="upright colour0" {line}/>')
        kind = "mark colour1" if place in changes else "mark colour0"
        pieces.append(
            f'<circle class="{kind}" cx="{at}%" cy="{_y(axis, value)}" r="4">'
            f"{titled(words[-1])}</circle>"
        )
    return svg(_HEIGHT + _FOOT, "".join(pieces), readable.listed(words, 20))


def _x(place: int, results: int) -> float:
    return round(_EDGE + place * (100 - 2 * _EDGE) / max(1, results - 1), 2)


def _y(axis: ChartAxis, value: float) -> float:
    return round(_HEIGHT * (1 - axis.at(value) / 100), 1)


def _ticks(axis: ChartAxis, scale: readable.Scale) -> Iterator[str]:
    for tick in axis.ticks():
        at = _y(axis, float(tick))
        yield f'<line class="grid" x1="0" x2="100%" y1="{at}" y2="{at}"/>'
        yield f'<text x="2" y="{at - 3}">{scale.text(float(tick))}</text>'


def _results(results: int, series: Collection[int], changes: Collection[int]) -> Iterator[str]:
    """Yield the numbers of the results, and a line where a series begins or the level changed."""
    apart = -(-results // _MOST_LABELS)
    for place in range(results):
        at = _x(place, results)
        if place in series or place in changes:
            kind = "cross" if place in changes else "grid zero"
            left = round((at + _x(place - 1, results)) / 2, 2) if place else at
            yield f'<line class="{kind}" x1="{left}%" x2="{left}%" y1="0" y2="{_HEIGHT}"/>'
        if place % apart == 0:
            text = f'x="{at}%" y="{_HEIGHT + 14}" text-anchor="middle"'
            yield f"<text {text}>{place + 1}</text>"


_RATIO_HEIGHT = 30


def change_drawing(
    axis: ChartAxis, ratio: float, ends: tuple[float, float] | None, state: str, about: str
) -> Markup:
    """Return the mark of a ratio, with the bar of its interval if it has one.

    `state` names the colour, and `about` says it in words.
    """
    alike, middle = axis.at(1), _RATIO_HEIGHT // 2
    pieces = [
        grid(axis, _RATIO_HEIGHT),
        f'<line class="alike" x1="{alike}%" x2="{alike}%" y1="0" y2="{_RATIO_HEIGHT}"/>',
    ]
    if ends is not None:
        pieces.append(interval_bar(axis, ends, middle, f"state-{state}"))
    pieces.append(
        f'<circle class="estimate state-{state}" cx="{axis.at(ratio)}%" cy="{middle}" r="5">'
        f"{titled(about)}</circle>"
    )
    return svg(_RATIO_HEIGHT, "".join(pieces), about)
