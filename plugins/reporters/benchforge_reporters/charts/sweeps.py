"""Throughput at rising concurrency: levels with their intervals."""

from collections.abc import Iterator

from markupsafe import Markup

from benchforge.plugin import ConcurrencySweep, readable
from benchforge.plugin.drawing import COLOURS, ChartAxis, svg, titled
from benchforge_reporters.text.sweeps import scaled

_HEIGHT, _FOOT = 170, 18
SWEEP_HEIGHT = _HEIGHT + _FOOT
_EDGE = 6.0
"Per cent that stay free on both sides."


def sweep_curve(swept: ConcurrencySweep, colour: int) -> Markup | None:
    """Return the drawing of a sweep; None where no level has a value."""
    measured = [level for level in swept.levels if level.value.value is not None]
    if not measured:
        return None
    sizes = scaled(swept)
    tops = [level.value.high or level.value.value or 0.0 for level in measured]
    heights = ChartAxis.from_zero(tops)
    heights = ChartAxis(heights.low, heights.high, room=(0.0, 6.0))

    def x(place: int) -> float:
        return round(_EDGE + place * (100 - 2 * _EDGE) / max(1, len(measured) - 1), 2)

    def y(value: float) -> float:
        return round(_HEIGHT * (1 - heights.at(value) / 100), 1)

    def pieces() -> Iterator[str]:
        for tick in heights.ticks():
            at = y(float(tick))
            yield f'<line class="grid" x1="0" x2="100%" y1="{at}" y2="{at}"/>'
            yield f'<text x="2" y="{at - 3}">{sizes.text(float(tick))}</text>'
        for place, level in enumerate(measured):
            value = level.value
            if value.low is not None and value.high is not None:
                ends = f'y1="{y(value.low)}" y2="{y(value.high)}"'
                kind = f"upright colour{colour % COLOURS}"
                yield f'<line class="{kind}" x1="{x(place)}%" x2="{x(place)}%" {ends}/>'
            title = titled(f"{level.concurrency} at once: {sizes.text(value.value or 0.0)}")
            yield (
                f'<circle class="mark colour{colour % COLOURS}" cx="{x(place)}%" '
                f'cy="{y(value.value or 0.0)}" r="4">{title}</circle>'
            )
            yield (
                f'<text x="{x(place)}%" y="{_HEIGHT + _FOOT - 4}" text-anchor="middle">'
                f"{level.concurrency}</text>"
            )

    words = [
        f"{level.concurrency} at once: {sizes.text(level.value.value or 0.0)}" for level in measured
    ]
    return svg(SWEEP_HEIGHT, "".join(pieces()), readable.listed(words, 20))
