"""Drawings of levels over several results, and of ratios of new to old values."""

from collections.abc import Iterator, Mapping, Sequence

from markupsafe import Markup

from benchforge.model.summary.verdict import Estimate
from benchforge.report.charts.drawing import COLOURS, ChartAxis, grid, interval_bar, svg, titled
from benchforge.text import readable

_HEIGHT = 150
_RATIO_HEIGHT = 30
COURSE_HEIGHT = _HEIGHT + 18
_EDGE = 6.0
"Per cent that stay free on both sides."


def course_drawing(
    values: Mapping[int, Estimate],
    labels: Sequence[tuple[str, str]],
    scale: readable.Scale,
    colour: int = 0,
    lines: Mapping[int, str] | None = None,
) -> Markup | None:
    """Return the drawing of values, each with its interval; None if there is no value.

    `values` are by their place in `labels`, which has what a place is called in a sentence and
    below the axis. `lines` has the style of an upright before a place; at `cross` the mark has
    another colour, too.
    """
    estimates = {index: value for index, value in values.items() if value.value is not None}
    if not estimates:
        return None
    axis = ChartAxis.from_zero([item.high or item.value or 0.0 for item in estimates.values()])
    axis = ChartAxis(axis.low, axis.high, room=(0.0, 8.0))
    pieces = [*_ticks(axis, scale), *_places(labels, lines or {})]
    words = []
    for index_, estimate in estimates.items():
        value, x = estimate.value or 0.0, _x(index_, labels)
        words.append(f"{labels[index_][0]}: {scale.text(value)}")
        if estimate.interval is not None:
            low, high = (_y(axis, end) for end in estimate.interval)
            line = f'x1="{x}%" x2="{x}%" y1="{low}" y2="{high}"'
            pieces.append(f'<line class="upright colour{colour % COLOURS}" {line}/>')
        number = colour + 1 if (lines or {}).get(index_) == "cross" else colour
        pieces.append(
            f'<circle class="mark colour{number % COLOURS}" cx="{x}%" cy="{_y(axis, value)}" r="4">'
            f"{titled(words[-1])}</circle>"
        )
    return svg(COURSE_HEIGHT, "".join(pieces), readable.listed(words, 20))


def _x(index: int, labels: Sequence[tuple[str, str]]) -> float:
    return round(_EDGE + index * (100 - 2 * _EDGE) / max(1, len(labels) - 1), 2)


def _y(axis: ChartAxis, value: float) -> float:
    return round(_HEIGHT * (1 - axis.at(value) / 100), 1)


def _ticks(axis: ChartAxis, scale: readable.Scale) -> Iterator[str]:
    for tick in axis.ticks():
        y = _y(axis, float(tick))
        yield f'<line class="grid" x1="0" x2="100%" y1="{y}" y2="{y}"/>'
        yield f'<text x="2" y="{y - 3}">{scale.text(float(tick))}</text>'


def _places(labels: Sequence[tuple[str, str]], lines: Mapping[int, str]) -> Iterator[str]:
    for position, (_, label) in enumerate(labels):
        x = _x(position, labels)
        if position in lines:
            x = round((x + _x(position - 1, labels)) / 2, 2) if position else x
            yield f'<line class="{lines[position]}" x1="{x}%" x2="{x}%" y1="0" y2="{_HEIGHT}"/>'
        if label:
            yield f'<text x="{x}%" y="{_HEIGHT + 14}" text-anchor="x">{label}</text>'


def change_drawing(
    axis: ChartAxis, ratio: float, ends: tuple[float, float] | None, state: str, about: str
) -> Markup:
    """Return the mark of a ratio with its interval; `state` is its colour, `about` its text."""
    alike, x = axis.at(1), _RATIO_HEIGHT // 2
    pieces = [
        grid(axis, _RATIO_HEIGHT),
        f'<line class="alike" x1="{alike}%" x2="{alike}%" y1="0" y2="{_RATIO_HEIGHT}"/>',
    ]
    if ends is not None:
        pieces.append(interval_bar(axis, ends, x, f"state-{state}"))
    pieces.append(
        f'<circle class="estimate state-{state}" cx="{axis.at(ratio)}%" cy="{x}" r="5">'
        f"{titled(about)}</circle>"
    )
    return svg(_RATIO_HEIGHT, "".join(pieces), about)
