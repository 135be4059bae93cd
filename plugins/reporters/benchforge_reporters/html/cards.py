"""The answers as cards of the first screen."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from benchforge.plugin import CaseSummary, Comparison, Summary, readable
from benchforge.plugin.drawing import Chart
from benchforge_reporters.charts.answer import answer_chart
from benchforge_reporters.charts.levels import drawn_column
from benchforge_reporters.document.answers import AnswerState, ComparisonAnswer

_TAGS: Final[dict[AnswerState, tuple[str, str]]] = {
    "differs": ("better", "differs"),
    "same": ("", "no difference seen"),
    "alone": ("", "no comparison"),
    "undecided": ("", "undecided"),
    "not comparable": ("unlike", "not comparable"),
    "broken": ("unlike", "broken"),
}


def cards(
    answers: Sequence[ComparisonAnswer],
    summary: Summary,
    sections: Mapping[str, str],
    colours: Mapping[str, int],
) -> Iterator[dict[str, Any]]:
    """Yield a card for each answer; `sections` has the id of each scenario's section."""
    for answer, comparison in zip(answers, summary.comparisons if answers else (), strict=True):
        state, tag = _TAGS[answer.state]
        chart = answer_chart(comparison, summary, colours)
        yield {
            "section": sections[answer.scenario],
            "state": state,
            "tag": tag,
            "title": summary.titles.get(answer.scenario, ""),
            "answer": answer,
            "chart": chart,
            "about": _about(comparison, summary.cases_of(comparison), chart),
        }


def _about(comparison: Comparison, cases: Sequence[CaseSummary], chart: Chart | None) -> str:
    trials, column = sum(case.trials for case in cases), drawn_column(cases)
    unit = [column.unit or column.title] if column else []
    counted = readable.counted(trials, "trial")
    if chart is not None and chart.left_out:
        counted += f", of which {readable.exact(chart.left_out)} have no mark"
    driver = [f"by {comparison.driver}"] if comparison.driver else []
    return " · ".join([*unit, *driver, counted])
