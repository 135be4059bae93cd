"""The answers as cards of the first screen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from benchforge.plugin import CaseSummary, Comparison, Summary, readable
from benchforge_reporters.charts.answer import answer_chart
from benchforge_reporters.charts.levels import drawn_column
from benchforge_reporters.charts.svg.drawing import Chart
from benchforge_reporters.document.answers import AnswerState, ComparisonAnswer

_TAGS: Final[dict[AnswerState, tuple[str, str]]] = {
    "differs": ("better", "differs"),
    "same": ("", "no difference seen"),
    "alone": ("", "no comparison"),
    "undecided": ("", "undecided"),
    "not comparable": ("unlike", "not comparable"),
    "broken": ("unlike", "broken"),
}


@dataclass(frozen=True)
class Card:
    """The answer of a comparison."""

    section: str
    "Id of the scenario's section."
    state: str
    tag: str
    title: str
    answer: ComparisonAnswer
    chart: Chart | None
    about: str


def cards(
    answers: Sequence[ComparisonAnswer],
    summary: Summary,
    sections: Mapping[str, str],
    colours: Mapping[str, int],
) -> list[Card]:
    """Return a card for each answer; `sections` has the id of each scenario's section."""
    if not answers:
        return []
    pairs = zip(answers, summary.comparisons, strict=True)
    return [_card(answer, one, summary, sections, colours) for answer, one in pairs]


def _card(
    answer: ComparisonAnswer,
    comparison: Comparison,
    summary: Summary,
    sections: Mapping[str, str],
    colours: Mapping[str, int],
) -> Card:
    cases = summary.cases_of(comparison)
    state, tag = _TAGS[answer.state]
    chart = answer_chart(comparison, summary, colours)
    return Card(
        section=sections[answer.scenario],
        state=state,
        tag=tag,
        title=summary.titles.get(answer.scenario, ""),
        answer=answer,
        chart=chart,
        about=_about(comparison, cases, chart),
    )


def _about(comparison: Comparison, cases: Sequence[CaseSummary], chart: Chart | None) -> str:
    trials, column = sum(case.trials for case in cases), drawn_column(cases)
    unit = [column.unit or column.title] if column else []
    counted = readable.counted(trials, "trial")
    if chart is not None and chart.left_out:
        counted += f", of which {readable.exact(chart.left_out)} have no mark"
    driver = [f"by {comparison.driver}"] if comparison.driver else []
    return " · ".join([*unit, *driver, counted])
