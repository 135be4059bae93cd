"""Every trial of a search as a dot at the rate that it was asked for: full where it passed."""

from collections.abc import Sequence
from html import escape

from benchforge.plugin import Capacity, CaseSummary
from benchforge.reporters.dots import EDGE, HEIGHT, WIDTH, Axis, drawing
from benchforge.reporters.labels import case_labels
from benchforge.reporters.search import RATES
from benchforge.reporters.words import one_line

_MIDDLE = HEIGHT // 2
_CAPTION = (
    "requests per second that were asked for: each dot is a trial, a full one passed; "
    "the bar is the rate, the line its interval"
)


def attempts(cases: Sequence[CaseSummary]) -> str:
    """Return a table of drawings, a row a search; nothing where no trial says anything."""
    found = [
        (named, case.capacity)
        for named, case in zip(case_labels(cases).rows, cases, strict=True)
        if case.capacity is not None and case.capacity.attempts
    ]
    if not found:
        return ""
    axis = Axis(0, max(one.rate for _, told in found for one in told.attempts))
    rows = "\n".join(
        f'<tr><th scope="row">{escape(one_line(" · ".join(filter(None, named))))}</th>'
        f"<td>{_row(told, axis)}</td></tr>"
        for named, told in found
    )
    texts = "".join(
        f'<text x="{axis.x(value)}" y="{HEIGHT - 7}">{RATES.text(float(value))}</text>'
        for value in axis.ticks()
    )
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{_CAPTION}">'
        f'<table class="dots"><caption>{_CAPTION}</caption><tbody>\n{rows}\n'
        f"<tr><td></td><td>{drawing(texts, 'the axis')}</td></tr></tbody></table></div>"
    )


def _row(told: Capacity, axis: Axis) -> str:
    drawn = [
        f'<line class="grid" x1="{x}" x2="{x}" y1="0" y2="{HEIGHT}"/>'
        for x in map(axis.x, axis.ticks())
    ]
    low, high = told.rate.interval or (0.0, 0.0)
    most = float(axis.highest)
    ends = (EDGE, WIDTH - EDGE) if not high else (axis.x(low), axis.x(min(high, most)))
    kind = "median" if high else "axis"
    drawn.append(
        f'<line class="{kind}" x1="{ends[0]}" x2="{ends[1]}" y1="{_MIDDLE}" y2="{_MIDDLE}"/>'
    )
    if told.rate.value is not None and told.rate.value <= most:
        x = axis.x(told.rate.value)
        drawn.append(f'<line class="median" x1="{x}" x2="{x}" y1="3" y2="{HEIGHT - 3}"/>')
    words = []
    for one in told.attempts:
        passed = "passed" if one.passed else f"not kept: {one.why}"
        words.append(f"trial {one.trial}: {RATES.text(one.rate)}/s, {passed}")
        drawn.append(
            f'<circle class="{"dot" if one.passed else "bound"}" cx="{axis.x(one.rate)}"'
            f' cy="{_MIDDLE}" r="4"><title>{escape(one_line(words[-1]))}</title></circle>'
        )
    return drawing("".join(drawn), one_line("; ".join(words)))
