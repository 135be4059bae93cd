"""Many claims or comparisons at one sight: what holds, and each server as a share of the best."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchforge.plugin import Ranking, Summary, readable
from benchforge_reporters.document.answers import ComparisonAnswer, side
from benchforge_reporters.document.claims import ClaimLine

_MANY_CLAIMS, _MANY_COMPARISONS = 8, 6
"From there on a reader needs an overview before the details."
_NEAR = 0.8  # of the best


@dataclass(frozen=True)
class MatrixCell:
    """A server in a comparison."""

    server: str
    share: float | None
    "Value as a share of the best server's, at most 1; None if the server is not ranked."
    tied: bool
    "True if the server was not found to differ from the best; the best is."
    why: str
    "Reason why there is no share; else empty."

    @property
    def text(self) -> str:
        """The share in per cent."""
        return "not counted" if self.share is None else f"{100 * self.share:.0f}"

    @property
    def shade(self) -> str:
        """The cell as the page's style names it."""
        if self.share is None:
            return "uncounted"
        return "best" if self.tied else "near" if self.share >= _NEAR else "far"


@dataclass(frozen=True)
class MatrixRow:
    """A comparison: its servers, the best first."""

    answer: ComparisonAnswer
    best: str
    "Level of the best server, with its unit."
    cells: tuple[MatrixCell, ...]

    def cell(self, server: str) -> MatrixCell | None:
        """Return the cell of a server; None if the comparison does not have it."""
        return next((cell for cell in self.cells if cell.server == server), None)


class Overview:
    """All claims and comparisons of a result that has many of them."""

    def __init__(
        self, summary: Summary, claims: Sequence[ClaimLine], answers: Sequence[ComparisonAnswer]
    ) -> None:
        published = [line.excluded for line in claims if line.published]
        self.published = len(published)
        "Claims for which a source gives a value."
        self.excluded = published.count(True)
        "Claims whose interval excludes the published value."
        self.unknown = published.count(None)
        "Claims with a published value and without an interval."
        self.rows = [*_rows(summary, answers)]
        "Comparisons of at least two servers or clients that are ranked."
        compared = (each for each in summary.comparisons if len(each.cases) > 1)
        self.side = "client" if set(map(side, compared)) == {"client"} else "server"
        "Kind of part that all of them compare: server or client."

    @property
    def servers(self) -> tuple[str, ...]:
        """All servers of the matrix, in the order in which they first appear."""
        return tuple(dict.fromkeys(cell.server for row in self.rows for cell in row.cells))

    @property
    def doubtful(self) -> str:
        """The comparisons with a reservation; empty without any."""
        answers = (row.answer for row in self.rows)
        labels = [item.label for item in answers if item.state in {"not comparable", "broken"}]
        return readable.conjoined(labels) if labels else ""

    @property
    def of_sources(self) -> str:
        """How many published values the intervals exclude, in words; empty without sources."""
        if not self.published:
            return ""
        values = readable.counted(self.published, "published value")
        text = f"Of {values}, the intervals exclude {self.excluded}"
        return f"{text}; {self.unknown} cannot be tested: no interval" if self.unknown else text


def overview(
    summary: Summary, claims: Sequence[ClaimLine], answers: Sequence[ComparisonAnswer]
) -> Overview | None:
    """Return the overview of a result; None if it has few claims and few comparisons."""
    if len(claims) < _MANY_CLAIMS and len(answers) < _MANY_COMPARISONS:
        return None
    return Overview(summary, claims, answers)


def _rows(summary: Summary, answers: Sequence[ComparisonAnswer]) -> Iterator[MatrixRow]:
    for answer, comparison in zip(answers, summary.comparisons, strict=True):
        ranked = summary.standing(comparison)
        if ranked is None or ranked.ranking is None or not ranked.ranking.order:
            continue
        best = ranked.ranking.order[0].value.value
        cells = [*_cells(ranked.ranking, best or 0.0)]
        cells += [MatrixCell(other.server, None, False, other.why) for other in ranked.left_out]
        if best is not None and len(cells) > 1:
            yield MatrixRow(answer, readable.amount(ranked.unit, best), tuple(cells))


def _cells(ranking: Ranking, best: float) -> Iterator[MatrixCell]:
    first = ranking.order[0].server
    for entry in ranking.order:
        value, share = entry.value.value, None
        if value is not None and value > 0 and best > 0:
            share = value / best if ranking.better == "higher" else best / value
        reason = "" if share is not None else entry.value.why or "not above zero"
        alike = entry.server == first or not ranking.pair(first, entry.server).differ
        yield MatrixCell(entry.server, share, alike and share is not None, reason)
