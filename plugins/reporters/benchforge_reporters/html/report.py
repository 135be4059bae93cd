"""A result as a page: report.html, one file that opens without a network."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from markupsafe import escape

from benchforge.plugin import Comparison, Reporter, Summary, Trial, readable
from benchforge.plugin.drawing import colours_of, ratio_ticks, rendered
from benchforge_reporters.charts.answer import answer_chart
from benchforge_reporters.charts.levels import drawn_column
from benchforge_reporters.charts.ratios import drawn, ratio, ratio_axis
from benchforge_reporters.charts.run_order import Lane, run_order
from benchforge_reporters.document import answers, causes
from benchforge_reporters.document.claims import claim_counts, counted_states
from benchforge_reporters.document.document import document
from benchforge_reporters.document.next_step import again
from benchforge_reporters.document.quotable import reason
from benchforge_reporters.html.drawn_section import drawn_section
from benchforge_reporters.text.kinds import NOT_BY_KIND
from benchforge_reporters.text.words import CELLS

_WORDS = {
    "not_by_kind": NOT_BY_KIND,
    "medians": "Median of the trials [lowest\N{EN DASH}highest]",
    "means": f"{CELLS[0].upper()}{CELLS[1:]}.",
    "signs": causes.SIGNS,
    "answer_signs": answers.SIGNS,
}


class Html(Reporter):
    """The whole result as an HTML page, the answers first."""

    name: ClassVar[str] = "html"

    def report(self, summary: Summary, trials: Sequence[Trial], folder: Path) -> Sequence[Path]:
        """Write report.html."""
        report = folder / "report.html"
        text = rendered("result.html.j2", page=page(summary, trials, folder), **_WORDS)
        if summary.suite_file:
            text = text.replace("run SUITE", f"run {escape(shlex.quote(summary.suite_file))}")
        report.write_text(text, encoding="utf-8")
        return (report,)


def page(summary: Summary, trials: Sequence[Trial], folder: Path) -> dict[str, Any]:
    """Return the values of a result's page; `folder` has the trials' files."""
    colours = colours_of(summary)
    text = document(summary, trials)
    lanes = [Lane(one.scenario, one.cases, drawn_column(one.cases)) for one in text.sections]
    axis = ratio_axis(text.claims)
    numbers = {one.scenario: number for number, one in enumerate(text.sections, start=1)}
    return {
        "text": text,
        "states": list(claim_counts(text.claims)),
        "counts": counted_states(text.claims),
        "cards": [
            {
                "answer": answer,
                "section": f"scenario-{numbers[answer.scenario]}",
                **_card(comparison, summary, colours),
            }
            for answer, comparison in zip(text.answers, summary.comparisons, strict=False)
        ],
        "reason": reason(text.causes, summary),
        "claims": [
            (line, ratio(line, axis) if axis and drawn(line) else None) for line in text.claims
        ],
        "axis": None if axis is None else ratio_ticks(axis),
        "sections": [
            drawn_section(section, trials, folder, colours, answered=bool(text.answers))
            for section in text.sections
        ],
        "servers": [(number, server) for server, number in colours.items()],
        "order": run_order(lanes, trials, colours),
        "again": again(summary, f"--set repeat.seed={summary.seed}"),
    }


def _card(comparison: Comparison, summary: Summary, colours: Mapping[str, int]) -> dict[str, Any]:
    cases, chart = summary.cases_of(comparison), answer_chart(comparison, summary, colours)
    column = drawn_column(cases)
    trials = readable.counted(sum(case.trials for case in cases), "trial")
    if chart is not None and chart.left_out:
        trials += f", of which {readable.exact(chart.left_out)} have no mark"
    unit = (column.unit or column.title) if column else ""
    driver = comparison.driver and f"by {comparison.driver}"
    about = " · ".join(filter(None, (unit, driver, trials)))
    return {"title": summary.titles.get(comparison.scenario, ""), "chart": chart, "about": about}
