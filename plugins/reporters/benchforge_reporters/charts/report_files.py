"""The charts of report.md, each a file beside it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from benchforge.plugin import Summary
from benchforge.plugin.drawing import Chart, chart_file, colours_of, drawing_file
from benchforge_reporters.charts.curves import curves
from benchforge_reporters.charts.levels import answer_chart
from benchforge_reporters.charts.ratios import claims_chart
from benchforge_reporters.charts.searches import searches
from benchforge_reporters.document.document import ResultDocument, Section
from benchforge_reporters.text.cells import case_labels

FOLDER = "charts"
_MOST = 60
"Charts of one kind: of more answers, only the first ones are drawn."


@dataclass(frozen=True)
class ChartFile:
    """A chart, and where it is."""

    name: str
    "Path, relative to the report."
    title: str
    content: str


@dataclass(frozen=True)
class ChartFiles:
    """All charts of a report."""

    answers: tuple[ChartFile | None, ...]
    "Chart of each answer; None if nothing can be drawn."
    claims: ChartFile | None
    sections: Mapping[str, Sequence[ChartFile]]
    "Searches, sweeps and loads over time, by scenario."

    @property
    def files(self) -> list[ChartFile]:
        """All of them."""
        of_sections = (file for files in self.sections.values() for file in files)
        return [*filter(None, (*self.answers, self.claims)), *of_sections]


def chart_files(shown: ResultDocument, summary: Summary) -> ChartFiles:
    """Return the charts of a document."""
    colours = colours_of(summary)
    answers = [
        _file(
            f"answer-{number}",
            answer.label,
            answer_chart(comparison, summary, colours) if number <= _MOST else None,
            ", the bar the 95 % interval",
        )
        for number, (answer, comparison) in enumerate(
            zip(shown.answers, summary.comparisons, strict=False), start=1
        )
    ]
    return ChartFiles(
        answers=tuple(answers),
        claims=_file("claims", "Claims", claims_chart(shown.claims)),
        sections={
            section.scenario: tuple(_of_section(section, number, colours))
            for number, section in enumerate(shown.sections, start=1)
        },
    )


def _of_section(section: Section, number: int, colours: Mapping[str, int]) -> Iterator[ChartFile]:
    labels = [" · ".join(filter(None, row)) for row in case_labels(section.cases).rows]
    chart = searches(list(zip(labels, section.cases, strict=True)), colours)
    if file := _file(f"search-{number}", section.scenario, chart):
        yield file
    for curve in islice(curves(section, colours), _MOST):
        content = drawing_file(curve.drawing, curve.height, curve.title)
        kind, _, place = curve.name.partition("-")
        title = curve.title if kind == "sweep" else f"{curve.title}: {curve.sentence}"
        yield ChartFile(f"{FOLDER}/{kind}-{number}-{place}.svg", title, content)


def _file(name: str, about: str, chart: Chart | None, end: str = "") -> ChartFile | None:
    if chart is None:
        return None
    title = f"{about}: {chart.caption}{end}"
    return ChartFile(f"{FOLDER}/{name}.svg", title, chart_file(chart, title))
