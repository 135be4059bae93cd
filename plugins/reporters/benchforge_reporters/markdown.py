"""A result as Markdown: report.md with its charts, and raw.md with what each process printed."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import ClassVar
from urllib.parse import quote

from benchforge.plugin import Reporter, Summary, Trial, safe
from benchforge.plugin.drawing import Chart, chart_file, colours_of, drawing_file
from benchforge_reporters.charts.levels import answer_chart, searches
from benchforge_reporters.charts.over_time import curves
from benchforge_reporters.charts.ratios import claims_chart
from benchforge_reporters.document.claims import HEADS, counted_states
from benchforge_reporters.document.document import ResultDocument, Section, document
from benchforge_reporters.document.overview import MatrixCell, Overview
from benchforge_reporters.raw import block_lines, medians, raw
from benchforge_reporters.text.cells import Cell, case_labels
from benchforge_reporters.text.tables import NOT_BY_KIND, Table, kinds_heading

FOLDER = "charts"
_MOST = 60
"Charts of one kind: of more answers, only the first ones are drawn."


class _Charts:
    """The charts of a report, each a file beside it."""

    def __init__(self, summary: Summary, folder: Path) -> None:
        self.summary, self.folder, self.colours = summary, folder, colours_of(summary)
        self.paths: list[Path] = []

    def written(self, name: str, title: str, content: str) -> str:
        """Write a drawing, and return the line that shows it."""
        file = self.folder / FOLDER / f"{name}.svg"
        file.parent.mkdir(exist_ok=True)
        file.write_text(content, encoding="utf-8")
        self.paths.append(file)
        return f"![{safe.markdown(title)}]({FOLDER}/{file.name})\n"

    def of_chart(self, name: str, about: str, chart: Chart | None, end: str = "") -> Iterator[str]:
        """Write a chart if there is one."""
        if chart is not None:
            title = f"{about}: {chart.caption}{end}"
            yield self.written(name, title, chart_file(chart, title))

    def of_answer(self, number: int, label: str) -> Iterator[str]:
        """Write the chart of an answer."""
        chart = answer_chart(self.summary.comparisons[number - 1], self.summary, self.colours)
        yield from self.of_chart(f"answer-{number}", label, chart, ", the bar the 95 % interval")

    def of_section(self, number: int, section: Section) -> Iterator[str]:
        """Write the searches, sweeps and loads over time of a scenario."""
        labels = [" · ".join(filter(None, row)) for row in case_labels(section.cases).rows]
        searched = searches(list(zip(labels, section.cases, strict=True)), self.colours)
        yield from self.of_chart(f"search-{number}", section.scenario, searched)
        for curve in islice(curves(section, self.colours), _MOST):
            content = drawing_file(curve.drawing, curve.height, curve.title)
            kind, _, path = curve.name.partition("-")
            title = curve.title if kind == "sweep" else f"{curve.title}: {curve.sentence}"
            yield self.written(f"{kind}-{number}-{path}", title, content)


class Markdown(Reporter):
    """The whole summary as Markdown tables, readable as plain text."""

    name: ClassVar[str] = "markdown"

    def report(self, summary: Summary, trials: Sequence[Trial], folder: Path) -> Sequence[Path]:
        """Write report.md with its charts, and raw.md."""
        report, printed = folder / "report.md", folder / "raw.md"
        charts = _Charts(summary, folder)
        text = "\n".join(_report(document(summary, trials), charts))
        report.write_text(text, encoding="utf-8")
        with printed.open("w", encoding="utf-8") as file:
            file.writelines(medians(summary))
            file.writelines(block_lines(trials))
            file.writelines(raw(trials, folder))
        return report, printed, *charts.paths


def _report(report: ResultDocument, charts: _Charts) -> Iterator[str]:
    yield f"# {safe.markdown(report.heading)}\n"
    yield from (f"**{safe.markdown(alarm)}**\n" for alarm in report.alarms)
    if report.scope:
        yield f"{report.scope}\n"
    yield from _answers(report, charts)
    yield from (f"{safe.markdown(text)}\n" for text in report.latencies.values())
    yield from _causes(report)
    yield "".join(f"- {name}: {safe.markdown(value)}\n" for name, value in report.made)
    cells, order = report.reading
    yield f"In the tables, {cells};\n{order}.\n"
    yield from _claims(report, charts)
    for of_suite in report.tables:
        csv = f"[CSV](tables/{quote(of_suite.label)}.csv)"
        yield f"## {safe.markdown(of_suite.title)}\n"
        yield f"{safe.markdown(of_suite.content)}; also as {csv}\n"
        yield from table_lines(of_suite.table)
    for number, section in enumerate(report.sections, start=1):
        yield from _section(section, charts.of_section(number, section))
    yield from _list("What speaks against the whole", report.whole)
    yield from _what_was_run(report)
    yield from _files(report)


def _answers(report: ResultDocument, charts: _Charts) -> Iterator[str]:
    if report.overview is not None:
        yield from _overview(report.overview, report)
    if report.answers:
        yield "## Answers\n"
    for number, answer in enumerate(report.answers, start=1):
        label, headline = safe.markdown(answer.label), safe.markdown(answer.headline)
        yield f"**{label}** ({answer.state}): {headline}\n"
        if answer.sentences:
            yield "".join(f"- {safe.markdown(sentence)}\n" for sentence in answer.sentences)
        yield from charts.of_answer(number, answer.label) if number <= _MOST else ()


def _overview(overview: Overview, report: ResultDocument) -> Iterator[str]:
    yield "## Overview\n"
    if report.claims:
        yield f"**{counted_states(report.claims)}**, of {len(report.claims)} claims.\n"
    if overview.of_sources:
        yield f"{overview.of_sources}.\n"
    if not overview.rows:
        return
    yield "Each server in per cent of the best; bold was not found to differ from the best.\n"
    rows = [
        [safe.markdown(row.answer.label), *map(_share, map(row.cell, overview.servers))]
        for row in overview.rows
    ]
    yield from _rows(["comparison", *map(safe.markdown, overview.servers)], rows, "---:")


def _share(cell: MatrixCell | None) -> str:
    if cell is None:
        return ""
    return f"**{cell.text}**" if cell.tied else cell.text


def _causes(report: ResultDocument) -> Iterator[str]:
    matter = [cause for cause in report.causes.all if cause.kind != "expert"]
    if report.answers or matter:
        yield "## May I quote it?\n"
    if report.answers:
        yield f"**{report.quotable.sentence}**\n"
    for text in matter:
        remedy = f" To do: {safe.markdown(text.remedy)}." if text.remedy else ""
        brief, effect = safe.markdown(text.brief), safe.markdown(text.effect)
        yield f"- **{safe.markdown(text.id)}** ({text.kind}): {brief}. {effect}{remedy}"
    if matter:
        yield ""
    sentences = filter(None, (report.next_step, report.launches))
    yield from (f"{safe.markdown(sentence)}\n" for sentence in sentences)


def _claims(report: ResultDocument, charts: _Charts) -> Iterator[str]:
    if not report.claims and not report.tally:
        return
    yield "## Claims\n"
    yield from (f"**{safe.markdown(line)}**\n" for line in report.tally)
    yield from charts.of_chart("claims", "Claims", claims_chart(report.claims))
    if report.claims:
        yield from _rows(HEADS, [map(safe.markdown, line.cells) for line in report.claims])
        if report.claims_note:
            yield f"{report.claims_note}\n"
        yield from _list("In full", [f"{line.title} {line.sentence}" for line in report.claims])


def _section(section: Section, images: Iterator[str]) -> Iterator[str]:
    yield f"## {safe.markdown(section.title)}\n"
    yield f"{safe.markdown(section.request)}\n"
    yield from (f"{safe.markdown(sentence)}\n" for sentence in section.sought)
    yield from table_lines(section.table)
    if section.kinds is not None:
        yield f"### B{kinds_heading(section.cases)[1:]}\n"
        yield from table_lines(section.kinds)
        yield f"{NOT_BY_KIND}\n"
        yield from _list("Flows that ended early", section.flows)
    yield from images
    yield from _list("Ranks", section.ranks)
    yield from _list("Each pair, with all others", section.pairs)
    yield from _list("At rising concurrency", section.sweeps)
    yield "### Every trial\n"
    yield from table_lines(section.trials)
    if section.left_out:
        yield f"{section.left_out}\n"
    yield from _list("How each trial's values were formed", section.estimators)
    yield from _list("By stage of the load", section.stages)
    yield from _list("Answers under load", section.under_load)
    yield from _list("What the checks found", section.notes)
    if section.failures:
        yield "### Failed trials\n"
    for line, failed in section.failures:
        yield f"**{safe.markdown(line)}**\n"
        if failed.failure.hint:
            yield f"Hint: {safe.markdown(failed.failure.hint)}\n"
        if failed.failure.log.strip():
            yield safe.fenced(failed.failure.log)


def _list(title: str, texts: Sequence[str]) -> Iterator[str]:
    if texts:
        yield f"### {title}\n"
        yield "".join(f"- {safe.markdown(text)}\n" for text in texts)


def table_lines(table: Table) -> Iterator[str]:
    """Yield a table, and its footnotes below it."""
    columns = (f"{each.title} ({each.unit})" if each.unit else each.title for each in table.columns)
    rows = [[safe.markdown(head) for head in (*table.heads, *columns)]]
    rows += [[*map(safe.markdown, row.labels), *map(_cell, row.cells)] for row in table.rows]
    widths = [max(4, *map(len, column)) for column in zip(*rows, strict=True)]
    left_aligned = len(table.heads)
    rule = ["-" * width for width in widths[:left_aligned]]
    rows.insert(1, rule + [f"{'-' * (width - 1)}:" for width in widths[left_aligned:]])
    for row_ in rows:  # aligned, for those who read it as it stands
        yield _row(
            word.ljust(width) if index < left_aligned else word.rjust(width)
            for index, (word, width) in enumerate(zip(row_, widths, strict=True))
        )
    yield ""
    if table.footnotes:
        yield "".join(f"{safe.markdown(note)}  \n" for note in table.footnotes)


def _row(words_: Iterable[str]) -> str:
    return f"| {' | '.join(words_)} |"


def _rows(heads: Sequence[str], rows: Iterable[Iterable[str]], rule: str = "---") -> Iterator[str]:
    yield from map(_row, (heads, ["---", *[rule] * (len(heads) - 1)], *rows))
    yield ""


def _cell(cell: Cell) -> str:
    parts = (f"{safe.markdown(value)} {spread}".strip() for value, spread in cell.parts)
    return "<br>".join(f"**{part}**" if cell.loud else part for part in parts)


def _what_was_run(report: ResultDocument) -> Iterator[str]:
    yield "## What was run\n"
    for title, processes in report.commands:
        yield f"{safe.markdown(title)}:\n"
        yield safe.fenced(processes, "sh")
    if report.environment:
        yield from _rows(["", ""], [map(safe.markdown, row) for row in report.environment])


def _files(report: ResultDocument) -> Iterator[str]:
    yield "## Files\n"
    yield "- [result.json](result.json): the suite, the plan, the environment"
    yield "- [raw.md](raw.md): the time of a block by stage, each command, and what it printed"
    yield "- summary.json: every number of this report, with every trial's value"
    if report.folders:
        first, last = report.folders
        yield f"- {first}/ to {last}/: trial.json and what each process printed"
    yield ""
