"""Every trial of a search as a dot at the rate that it was asked for: full where it passed."""

from collections.abc import Sequence

from benchforge.plugin import Capacity, CaseSummary, safe
from benchforge_reporters.html.dots import EDGE, HEIGHT, WIDTH, ValueAxis, drawing
from benchforge_reporters.text.labels import case_labels
from benchforge_reporters.text.search import RATES

_MIDDLE = HEIGHT // 2
_CAPTION = (
    "requests per second that were asked for: each dot is a trial, a full one passed; "
    "the bar is the rate, the line its interval"
)


def attempts(cases: Sequence[CaseSummary]) -> str:
    """Return a table of drawings, a row a search; nothing where no trial says anything."""
    searches = [
        (named, case.capacity)
        for named, case in zip(case_labels(cases).rows, cases, strict=True)
        if case.capacity is not None and case.capacity.attempts
    ]
    if not searches:
        return ""
    axis = ValueAxis(0, max(one.rate for _, capacity in searches for one in capacity.attempts))
    rows = "\n".join(
        f'<tr><th scope="row">{safe.html(" · ".join(filter(None, named)))}</th>'
        f"<td>{_row(capacity, axis)}</td></tr>"
        for named, capacity in searches
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


def _row(capacity: Capacity, axis: ValueAxis) -> str:
    drawn = [
        f'<line class="grid" x1="{x}" x2="{x}" y1="0" y2="{HEIGHT}"/>'
        for x in map(axis.x, axis.ticks())
    ]
    low, high = capacity.rate.interval or (0.0, 0.0)
    most = float(axis.highest)
    ends = (EDGE, WIDTH - EDGE) if not high else (axis.x(low), axis.x(min(high, most)))
    kind = "median" if high else "axis"
    drawn.append(
        f'<line class="{kind}" x1="{ends[0]}" x2="{ends[1]}" y1="{_MIDDLE}" y2="{_MIDDLE}"/>'
    )
    if capacity.rate.value is not None and capacity.rate.value <= most:
        x = axis.x(capacity.rate.value)
        drawn.append(f'<line class="median" x1="{x}" x2="{x}" y1="3" y2="{HEIGHT - 3}"/>')
    words = []
    for attempt in capacity.attempts:
        passed = "passed" if attempt.passed else f"not kept: {attempt.why}"
        words.append(f"trial {attempt.trial}: {RATES.text(attempt.rate)}/s, {passed}")
        drawn.append(
            f'<circle class="{"dot" if attempt.passed else "bound"}" cx="{axis.x(attempt.rate)}"'
            f' cy="{_MIDDLE}" r="4"><title>{safe.html(words[-1])}</title></circle>'
        )
    return drawing("".join(drawn), safe.line("; ".join(words)))
