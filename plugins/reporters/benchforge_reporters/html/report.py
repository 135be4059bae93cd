"""A result as a page: report.html, one file that opens without a network."""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from markupsafe import Markup, escape

from benchforge.plugin import Reporter, Summary, Trial
from benchforge.plugin.drawing import ChartAxis, colours_of, ratio_ticks, rendered
from benchforge_reporters.charts.levels import drawn_column
from benchforge_reporters.charts.ratios import drawn, ratio, ratio_axis
from benchforge_reporters.charts.run_order import Lane, run_order
from benchforge_reporters.document.claim_lines import SIGNS, ClaimLine, counted_states
from benchforge_reporters.document.document import document
from benchforge_reporters.document.next_step import again
from benchforge_reporters.html.belief import SIGNS as CAUSE_SIGNS
from benchforge_reporters.html.belief import evidence, reason
from benchforge_reporters.html.cards import cards
from benchforge_reporters.html.drawn_section import drawn_section
from benchforge_reporters.html.headed_table import heads_of
from benchforge_reporters.html.overview import counted_claims, matrix
from benchforge_reporters.text import claims
from benchforge_reporters.text.kinds import NOT_BY_KIND
from benchforge_reporters.text.words import CELLS

_WORDS = {
    "not_by_kind": NOT_BY_KIND,
    "means": f"{CELLS[0].upper()}{CELLS[1:]}.",
    "signs": CAUSE_SIGNS,
    "evidence": evidence,
    "heads_of": heads_of,
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


def page(summary: Summary, trials: Sequence[Trial], folder: Path) -> dict[str, Any]:
    """Return the values of a result's page; `folder` has the trials' files."""
    colours = colours_of(summary)
    text = document(summary, trials)
    sections = [
        drawn_section(section, number, trials, folder, colours, answered=bool(text.answers))
        for number, section in enumerate(text.sections, start=1)
    ]
    ids = {section["text"].scenario: section["id"] for section in sections}
    lanes = [Lane(one.scenario, one.cases, drawn_column(one.cases)) for one in text.sections]
    axis = ratio_axis([line.text for line in text.claims])
    return {
        "text": text,
        "states": counted_claims(text),
        "matrix": matrix(text.overview),
        "cards": list(cards(text.answers, summary, ids, colours)),
        "reason": reason(text.causes, summary),
        "counts": counted_states(text.claims),
        "claims": list(_claims(text.claims, axis)),
        "axis": None if axis is None else ratio_ticks(axis),
        "sections": sections,
        "servers": [(number, server) for server, number in colours.items()],
        "order": run_order(lanes, trials, colours),
        "again": again(summary, f"--set repeat.seed={summary.seed}"),
    }


def _claims(lines: Sequence[ClaimLine], axis: ChartAxis | None) -> Iterator[ClaimRow]:
    words = claims.sentences([line.text for line in lines])
    for line, texts in zip(lines, words, strict=True):
        drawing = ratio(line.text, axis) if axis and drawn(line.text) else None
        yield ClaimRow(line, drawing, *texts)
