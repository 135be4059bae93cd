"""Throughput at rising concurrency as a drawing: levels side by side, one axis from zero."""

from collections.abc import Iterator
from html import escape

from benchforge.plugin import ConcurrencySweep, safe
from benchforge_reporters.html.dots import ValueAxis
from benchforge_reporters.text.sweeps import scaled, title

_WIDTH, _HEIGHT, _EDGE, _FOOT = 400, 150, 60, 24
_TOP = 10


def curve(swept: ConcurrencySweep) -> str:
    """Return a drawing of a sweep: values with their intervals, and the law as a line."""
    measured = [level for level in swept.levels if level.value.value is not None]
    if not measured:
        return ""
    sizes = scaled(swept)
    tops = [level.value.high or level.value.value or 0.0 for level in measured]
    axis = ValueAxis(0, max([*tops, *(level.by_law or 0.0 for level in measured)]))

    def x(place: int) -> str:
        step = (_WIDTH - 2 * _EDGE) / max(1, len(measured) - 1)
        return f"{_EDGE + place * step:.1f}"

    def y(value: float) -> str:
        return f"{_HEIGHT - _FOOT - axis.share(value) * (_HEIGHT - _FOOT - _TOP):.1f}"

    def drawn() -> Iterator[str]:
        for tick in axis.ticks():
            at = y(float(tick))
            yield f'<line class="grid" x1="{_EDGE}" x2="{_WIDTH - _EDGE}" y1="{at}" y2="{at}"/>'
            yield f'<text x="{_EDGE / 2}" y="{float(at) + 4:.1f}">{sizes.text(float(tick))}</text>'
        law = " ".join(
            f"{x(place)},{y(level.by_law)}"
            for place, level in enumerate(measured)
            if level.by_law is not None
        )
        if law:
            yield f'<polyline class="law" points="{law}"/>'
        for place, level in enumerate(measured):
            value = level.value
            if value.low is not None and value.high is not None:
                ends = f'y1="{y(value.low)}" y2="{y(value.high)}"'
                yield f'<line class="median" x1="{x(place)}" x2="{x(place)}" {ends}/>'
            label = f"{level.concurrency} at once: {sizes.text(value.value or 0.0)}"
            yield f'<circle class="dot" cx="{x(place)}" cy="{y(value.value or 0.0)}" r="4">'
            yield f"<title>{escape(label)}</title></circle>"
            yield f'<text x="{x(place)}" y="{_HEIGHT - 7}">{level.concurrency}</text>'

    description = "; ".join(
        f"{level.concurrency} at once: {sizes.text(level.value.value or 0.0)}" for level in measured
    )
    caption = safe.html(f"{title(swept)}: {swept.metric} ({sizes.unit}) by requests at once")
    frame = f'viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(description)}"'
    return (
        f"<figure><figcaption>{caption}</figcaption><svg {frame}>{''.join(drawn())}</svg></figure>"
    )
