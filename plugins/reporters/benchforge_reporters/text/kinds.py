"""The kinds of a mix, a row each, and all of them together."""

from collections.abc import Iterator, Sequence

from benchforge.plugin import CaseSummary, MetricSummary, Trial, readable
from benchforge_reporters.text.tables import Table, case_table

_KIND = "kind"
ALL = "(all)"
"The row of all kinds together: no label of a kind has parentheses."
NOT_BY_KIND = (
    "Each kind has its share of the requests/s: response times are what tells servers and kinds "
    "apart. CPU time and memory by kind are unknown: the same processes answer all kinds."
)


def kinds_heading(cases: Sequence[CaseSummary]) -> str:
    """Return the heading of the table of kinds, without its scenario."""
    searched = any(case.capacity for case in cases)
    return "by kind of request" + (", in trials that passed near the rate" if searched else "")


def kind_rows(cases: Sequence[CaseSummary]) -> list[CaseSummary]:
    """Return each kind, a row for each case with a mix, then the cases; empty without a mix.

    A reader compares the servers of a kind, so they are next to each other.
    """
    rows = [row for case in cases if case.kinds for row in _rows(case)]
    kinds = list(dict.fromkeys(row.case.vary[_KIND] for row in rows))
    kinds.sort(key=ALL.__eq__)
    return sorted(rows, key=lambda row: kinds.index(row.case.vary[_KIND]))


def kind_table(cases: Sequence[CaseSummary], first: int | None = None) -> Table | None:
    """Return a table of the kinds of some cases; None without a mix."""
    rows = kind_rows(cases)
    return case_table(rows, first) if rows else None


def not_reached(trials: Sequence[Trial]) -> Iterator[str]:
    """Yield a sentence for each step that some flows of a case did not reach."""
    there = [(t.stream, t.reading.kinds) for t in trials if t.stream and t.reading]
    for step in dict.fromkeys(label for _, kinds in there for label in kinds):
        lacking = sum(kinds[step].not_reached or 0 for _, kinds in there if step in kinds)
        ended = sum(
            kinds[step].responses + (kinds[step].unanswered or 0)
            for _, kinds in there
            if step in kinds
        )
        if lacking:
            of = readable.counted(lacking + ended, "flow")
            yield f"{step}: not reached by {readable.exact(lacking)} of {of}, which ended before"


def _rows(case: CaseSummary) -> Iterator[CaseSummary]:
    labels = {line.metric for lines in case.kinds.values() for line in lines}
    together = tuple(line for line in case.metrics if line.metric in labels)
    named = {"case": case.case.of_kind(ALL), "metrics": together, "kinds": {}}
    if case.capacity is not None:
        for row in case.by_part(_KIND):
            n = max((len(line.samples) for line in row.metrics), default=0)
            counts = {"trials": n, "planned": n, "believed": n, "capacity": None}
            yield row.model_copy(update={"metrics": _times_first(row.metrics), **counts})
        return
    for row in (*case.by_part(_KIND), case.model_copy(update=named)):
        yield row.model_copy(update={"metrics": _times_first(row.metrics)})


def _times_first(lines: Sequence[MetricSummary]) -> tuple[MetricSummary, ...]:
    """Return the lines with the response times first: the shares decide the rates of kinds."""
    return tuple(sorted(lines, key=lambda line: line.unit != "s"))
