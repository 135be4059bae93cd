"""A result as a page: report.html, one file that opens without a network."""

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from markupsafe import Markup, escape

from benchforge.plugin import Part, Reporter, Summary, Trial, hookimpl
from benchforge_reporters.charts.ratios import drawn, ratio, ratio_axis, ratio_ticks
from benchforge_reporters.charts.run_order import Lane, run_order
from benchforge_reporters.charts.svg.drawing import Chart, colours_of
from benchforge_reporters.document.claim_lines import SIGNS, ClaimLine, counted_states
from benchforge_reporters.document.document import ResultDocument, SuiteTable, document
from benchforge_reporters.document.next_step import again
from benchforge_reporters.html.belief import Belief, belief
from benchforge_reporters.html.cards import Card, cards
from benchforge_reporters.html.drawn_section import DrawnSection, drawn_section
from benchforge_reporters.html.frame import rendered
from benchforge_reporters.html.headed_table import HeadedTable, headed
from benchforge_reporters.html.overview import DrawnOverview, drawn_overview
from benchforge_reporters.text import claims
from benchforge_reporters.text.kinds import NOT_BY_KIND
from benchforge_reporters.text.words import CELLS

_MEANS = f"{CELLS[0].upper()}{CELLS[1:]}."


class Html(Reporter):
    """The whole result as an HTML page, the answers first."""

    name: ClassVar[str] = "html"

    def report(self, summary: Summary, trials: Sequence[Trial], folder: Path) -> Sequence[Path]:
        """Write report.html."""
        report = folder / "report.html"
        shown = page(summary, trials, folder)
        text = rendered("result.html.j2", page=shown, not_by_kind=NOT_BY_KIND, means=_MEANS)
        if summary.suite_file:
            text = text.replace("run SUITE", f"run {escape(shlex.quote(summary.suite_file))}")
        report.write_text(text, encoding="utf-8")
        return (report,)


@dataclass(frozen=True)
class ClaimRow:
    """A claim with its verdict."""

    line: ClaimLine
    drawing: Markup | None
    title: str
    sentence: str

    @property
    def sign(self) -> str:
        """The verdict as a single character."""
        return SIGNS[self.line.state]

    @property
    def word(self) -> str:
        """The verdict as the page shows it."""
        return "undecided" if self.line.state == "inconclusive" else self.line.state

    @property
    def state(self) -> str:
        """The verdict as the style names it."""
        return self.line.state.replace(" ", "-")


@dataclass(frozen=True)
class Claims:
    """All claims with their verdicts."""

    counts: str
    rows: tuple[ClaimRow, ...]
    axis: Markup | None


@dataclass(frozen=True)
class TableOfSuite:
    """A table that the suite draws."""

    id: str
    text: SuiteTable
    table: HeadedTable


@dataclass(frozen=True)
class ResultPage:
    """The values of the page."""

    text: ResultDocument
    overview: DrawnOverview | None
    cards: tuple[Card, ...]
    belief: Belief
    claims: Claims | None
    tables: tuple[TableOfSuite, ...]
    sections: tuple[DrawnSection, ...]
    servers: tuple[tuple[int, str], ...]
    "Number of the colour, and label."
    order: Chart | None
    again: str


def page(summary: Summary, trials: Sequence[Trial], folder: Path) -> ResultPage:
    """Return the values of a result's page; `folder` has the trials' files."""
    colours = colours_of(summary)
    text = document(summary, trials)
    sections = tuple(
        drawn_section(section, number, trials, folder, colours, answered=bool(text.answers))
        for number, section in enumerate(text.sections, start=1)
    )
    ids = {section.text.scenario: section.id for section in sections}
    lanes = [Lane(one.text.scenario, one.text.cases, one.column) for one in sections]
    return ResultPage(
        text=text,
        overview=drawn_overview(text),
        cards=tuple(cards(text.answers, summary, ids, colours)),
        belief=belief(text.causes, text.quotable, summary),
        claims=_claims(text),
        tables=tuple(
            TableOfSuite(f"table-{number}", one, headed(one.table))
            for number, one in enumerate(text.tables, start=1)
        ),
        sections=sections,
        servers=tuple((number, server) for server, number in colours.items()),
        order=run_order(lanes, trials, colours),
        again=again(summary, f"--set repeat.seed={summary.seed}"),
    )


def _claims(text: ResultDocument) -> Claims | None:
    if not text.claims:
        return None
    texts = [line.text for line in text.claims]
    axis = ratio_axis(texts)
    rows = (
        ClaimRow(line, ratio(line.text, axis) if axis and drawn(line.text) else None, *words)
        for line, words in zip(text.claims, claims.sentences(texts), strict=True)
    )
    return Claims(
        counted_states(text.claims), tuple(rows), None if axis is None else ratio_ticks(axis)
    )


@hookimpl
def benchforge_parts() -> Iterable[type[Part]]:
    """Bring the page."""
    return [Html]
