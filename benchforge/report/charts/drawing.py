"""The pieces of a drawing, and its axes. All text in it passes `safe.html`."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Self

from markupsafe import Markup

from benchforge.model.summary.summary import Summary
from benchforge.text import readable, safe

_ROUND = (1, 2, 5, 10)
_LOG_MARKS = (1, 2, 5)
_MOST_DECADES = 6
"Of a logarithmic axis: with more of them, only powers of ten are marked."


@dataclass(frozen=True)
class ChartAxis:
    """From the lowest to the highest value. Decimals: the distance of two floats may be none."""

    low: Decimal
    high: Decimal
    logarithmic: bool = False
    room: tuple[float, float] = (0.0, 4.0)
    "Per cent of the width that stay free on the left and on the right."

    @classmethod
    def from_zero(cls, values: Iterable[float]) -> Self:
        """Return an axis that has zero and all values."""
        numbers = [Decimal(value) for value in values]
        return cls(min([Decimal(0), *numbers]), max([Decimal(0), *numbers]))

    @classmethod
    def of_ratios(cls, values: Iterable[float]) -> Self:
        """Return a logarithmic axis that has 1 and all positive values."""
        numbers = [Decimal(value) for value in values if value > 0]
        low, high = min([Decimal("0.8"), *numbers]), max([Decimal("1.25"), *numbers])
        return cls(low * Decimal("0.95"), high * Decimal("1.05"), True, (1.0, 4.0))

    @classmethod
    def around_one(cls, top: float) -> Self:
        """Return a logarithmic axis with 1 in its middle."""
        return cls(1 / Decimal(top), Decimal(top), True, (8.0, 8.0))

    def at(self, value: float | Decimal) -> float:
        """Return the position of a value in per cent; of one beyond the axis, its end."""
        margin, behind = self.room
        return round(margin + (100 - margin - behind) * min(1.0, max(0.0, self._share(value))), 2)

    def _share(self, value: float | Decimal) -> float:
        number = Decimal(value)
        if self.logarithmic:
            if number <= 0:
                return 0.0
            return float((number / self.low).ln() / (self.high / self.low).ln())
        return float((number - self.low) / ((self.high - self.low) or Decimal(1)))

    def ticks(self, most: int = 4) -> list[Decimal]:
        """Return round values: 1, 2 or 5 times a power of ten apart, or such values themselves."""
        return list(self._decades() if self.logarithmic else self._steps(most))

    def _steps(self, most: int) -> Iterator[Decimal]:
        length = (self.high - self.low) or Decimal(1)
        power = Decimal(1).scaleb((length / most).adjusted())
        step = next(power * by for by in _ROUND if power * by * most >= length)
        number = (self.low / step).to_integral_value(rounding="ROUND_CEILING")
        while number * step <= self.high:
            yield number * step
            number += 1

    def _decades(self) -> Iterator[Decimal]:
        if self.low * self.high == 1:
            yield from (self.low, Decimal(1), self.high)
            return
        first, last = self.low.adjusted(), self.high.adjusted()
        marks = _LOG_MARKS if last - first < _MOST_DECADES else _LOG_MARKS[:1]
        apart = max(1, math.ceil((last - first) / _MOST_DECADES))
        for power in range(first, last + 1, apart):
            for by in marks:
                if self.low <= (tick := Decimal(by).scaleb(power)) <= self.high:
                    yield tick


SHAPES = 4
"Marks differ in shape as well as in colour: SYMBOLS has each."
COLOURS = 6
"Number of colours of the style."
SYMBOLS = Markup(
    '<circle id="mark0" r="4"/>'
    '<rect id="mark1" x="-3.6" y="-3.6" width="7.2" height="7.2" rx="1"/>'
    '<path id="mark2" d="M0-4.8 4.6 3.4H-4.6Z"/><path id="mark3" d="M0-5 5 0 0 5-5 0Z"/>'
    '<path id="published" d="M0-6.5 6.5 0 0 6.5-6.5 0Z"/>'
    '<path id="cross" d="M-3.5-3.5 3.5 3.5M-3.5 3.5 3.5-3.5"/>'
)
"Shapes to which drawings refer by their ids."
_AT_THE_EDGE = 3.0
"Per cent: the text of a tick that is nearer to the left edge begins at the tick."
AXIS_HEIGHT = 18


@dataclass(frozen=True)
class ChartRow:
    """A row of a chart: its label, its drawing, and the value in words."""

    label: str
    colour: int | None
    "Number of the server's colour and shape; None without one."
    drawing: Markup
    value: str
    detail: str = ""


@dataclass(frozen=True)
class Chart:
    """Rows with a common axis below them."""

    rows: tuple[ChartRow, ...]
    axis: Markup
    caption: str = ""
    left_out: int = 0
    "Number of trials that have no mark, since there are too many."


def colours_of(summary: Summary) -> Mapping[str, int]:
    """Return the number of each server's colour and shape, in the order of the suite."""
    servers = dict.fromkeys(case.case.server for case in summary.cases)
    return {server: number for number, server in enumerate(servers)}


