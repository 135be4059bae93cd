"""The ratio of a new value to an old one, on a logarithmic axis."""

from markupsafe import Markup

from benchforge.report.charts.axis import ChartAxis
from benchforge.report.charts.drawing import grid, interval_bar, svg, titled

_HEIGHT, _MIDDLE = 30, 15


def change_drawing(
    axis: ChartAxis, ratio: float, ends: tuple[float, float] | None, state: str, about: str
) -> Markup:
    """Return the mark of a ratio, with the bar of its interval if it has one.

    `state` names the colour, and `about` says it in words.
    """
    alike = axis.at(1)
    pieces = [
        grid(axis, _HEIGHT),
        f'<line class="alike" x1="{alike}%" x2="{alike}%" y1="0" y2="{_HEIGHT}"/>',
    ]
    if ends is not None:
        pieces.append(interval_bar(axis, ends, _MIDDLE, f"state-{state}"))
    pieces.append(
        f'<circle class="estimate state-{state}" cx="{axis.at(ratio)}%" cy="{_MIDDLE}" r="5">'
        f"{titled(about)}</circle>"
    )
    return svg(_HEIGHT, "".join(pieces), about)
