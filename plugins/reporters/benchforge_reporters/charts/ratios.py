"""Ratios on a logarithmic axis: those of answers; and claims, with blocks and published value."""

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from benchforge.plugin import Estimate, readable
from benchforge.plugin.drawing import (
    LIMIT,
    Chart,
    ChartAxis,
    ChartRow,
    RatioAxis,
    grid,
    interval_bar,
    interval_text,
    numbers,
    ratio_ticks,
    short,
    svg,
    titled,
)
from benchforge_reporters.document.brief import Brief
from benchforge_reporters.document.claims import ClaimLine

_HEIGHT, _MIDDLE, _APART = 36, 18, 4
_MOST_BLOCKS, _MOST_ANSWERS = 60, 12
"Ratios that are drawn: of a claim's blocks, since more would hide the interval; and of answers."


def ratio_axis(claim_texts: Sequence[ClaimLine]) -> ChartAxis | None:
    """Return the axis of all claims about ratios that have an estimate; None without any."""
    ends = [end for claim in claim_texts if drawn(claim) for end in _ends(claim)]
    return ChartAxis.of_ratios(ends) if ends else None


def drawn(claim: ClaimLine) -> bool:
    """Return True if a claim has a place on the axis: a ratio above 0."""
    value = claim.verdict.estimate.value
    return claim.claim.hypothesis.form == "ratio" and value is not None and value > 0


def ratio(claim: ClaimLine, axis: ChartAxis) -> Markup:
    """Return the drawing of a claim for which `drawn` is true."""
    pieces = "".join(_pieces(claim, axis))
    published = f", published {claim.published}" if claim.published else ""
    return svg(_HEIGHT, pieces, f"{claim.name}: {claim.estimate}{published}")


def _ends(claim: ClaimLine) -> Iterator[float]:
    estimate = claim.verdict.estimate
    yield from filter(None, (estimate.value, estimate.low, estimate.high, claim.claim.published))


def _pieces(claim: ClaimLine, axis: ChartAxis) -> Iterator[str]:
    verdict, estimate = claim.verdict, claim.verdict.estimate
    yield from _limits(axis, claim.claim.margin, estimate, f"state-{verdict.state}")
    pairs = zip(verdict.blocks, verdict.a, verdict.b, strict=False)
    for number, (block, first, second) in enumerate(pairs):
        if number < _MOST_BLOCKS and first > 0 and second > 0:
            x, height = axis.at(first / second), _MIDDLE + (number % 3 - 1) * _APART
            title = titled(f"block {block}: {readable.times(first / second)}x")
            yield f'<circle class="block" cx="{x}%" cy="{height}" r="2">{title}</circle>'
    yield _point(axis, estimate, claim.estimate, f"state-{verdict.state}")
    if claim.claim.published:
        x = axis.at(claim.claim.published)
        title = titled(f"published: {claim.published}")
        yield f'<use class="published" href="#published" x="{x}%" y="{_MIDDLE}">{title}</use>'


def _limits(axis: ChartAxis, margin: float, estimate: Estimate, kind: str) -> Iterator[str]:
    """Yield the limits within which a difference does not matter, 1, and an interval."""
    same = axis.at(1 / (1 + margin)), axis.at(1 + margin)
    width = round(same[1] - same[0], 2)
    yield f'<rect class="band" x="{same[0]}%" width="{width}%" y="0" height="{_HEIGHT}"/>'
    yield grid(axis, _HEIGHT)
    yield f'<line class="alike" x1="{axis.at(1)}%" x2="{axis.at(1)}%" y1="0" y2="{_HEIGHT}"/>'
    if estimate.interval is not None:
        yield interval_bar(axis, estimate.interval, _MIDDLE, kind)


def _point(axis: ChartAxis, estimate: Estimate, text: str, kind: str) -> str:
    if estimate.value is None:
        return ""
    place = f'cx="{axis.at(estimate.value)}%" cy="{_MIDDLE}" r="5"'
    return f'<circle class="estimate {kind}" {place}>{titled(text)}</circle>'


def answers_chart(brief: Brief) -> Chart | None:
    """Return the ratio of each comparison, 1 in the middle and more on the right; None of none."""
    drawn_rows = [(label, base, row.server, row.speed) for label, base, row in brief.drawn()]
    top = RatioAxis.holding(end for *_, speed in drawn_rows for end in numbers(speed)).top
    axis, rows = ChartAxis.around_one(top), []
    for label, base, server, speed in drawn_rows[:_MOST_ANSWERS]:
        if speed is not None:
            value, ends = interval_text(speed)
            name, value = f"{label}{short(server)}", f"{value} {short(base)}"
            drawing = "".join(_limits(axis, LIMIT, speed, "")) + _point(axis, speed, value, "")
            about = f"{name}: {value}, likely {ends or 'unknown'}"
            rows.append(ChartRow(name, None, svg(_HEIGHT, drawing, about, "ratio"), value, ends))
    return Chart(tuple(rows), ratio_ticks(axis)) if rows else None


def ratio_legend(brief: Brief) -> str:
    """Return what the parts of that chart mean; empty if there is none."""
    drawn_rows = [*brief.drawn()]
    sides = "Right of 1 a server is faster than the one it is compared with, left of it slower"
    if len(drawn_rows) == 1:
        _, base, row = drawn_rows[0]
        sides = f"Right of 1 {short(row.server)} is faster, left of it {short(base)}"
    limit = f"under {100 * LIMIT:.0f} %, too small to matter"
    text = f"{sides}. Bar: likely between (95 % interval). Shaded: {limit}. Logarithmic axis."
    return text if drawn_rows else ""


def claims_chart(lines: Sequence[ClaimLine]) -> Chart | None:
    """Return a row for each claim that has a place on the axis; None if no claim has."""
    axis = ratio_axis(lines)
    if axis is None:
        return None
    rows = tuple(
        ChartRow(
            f"{line.sign} {line.name} {line.hypothesis}",
            None,
            ratio(line, axis),
            line.estimate,
            "; ".join(filter(None, (line.source, line.remark))),
        )
        for line in lines
        if drawn(line)
    )
    caption = "ratio, with its 95 % interval; the diamond was published"
    return Chart(rows, ratio_ticks(axis), caption)
