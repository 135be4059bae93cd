"""Many claims and comparisons: how many hold, and a line for each."""

from collections.abc import Iterator, Sequence
from typing import Final

from benchforge.plugin import readable, safe
from benchforge_reporters.document.answers import SIGNS, ComparisonAnswer
from benchforge_reporters.document.claims import STATES, ClaimLine, counted_states
from benchforge_reporters.document.overview import MatrixCell, MatrixRow, Overview
from benchforge_reporters.terminal.paint import Paint

LEGEND: Final = (
    "in per cent of the best; * was not found to differ from the best; "
    "! has a reservation: benchforge report --open"
)
_NAMES = 26  # columns
_WIDE = 100  # columns from which on the hypothesis of a claim has room


def counts(overview: Overview, claims: Sequence[ClaimLine], paint: Paint) -> Iterator[str]:
    """Yield how many claims hold, and how many published values are excluded."""
    if claims:
        text = f"{readable.counted(len(claims), 'claim')}: {counted_states(claims)}"
        yield from paint.lines("heading", text)
    if overview.of_sources:
        yield from paint.wrapped(overview.of_sources)


def matrix(overview: Overview, answers: Sequence[ComparisonAnswer], paint: Paint) -> Iterator[str]:
    """Yield each comparison in a line, its servers in per cent of the best."""
    rows = {row.answer.label: row for row in overview.rows}
    width = min(_NAMES, max((len(safe.line(answer.label)) for answer in answers), default=0))
    for answer in answers:
        sign, meaning, *_ = SIGNS[answer.state]
        start = f"{sign} {safe.line(answer.label).ljust(width)}  "
        row = rows.get(answer.label)
        text = answer.headline if row is None else _row(row)
        yield from paint.signed(meaning, text, start, " " * (width + 4))
    if overview.rows:
        yield from paint.lines("aside", LEGEND)


def claim_rows(claims: Sequence[ClaimLine], paint: Paint) -> Iterator[str]:
    """Yield a line for each claim: the estimate, and what was published."""
    name = min(_NAMES, max(len(safe.line(one.name)) for one in claims))
    for claim in claims:
        sign, meaning, *_ = STATES[claim.state]
        start = f"{sign} {safe.line(claim.name).ljust(name)}  "
        remark = claim.remark if claim.state == "not comparable" else ""
        hypothesis = f"{claim.hypothesis}: " if (paint.width or _WIDE) >= _WIDE else ""
        valued = claim.verdict.estimate.value is not None
        shown = claim.estimate if valued else claim.estimate.partition(": ")[0]
        estimate = f"{hypothesis}{shown}"
        text = "; ".join(filter(None, (estimate, claim.source, remark)))
        yield from paint.signed(meaning, text, start, " " * (name + 4))


def _row(row: MatrixRow) -> str:
    first, *others = row.cells
    texts = [f"{first.server} 100 ({row.best})", *map(_cell, others)]
    return ", ".join(texts)


def _cell(cell: MatrixCell) -> str:
    return f"{cell.server} {cell.text}{'*' if cell.tied else ''}"
