"""A result as a page: report.html, one file that opens without a network."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from markupsafe import Markup, escape

from benchforge.plugin import CaseSummary, Comparison, Reporter, Role, Summary, Trial, readable
from benchforge.plugin.drawing import Chart, colours_of, ratio_ticks, rendered
from benchforge_reporters.charts.levels import answer_chart, drawn_column, levels, searches
from benchforge_reporters.charts.over_time import curves
from benchforge_reporters.charts.percentiles import percentiles
from benchforge_reporters.charts.ratios import answers_chart, drawn, ratio, ratio_axis, ratio_legend
from benchforge_reporters.charts.run_order import Lane, run_order
from benchforge_reporters.charts.stacks import slices, stacks
from benchforge_reporters.charts.strips import cpus_of, strip
from benchforge_reporters.document import answers, causes
from benchforge_reporters.document.brief import Brief, homes, plain
from benchforge_reporters.document.claims import claim_counts, counted_states
from benchforge_reporters.document.cpu_time import cost, trials_that_count
from benchforge_reporters.document.document import Section, document
from benchforge_reporters.document.next_step import again
from benchforge_reporters.text.cells import case_labels
from benchforge_reporters.text.tables import NOT_BY_KIND
from benchforge_reporters.text.words import CELLS

_WORDS = {
    "not_by_kind": NOT_BY_KIND,
    "medians": "Median of the trials [lowest\N{EN DASH}highest]",
    "means": f"{CELLS[0].upper()}{CELLS[1:]}.",
    "signs": causes.SIGNS,
    "answer_signs": answers.SIGNS,
}
_ALL_STRIPS = 200
"Trials of a result: with more of them, only some trials have a strip."


class Html(Reporter):
    """The whole result as an HTML page, the answers first."""

    name: ClassVar[str] = "html"

    def report(self, summary: Summary, trials: Sequence[Trial], folder: Path) -> Sequence[Path]:
        """Write report.html."""
        report = folder / "report.html"
        text = rendered("result.html.j2", page=page(summary, trials, folder), **_WORDS)
        if summary.suite_file:
            text = text.replace("run SUITE", f"run {escape(shlex.quote(summary.suite_file))}")
        about = document(summary, trials)
        for home in homes(value for _, value in (*about.commands, *about.environment)):
            text = text.replace(home, "~")
        report.write_text(text, encoding="utf-8")
        return (report,)


def page(summary: Summary, trials: Sequence[Trial], folder: Path) -> dict[str, Any]:
    """Return the values of a result's page; `folder` has the trials' files."""
    colours = colours_of(summary)
    brief = Brief(summary, trials)
    text = brief.report
    lanes = [Lane(item.scenario, item.cases, drawn_column(item.cases)) for item in text.sections]
    axis = ratio_axis(text.claims)
    drawings = (ratio(line, axis) if axis and drawn(line) else None for line in text.claims)
    numbers = {section.scenario: number for number, section in enumerate(text.sections, 1)}
    return {
        "text": text,
        "brief": brief,
        "setting": [*brief.measured, brief.machine, brief.day],
        "alarms": [*map(plain, text.alarms[summary.smoke :])],
        "ratios": answers_chart(brief),
        "legend": ratio_legend(brief),
        "states": list(claim_counts(text.claims)),
        "counts": counted_states(text.claims),
        "cards": [
            {"answer": answer, "section": f"scenario-{numbers[answer.scenario]}"}
            | _card(comparison, summary, colours)
            for answer, comparison in zip(text.answers, summary.comparisons, strict=False)
        ],
        "claims": [*zip(text.claims, drawings, strict=True)],
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
    title = summary.titles.get(comparison.scenario)
    return {"chart": chart, "about": " · ".join(filter(None, (title, unit, driver, trials)))}


def drawn_section(
    text: Section,
    trials: Sequence[Trial],
    folder: Path,
    colours: Mapping[str, int],
    *,
    answered: bool,
) -> dict[str, Any]:
    """Return a scenario with its charts; with `answered`, the answers show its levels."""
    cases = text.cases
    own_trials = [trial for trial in trials if trial.case.scenario == text.scenario]
    by_case = {case.case.title: trials_that_count(case, own_trials) for case in cases}
    counted = [trial for value in by_case.values() for trial in value]
    names = [" · ".join(filter(None, row)) for row in case_labels(cases).rows]
    named_cases, column = list(zip(names, cases, strict=True)), drawn_column(cases)
    return {
        "text": text,
        "names": {case.case.server for case in cases},
        "levels": None if column is None or answered else levels(column, named_cases, {}, colours),
        "searches": searches(named_cases, colours),
        "sweeps": list(curves(text, colours)),
        "percentiles": percentiles(counted, colours),
        "stacks": list(_stacks(named_cases, by_case, colours)),
        "slices": slices(counted, colours),
        "strips": _strips(own_trials, counted, folder, all_of_them=len(trials) <= _ALL_STRIPS),
        "strips_legend": _strips_legend(own_trials),
    }


def _stacks(
    named_cases: Sequence[tuple[str, CaseSummary]],
    by_case: Mapping[str, Sequence[Trial]],
    colours: Mapping[str, int],
) -> Iterator[Chart]:
    memory = partial(cost, of_trial=_memory), "B", "Memory at its largest"
    for amounts, unit, caption in ((cost, "s", "CPU time for each response"), memory):
        values = [
            (name, colours.get(case.case.server, 0), amounts(by_case[case.case.title]))
            for name, case in named_cases
        ]
        if (chart := stacks(values, unit, caption)) is not None:
            yield chart


def _memory(trial: Trial) -> dict[Role, float]:
    """Return the largest memory of each role but the load tool, in bytes."""
    sums: dict[Role, float] = {}
    for usage in trial.observation.usage if trial.observation else ():
        if usage.peak_pss_bytes is not None and usage.role != "loader":
            sums[usage.role] = sums.get(usage.role, 0.0) + usage.peak_pss_bytes
    return sums


def _strips(
    trials: Sequence[Trial], counted: Sequence[Trial], folder: Path, *, all_of_them: bool
) -> dict[str, Markup]:
    """Return the strips by trial; of a large result those of first trials and of set-aside ones."""
    firsts = {trial.case.title: trial.number for trial in reversed(trials)}
    others = {trial.number for trial in counted}.difference(firsts.values())
    drawn = {
        trial.number: strip(trial, folder)
        for trial in trials
        if trial.measured and (all_of_them or trial.number not in others)
    }
    return {str(number): drawing for number, drawing in drawn.items() if drawing is not None}


def _strips_legend(trials: Sequence[Trial]) -> str:
    cpus = {cpus_of(trial) for trial in trials} - {0}
    height = f"all {min(cpus)} CPUs" if len(cpus) == 1 else "all CPUs"
    return f"CPUs over the load; the height is {height}, the width the load"
