"""Claims about ratios: interval, ratios of the blocks, published value, on a logarithmic axis."""

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from benchforge.plugin import readable
from benchforge.plugin.drawing import (
    Chart,
    ChartAxis,
    ChartRow,
    grid,
    interval_bar,
    ratio_ticks,
    svg,
    titled,
)
from benchforge_reporters.document.claims import ClaimLine

_HEIGHT, _MIDDLE, _APART = 36, 18, 4
_MOST_BLOCKS = 60
"Blocks of a claim whose ratios are drawn: more would hide the interval."


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
    about = f"{claim.name}: {claim.estimate}"
    if claim.published:
        about += f", published {claim.published}"
    return svg(_HEIGHT, pieces, about)


def _ends(claim: ClaimLine) -> Iterator[float]:
    estimate = claim.verdict.estimate
    yield from filter(None, (estimate.value, estimate.low, estimate.high, claim.claim.published))


def _pieces(claim: ClaimLine, axis: ChartAxis) -> Iterator[str]:
    verdict, margin = claim.verdict, claim.claim.margin
    same = axis.at(1 / (1 + margin)), axis.at(1 + margin)
    width = round(same[1] - same[0], 2)
    yield f'<rect class="band" x="{same[0]}%" width="{width}%" y="0" height="{_HEIGHT}"/>'
    yield grid(axis, _HEIGHT)
    yield f'<line class="alike" x1="{axis.at(1)}%" x2="{axis.at(1)}%" y1="0" y2="{_HEIGHT}"/>'
    estimate = verdict.estimate
    if estimate.interval is not None:
        yield interval_bar(axis, estimate.interval, _MIDDLE, f"state-{verdict.state}")
    pairs = zip(verdict.blocks, verdict.a, verdict.b, strict=False)
    for number, (block, first, second) in enumerate(pairs):
        if number < _MOST_BLOCKS and first > 0 and second > 0:
            x, height = axis.at(first / second), _MIDDLE + (number % 3 - 1) * _APART
            title = titled(f"block {block}: {readable.times(first / second)}x")
            yield f'<circle class="block" cx="{x}%" cy="{height}" r="2">{title}</circle>'
    if estimate.value is not None:
        x = axis.at(estimate.value)
        yield (
            f'<circle class="estimate state-{verdict.state}" cx="{x}%" cy="{_MIDDLE}" r="5">'
            f"{titled(claim.estimate)}</circle>"
        )
    if claim.claim.published:
        x = axis.at(claim.claim.published)
        title = titled(f"published: {claim.published}")
        yield f'<use class="published" href="#published" x="{x}%" y="{_MIDDLE}">{title}</use>'


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
    return Chart(
        rows, ratio_ticks(axis), "ratio, with its 95 % interval; the diamond was published"
    )
