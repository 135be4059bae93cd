"""Every trial's value as a dot, one row a case, on one axis that starts at zero."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from html import escape

from benchforge.plugin import CaseSummary, MetricSummary, safe
from benchforge_reporters.text.tables import Column, Table

WIDTH, HEIGHT, EDGE = 400, 20, 30  # the edge has room for half of a number below the axis
_TICKS = 4


def dots(column: Column, cases: Sequence[CaseSummary], table: Table) -> str:
    """Return a table of drawings for one column; nothing where no value is known."""
    lines = [next(iter(column.lines(case)), None) for case in cases]
    values = [value for line in lines if line for value, _, _ in _values(line)]
    if not values:
        return ""
    axis = ValueAxis(min(0, *values), max(0, *values))
    unit = f" ({column.unit})" if column.unit else ""
    title = safe.html(f"{column.title}{unit}")
    rows = "\n".join(
        f'<tr><th scope="row">{safe.html(_name(row.labels))}</th>'
        f"<td>{_row(line, axis, column) if line and _values(line) else _none(case)}</td></tr>"
        for row, line, case in zip(table.rows, lines, cases, strict=True)
    )
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{title}, drawn">'
        f'<table class="dots"><caption>{title}: each dot is a trial, the bar is the median'
        f"</caption><tbody>\n{rows}\n"
        f"<tr><td></td><td>{_ticks(axis, column)}</td></tr></tbody></table></div>"
    )


class ValueAxis:
    """From the lowest to the highest value, zero included."""

    def __init__(self, lowest: float, highest: float) -> None:
        # Decimals: the distance of two floats may be none.
        self.lowest, self.highest = Decimal(lowest), Decimal(highest)

    def x(self, value: float | Decimal) -> str:
        """Return where a value stands in a row."""
        return f"{self.share(value) * (WIDTH - 2 * EDGE) + EDGE:.1f}"

    def share(self, value: float | Decimal) -> float:
        """Return how far along the axis a value stands: 0 at its start, 1 at its end."""
        length = (self.highest - self.lowest) or Decimal(1)
        return float((Decimal(value) - self.lowest) / length)

    def ticks(self) -> Iterator[Decimal]:
        """Yield round values: 1, 2 or 5 times a power of ten apart."""
        length = (self.highest - self.lowest) or Decimal(1)
        power = Decimal(1).scaleb((length / _TICKS).adjusted())
        step = next(power * by for by in (1, 2, 5, 10) if power * by * _TICKS >= length)
        number = (self.lowest / step).to_integral_value(rounding="ROUND_CEILING")
        while number * step <= self.highest:
            yield number * step
            number += 1


def _name(labels: Sequence[str]) -> str:
    return " · ".join(label for label in labels[:-1] if label)  # the last says how many trials


def _values(line: MetricSummary) -> list[tuple[float, int, bool]]:
    return [
        (one.sample.value, one.trial, one.sample.lower_bound)
        for one in line.samples
        if one.sample.value is not None
    ]


def _row(line: MetricSummary, axis: ValueAxis, column: Column) -> str:
    middle = HEIGHT // 2
    drawn = [
        f'<line class="axis" x1="{EDGE}" x2="{WIDTH - EDGE}" y1="{middle}" y2="{middle}"/>',
        *(
            f'<line class="grid" x1="{x}" x2="{x}" y1="0" y2="{HEIGHT}"/>'
            for x in map(axis.x, axis.ticks())
        ),
    ]
    if line.median is not None:
        x = axis.x(line.median)
        drawn.append(f'<line class="median" x1="{x}" x2="{x}" y1="3" y2="{HEIGHT - 3}"/>')
    labels = []
    for value, trial, at_least in _values(line):
        labels.append(f"trial {trial}: {'> ' if at_least else ''}{column.scale.text(value)}")
        drawn.append(
            f'<circle class="{"bound" if at_least else "dot"}" cx="{axis.x(value)}" cy="{middle}"'
            f' r="4"><title>{escape(labels[-1])}</title></circle>'
        )
    return drawing("".join(drawn), "; ".join(labels))


def _none(case: CaseSummary) -> str:
    if case.failed and not case.trials:
        return '<span class="loud">failed</span>'
    return '<span class="unknown">no value</span>'


def _ticks(axis: ValueAxis, column: Column) -> str:
    texts = [
        f'<text x="{axis.x(value)}" y="{HEIGHT - 7}">{column.scale.text(float(value))}</text>'
        for value in axis.ticks()
    ]
    return drawing("".join(texts), "the axis")


def drawing(inner: str, description: str) -> str:
    """Return a picture of a row, and its words for who does not see it."""
    frame = f'viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(description)}"'
    return f"<svg {frame}>{inner}</svg>"
