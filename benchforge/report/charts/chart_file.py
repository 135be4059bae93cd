"""A chart as a file: SVG that needs nothing else, readable on light and on dark paper."""

import textwrap
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from markupsafe import Markup

from benchforge.report.charts.drawing import AXIS_HEIGHT, COLOURS, SHAPES, SYMBOLS, Chart, ChartRow
from benchforge.text import readable, safe

WIDTH = 820
_EDGE, _LABEL, _VALUE = 14, 200, 240
_DRAWN = WIDTH - 2 * _EDGE - _LABEL - _VALUE
_TOP, _ROW = 44, 40
_POSTER_LETTERS, _SAID_LETTERS, _NOTE_LETTERS = 58, 100, 130
_LABEL_LETTERS, _VALUE_LETTERS, _TITLE_LETTERS = 26, 38, 110
_STYLE = """
text { font: 13px system-ui, sans-serif; fill: var(--ink); }
.aside, .chart text { font-size: 11px; fill: var(--dim); }
.paper { fill: var(--card); stroke: var(--rule); }
.strong { font-size: 12px; font-weight: 600; }
.poster { font-size: 22px; font-weight: 700; }
.said { font-size: 14px; }
"""


def chart_file(chart: Chart, title: str) -> str:
    """Return a chart as the text of an SVG file. Its text is escaped, and it has no script."""
    rows = (_row(row, _TOP + number * _ROW) for number, row in enumerate(chart.rows))
    bottom = _TOP + _ROW * len(chart.rows)
    axis = _placed(chart.axis, _EDGE + _LABEL, bottom, _DRAWN, AXIS_HEIGHT)
    return _paper(["".join(row) for row in rows] + [axis], bottom + AXIS_HEIGHT + _EDGE, title)


def drawing_file(drawing: Markup, height: int, title: str) -> str:
    """Return a drawing of that height as the text of an SVG file."""
    placed = _placed(drawing, _EDGE, _TOP, WIDTH - 2 * _EDGE, height)
    return _paper([placed], _TOP + height + _EDGE, title)


def poster(chart: Chart | None, title: str, sentences: Sequence[str], notes: Sequence[str]) -> str:
    """Return an SVG file for a slide: a title, sentences, a chart if there is one, and notes."""
    top, pieces = _EDGE + 6, list[str]()
    parts = (
        ("poster", [title], _POSTER_LETTERS, 26),
        ("said", sentences, _SAID_LETTERS, 22),
        ("", (), 0, 0),
        ("aside", notes, _NOTE_LETTERS, 18),
    )
    for kind, texts, letters, height in parts:
        for line in (line for text in texts for line in textwrap.wrap(safe.line(text), letters)):
            top += height
            pieces.append(f'<text class="{kind}" x="{_EDGE}" y="{top}">{safe.html(line)}</text>')
        if not kind and chart is not None:
            rows = (_row(row, top + _EDGE + number * _ROW) for number, row in enumerate(chart.rows))
            pieces += ["".join(row) for row in rows]
            top += _EDGE + _ROW * len(chart.rows)
            pieces.append(_placed(chart.axis, _EDGE + _LABEL, top, _DRAWN, AXIS_HEIGHT))
            top += AXIS_HEIGHT + 4
    return _paper(pieces, top + _EDGE, title, heading=False)


def _paper(pieces: Sequence[str], height: int, title: str, *, heading: bool = True) -> str:
    title_text = _text(title, _TITLE_LETTERS)
    strong = f'<text class="strong" x="{_EDGE}" y="{_EDGE + 14}">{title_text}</text>'
    size = f'width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}"'
    edge = f'width="{WIDTH - 1}" height="{height - 1}" rx="12"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{title_text}">',
        f"<style>{_style()}</style><defs>{SYMBOLS}</defs>",
        f'<rect class="paper" x=".5" y=".5" {edge}/>',
        *[strong] * heading,
        *pieces,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _row(row: ChartRow, top: int) -> Iterator[str]:
    middle = top + _ROW // 2
    x = _EDGE
    if row.colour is not None:
        kind = f"mark colour{row.colour % COLOURS}"
        yield f'<use class="{kind}" href="#mark{row.colour % SHAPES}" x="{x + 6}" y="{middle}"/>'
        x += 18
    yield f'<text x="{x}" y="{middle + 4}">{_text(row.label, _LABEL_LETTERS)}</text>'
    yield _placed(row.drawing, _EDGE + _LABEL, top + 2, _DRAWN, _ROW - 4)
    right, up = WIDTH - _EDGE, 1 if row.detail else -4
    value = _text(row.value, _VALUE_LETTERS)
    yield f'<text class="strong" x="{right}" y="{middle - up}" text-anchor="end">{value}</text>'
    if row.detail:
        detail = _text(row.detail, _VALUE_LETTERS)
        yield f'<text class="aside" x="{right}" y="{middle + 13}" text-anchor="end">{detail}</text>'


def _placed(drawing: Markup, left_side: int, top: int, width: int, height: int) -> str:
    return f'<svg x="{left_side}" y="{top}" width="{width}" height="{height}">{drawing}</svg>'


def _text(text: str, letters: int) -> str:
    return safe.html(readable.cut(safe.line(text), letters))


@cache
def _style() -> str:
    folder = Path(__file__).parent
    sheets = (folder / name for name in ("theme.css", "marks.css"))
    return "".join(sheet.read_text(encoding="utf-8") for sheet in sheets) + _STYLE
