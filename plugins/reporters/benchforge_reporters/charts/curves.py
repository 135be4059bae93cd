"""The curves of a scenario: servers at rising concurrency, and loads over their time."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from markupsafe import Markup

from benchforge.plugin import ConcurrencySweep, readable
from benchforge.plugin.drawing import COLOURS, ChartAxis, svg, titled
from benchforge_reporters.charts.over_time import CAPTION, HEIGHT, over_time
from benchforge_reporters.document.document import Section
from benchforge_reporters.text.sweeps import scaled, title

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


class Curve(NamedTuple):
    """A drawing with its height, its title, and a sentence about it."""

    name: str
    "Kind and number of the curve, which name its file."
    drawing: Markup
    height: int
    title: str
    sentence: str


def curves(section: Section, colours: Mapping[str, int]) -> Iterator[Curve]:
    """Yield the curves of a scenario, by the colours of its servers."""
    swept_servers = zip(section.curves, section.sweeps, strict=True)
    for number, (swept, sentence) in enumerate(swept_servers, start=1):
        drawing = sweep_curve(swept, colours.get(swept.server, 0))
        if drawing is not None:
            by_concurrency = f"{title(swept)}: {swept.metric} by concurrency"
            yield Curve(f"sweep-{number}", drawing, SWEEP_HEIGHT, by_concurrency, sentence)
    for number, load in enumerate(section.over_time, start=1):
        drawing = over_time(section.over_time, load, colours.get(load.server, 0))
        yield Curve(f"time-{number}", drawing, HEIGHT, f"{load.label} over time", CAPTION)
