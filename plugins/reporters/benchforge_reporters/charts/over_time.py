"""The curves of a scenario: servers at rising concurrency, and loads over their time, by stage."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import groupby
from typing import NamedTuple

from markupsafe import Markup

from benchforge.plugin import readable
from benchforge.plugin.drawing import (
    COLOURS,
    COURSE_HEIGHT,
    ChartAxis,
    course_drawing,
    stretched,
    svg,
)
from benchforge_reporters.document.document import Section
from benchforge_reporters.document.over_time import LoadOverTime, Moment
from benchforge_reporters.text.standings import scaled, title

_RATES, _GAP, _TIMES, _HEAD, _FOOT = 110, 14, 90, 14, 18
_LOWER = _HEAD + _RATES + _GAP  # where the panel of times begins
HEIGHT = _LOWER + _TIMES + _FOOT
CAPTION = (
    "above responses/s, a line for each trial, and dotted what was due; below, on a logarithmic "
    "axis, p50, and dashed p99 where it has 1,000 responses; uprights where stages end"
)
_EDGE = 6.0
"Per cent that stay free on the left."
_MOST_LABELS, _MOST_TICKS = 20, 4


def over_time(loads: Sequence[LoadOverTime], load: LoadOverTime, colour: int) -> Markup:
    """Return the drawing of a load; `loads` are those of its scenario, with which it has axes."""
    panels = _Panels(loads)
    pieces = [*panels.background(load), *panels.lines(load, colour)]
    return svg(HEIGHT, "".join(pieces), _in_words(load))


class _Panels:
    """The two panels, with axes that hold all loads of a scenario."""

    def __init__(self, loads: Sequence[LoadOverTime]) -> None:
        moments = [moment for load in loads for moment in load.moments]
        rates = [rate for load in loads for rate_ in load.rates for rate in rate_]
        self.end_s = max(load.borders_s[-1] for load in loads) or 1.0
        self.rates = ChartAxis.from_zero([*rates, *(moment.due for moment in moments)])
        times = [t for moment in moments for t in (moment.p50_us, moment.p99_us) if t]
        low, high = Decimal(min(times, default=1.0)), Decimal(max(times, default=1.0))
        # A peak takes a thousand times as long as a quiet stage: both are to be seen.
        self.times = ChartAxis(low * Decimal("0.8"), high * Decimal("1.25"), logarithmic=True)

    def x(self, at_s: float) -> float:
        """Return a position in per cent."""
        return round(_EDGE + (100 - _EDGE) * min(1.0, at_s / self.end_s), 2)

    def background(self, load: LoadOverTime) -> Iterator[str]:
        """Yield the ticks of both axes, and the stages."""
        for axis, top, height, words in (
            (self.rates, _HEAD, _RATES, readable.figure),
            (self.times, _LOWER, _TIMES, _time),
        ):
            ticks = axis.ticks(3)
            tens = [tick for tick in ticks if tick.normalize().as_tuple().digits == (1,)]
            for tick in tens if len(ticks) > _MOST_TICKS and tens else ticks:
                y = _y(axis, float(tick), top, height)
                yield f'<line class="grid" x1="0" x2="100%" y1="{y}" y2="{y}"/>'
                yield f'<text x="2" y="{y - 3}">{words(float(tick))}</text>'
        start_s, few = 0.0, len(load.borders_s) <= _MOST_LABELS
        for number, end_s in enumerate(load.borders_s, 1):
            y = self.x(end_s)
            line = f'x1="{y}%" x2="{y}%" y1="{_HEAD}" y2="{HEIGHT - _FOOT}"'
            yield f'<line class="grid zero" {line}/>'
            if few:
                middle = self.x((start_s + end_s) / 2)
                yield f'<text x="{middle}%" y="10" text-anchor="middle">{number}</text>'
                text = readable.amount("s", end_s)
                yield f'<text x="{y}%" y="{HEIGHT - 4}" text-anchor="end">{text}</text>'
            start_s = end_s

    def lines(self, load: LoadOverTime, colour: int) -> Iterator[str]:
        """Yield the lines of both panels, each in a drawing that stretches."""
        kind, moments = f"curve colour{colour % COLOURS}", load.moments
        courses = (
            [((n + 0.5) * load.bin_s, rate) for n, rate in enumerate(rates)] for rates in load.rates
        )
        upper = [self._path(points, self.rates, kind) for points in courses if points]
        upper += self._steps(moments, lambda moment: moment.due, self.rates, "law few")
        lower = [*self._steps(moments, lambda moment: moment.p50_us, self.times, kind)]
        lower += self._steps(moments, lambda moment: moment.p99_us, self.times, f"{kind} dashed")
        for pieces, top, height in ((upper, _HEAD, _RATES), (lower, _LOWER, _TIMES)):
            inner = stretched("100%", height, "".join(pieces))
            yield f'<svg y="{top}" height="{height}">{inner}</svg>'

    def _path(self, points: Sequence[tuple[float, float]], axis: ChartAxis, kind: str) -> str:
        places = " ".join(
            f"{10 * self.x(time_s):.1f},{1000 - 10 * axis.at(value):.1f}"
            for time_s, value in points
        )
        return f'<path class="{kind}" d="M{places}"/>'

    def _steps(
        self,
        moments: Sequence[Moment],
        value: Callable[[Moment], float | None],
        axis: ChartAxis,
        kind: str,
    ) -> Iterator[str]:
        """Yield a line over each part of a stage that has a value; neighbours are one line."""
        for is_unknown, part in groupby(moments, lambda moment: value(moment) is None):
            ends = [(end_s, value(m) or 0.0) for m in part for end_s in (m.start_s, m.end_s)]
            if not is_unknown:
                yield self._path(ends, axis, kind)


def _time(us: float) -> str:
    return readable.amount("s", us / 1e6)


def _y(axis: ChartAxis, value: float, top: int, height: int) -> float:
    return round(top + height * (1 - axis.at(value) / 100), 1)


def _in_words(load: LoadOverTime) -> str:
    words = []
    for moment in load.moments:
        due = f"{readable.figure(moment.due)} requests/s due"
        until = f"until {readable.amount('s', moment.end_s)}: {due}"
        for name, us in (("p50", moment.p50_us), ("p99", moment.p99_us)):
            until += "" if us is None else f", {name} {_time(us)}"
        words.append(until)
    return readable.listed(words, 30)


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
        measured = [level for level in swept.levels if level.value.value is not None]
        labels = [(f"{level.concurrency} at once", str(level.concurrency)) for level in measured]
        values = {path: level.value for path, level in enumerate(measured)}
        drawing = course_drawing(values, labels, scaled(swept), colours.get(swept.server, 0))
        if drawing is not None:
            by_concurrency = f"{title(swept)}: {swept.metric} by concurrency"
            yield Curve(f"sweep-{number}", drawing, COURSE_HEIGHT, by_concurrency, sentence)
    for number, load in enumerate(section.over_time, start=1):
        drawing = over_time(section.over_time, load, colours.get(load.server, 0))
        yield Curve(f"time-{number}", drawing, HEIGHT, f"{load.label} over time", CAPTION)