def svg(height: int, content: str, description: str, kind: str = "") -> Markup:
    """Return a drawing as wide as its place; `content` is SVG, the description is text."""
    return Markup(  # noqa: S704 - the text in it is escaped
        f'<svg class="chart {kind}" width="100%" height="{height}" role="img" '
        f'aria-label="{safe.html(safe.line(description))}">{content}</svg>'
    )


def stretched(width: str, height: int, content: str) -> str:
    """Return a drawing in a drawing, 1000 units wide and high, that stretches: it has no text."""
    return (
        f'<svg width="{width}" height="{height}" viewBox="0 0 1000 1000" '
        f'preserveAspectRatio="none">{content}</svg>'
    )


def mark(x: float, y: float, colour: int, title: str, kind: str = "") -> str:
    """Return a server's mark at a position, with its text for a pointer."""
    return (
        f'<use href="#mark{colour % SHAPES}" x="{x}%" y="{y}" '
        f'class="mark colour{colour % COLOURS} {kind}">{titled(title)}</use>'
    )


def interval_bar(axis: ChartAxis, ends: tuple[float, float], y: float, kind: str) -> str:
    """Return the bar from one end of an interval to the other; `kind` has its colour."""
    low, high = map(axis.at, ends)
    return f'<line class="interval {kind}" x1="{low}%" x2="{high}%" y1="{y}" y2="{y}"/>'


def titled(title: str) -> str:
    """Return the text that a pointer shows."""
    return f"<title>{safe.html(safe.line(title))}</title>"


def grid(axis: ChartAxis, height: int, most: int = 4) -> str:
    """Return a line for each tick; that of zero is darker."""
    return "".join(
        f'<line class="grid{"" if tick else " zero"}" x1="{axis.at(tick)}%" '
        f'x2="{axis.at(tick)}%" y1="0" y2="{height}"/>'
        for tick in axis.ticks(most)
    )


def tick_texts(
    axis: ChartAxis, text: Callable[[float], str], unit: str = "", most: int = 4
) -> Markup:
    """Return the row below a chart: the values of the ticks, the last one with the unit."""
    ticks: Sequence[Decimal] = axis.ticks(most)
    words = [text(float(tick)) for tick in ticks]
    if words and unit:
        words[-1] = f"{words[-1]} {unit}"
    texts = (
        f'<text x="{x}%" y="13" text-anchor="{"start" if x < _AT_THE_EDGE else "middle"}">'
        f"{safe.html(word)}</text>"
        for x, word in zip(map(axis.at, ticks), words, strict=True)
    )
    return svg(AXIS_HEIGHT, "".join(texts), "axis", "axis")


def ratio_ticks(axis: ChartAxis) -> Markup:
    """Return the values below the axis."""
    return tick_texts(axis, lambda value: f"{readable.figure(value)}\N{MULTIPLICATION SIGN}")
