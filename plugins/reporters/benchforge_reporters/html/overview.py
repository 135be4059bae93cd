"""Many claims and comparisons as a page shows them: a bar of counts, and a matrix of servers."""

from collections.abc import Iterator
from dataclasses import dataclass

from benchforge.plugin import readable
from benchforge_reporters.document.claim_lines import WORDS, word_of
from benchforge_reporters.document.document import ResultDocument
from benchforge_reporters.document.overview import MatrixCell, Overview

_NEAR = 0.8  # of the best
_DOUBTFUL = {"not comparable", "broken"}


@dataclass(frozen=True)
class CountedState:
    """A verdict, and how many claims have it."""

    kind: str
    "Verdict, as the style names it."
    number: int
    word: str


@dataclass(frozen=True)
class DrawnCell:
    """A server in a comparison, as text with a shade."""

    kind: str
    text: str
    title: str


@dataclass(frozen=True)
class DrawnRow:
    """A row of the matrix."""

    label: str
    cells: tuple[DrawnCell, ...]


@dataclass(frozen=True)
class DrawnMatrix:
    """Servers and comparisons: those of which there are more are the rows."""

    corner: str
    heads: tuple[str, ...]
    rows: tuple[DrawnRow, ...]
    doubtful: str
    "Names of the comparisons that have a reservation, in words; empty if none."


@dataclass(frozen=True)
class DrawnOverview:
    """The overview of a page."""

    states: tuple[CountedState, ...]
    matrix: DrawnMatrix | None


def drawn_overview(text: ResultDocument) -> DrawnOverview | None:
    """Return the overview of a document; None if it has none."""
    if text.overview is None:
        return None
    counts = {state: sum(line.state == state for line in text.claims) for state in WORDS}
    states = (
        CountedState(state.replace(" ", "-"), counts[state], word_of(state, counts[state]))
        for state in WORDS
        if counts[state]
    )
    return DrawnOverview(tuple(states), _matrix(text.overview))


def _matrix(overview: Overview) -> DrawnMatrix | None:
    if not overview.rows:
        return None
    servers, labels = overview.servers, [row.answer.label for row in overview.rows]
    doubtful = [row.answer.label for row in overview.rows if row.answer.state in _DOUBTFUL]
    by_server = len(servers) >= len(labels)
    rows = tuple(_by_server(overview) if by_server else _by_comparison(overview))
    return DrawnMatrix(
        overview.side if by_server else "comparison",
        tuple(labels) if by_server else servers,
        rows,
        readable.conjoined(doubtful) if doubtful else "",
    )


def _by_server(overview: Overview) -> Iterator[DrawnRow]:
    for server in overview.servers:
        yield DrawnRow(server, tuple(_drawn(row.cell(server)) for row in overview.rows))


def _by_comparison(overview: Overview) -> Iterator[DrawnRow]:
    for row in overview.rows:
        cells = tuple(_drawn(row.cell(server)) for server in overview.servers)
        yield DrawnRow(row.answer.label, cells)


def _drawn(cell: MatrixCell | None) -> DrawnCell:
    if cell is None:
        return DrawnCell("", "", "not in this comparison")
    if cell.share is None:
        return DrawnCell("uncounted", "not counted", cell.why)
    text = f"{100 * cell.share:.0f}"
    if cell.tied:
        return DrawnCell("best", text, f"{cell.server}: not found to differ from the best")
    kind = "near" if cell.share >= _NEAR else "far"
    return DrawnCell(kind, text, f"{cell.server}: {text} % of the best")
