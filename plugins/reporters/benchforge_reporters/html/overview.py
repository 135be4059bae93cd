"""Many claims and comparisons as a page shows them: a bar of counts, and a matrix of servers."""

from typing import Any, NamedTuple

from benchforge.plugin import readable
from benchforge.plugin.drawing import CountedState
from benchforge_reporters.document.claim_lines import WORDS, word_of
from benchforge_reporters.document.document import ResultDocument
from benchforge_reporters.document.overview import MatrixCell, Overview

_NEAR = 0.8  # of the best
_DOUBTFUL = {"not comparable", "broken"}


class DrawnCell(NamedTuple):
    """A server in a comparison, as text with a shade."""

    kind: str
    text: str
    title: str


def counted_claims(text: ResultDocument) -> list[CountedState]:
    """Return how many claims of a document have each verdict that occurs."""
    states = [line.state for line in text.claims]
    return [
        CountedState(
            state.replace(" ", "-"), states.count(state), word_of(state, states.count(state))
        )
        for state in WORDS
        if state in states
    ]


def matrix(overview: Overview | None) -> dict[str, Any] | None:
    """Return servers and comparisons, those of which there are more as rows; None without any."""
    if overview is None or not overview.rows:
        return None
    servers, rows = overview.servers, overview.rows
    doubtful = [row.answer.label for row in rows if row.answer.state in _DOUBTFUL]
    labels = [row.answer.label for row in rows]
    cells = [[_drawn(row.cell(server)) for server in servers] for row in rows]
    by_server = len(servers) >= len(labels)
    return {
        "corner": overview.side if by_server else "comparison",
        "heads": labels if by_server else servers,
        "rows": zip(servers, zip(*cells, strict=True), strict=True)
        if by_server
        else zip(labels, cells, strict=True),
        "doubtful": readable.conjoined(doubtful) if doubtful else "",
    }


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
