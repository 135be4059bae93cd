"""What an answer rests on: every trial of a comparison's servers, and the intervals of levels."""

from collections.abc import Mapping

from benchforge.plugin import Comparison, Estimate, Summary, server_names
from benchforge.plugin.drawing import Chart
from benchforge_reporters.charts.levels import drawn_column, levels


def answer_chart(
    comparison: Comparison, summary: Summary, colours: Mapping[str, int]
) -> Chart | None:
    """Return the chart of a comparison; None if no metric of it can be drawn."""
    cases = summary.cases_of(comparison)
    column = drawn_column(cases)
    if column is None:
        return None
    names = server_names([case.case for case in cases])
    named_cases = list(zip(names, cases, strict=True))
    return levels(column, named_cases, _intervals(comparison, summary), colours)


def _intervals(comparison: Comparison, summary: Summary) -> dict[str, Estimate]:
    """Return the level of each server that the ranking has."""
    ranked = summary.standing(comparison)
    if ranked is None or ranked.ranking is None:
        return {}
    return {entry.server: entry.value for entry in ranked.ranking.order}
