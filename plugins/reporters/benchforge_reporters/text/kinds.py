"""The kinds of a mix, a row each, and all of them together."""

from collections.abc import Iterator, Sequence

from benchforge.plugin import CaseSummary
from benchforge_reporters.text.tables import Table, case_table

ALL = "(all)"
"The row of all kinds together: no label of a kind has parentheses."


def kind_rows(cases: Sequence[CaseSummary]) -> list[CaseSummary]:
    """Return each kind of each case with a mix, then the case itself; empty without a mix."""
    return [row for case in cases if case.kinds for row in _rows(case)]


def kind_table(cases: Sequence[CaseSummary], first: int | None = None) -> Table | None:
    """Return a table of the kinds of some cases; None without a mix."""
    rows = kind_rows(cases)
    return case_table(rows, first) if rows else None


def _rows(case: CaseSummary) -> Iterator[CaseSummary]:
    yield from case.by_kind
    labels = {line.metric for lines in case.kinds.values() for line in lines}
    together = tuple(line for line in case.metrics if line.metric in labels)
    yield case.model_copy(update={"case": case.case.of_kind(ALL), "metrics": together, "kinds": {}})
