"""Documents about results, for texts and pages: an answer, then sections."""

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup


class DrawnRow(NamedTuple):
    """A number, with its drawing on the axis of its section."""

    kind: str
    "Name of the colour of `word`."
    word: str
    title: str
    about: str
    drawing: Markup | None
    value: str
    detail: str


class DrawnFigure(NamedTuple):
    """A drawing with remarks."""

    title: str
    unit: str
    drawing: Markup
    remarks: Sequence[str]


class Findings(NamedTuple):
    """Findings of one check, with their evidence."""

    kind: str
    "Name of the colour; `invalid` is open on a page."
    sign: str
    word: str
    code: str
    title: str
    rows: Sequence[tuple[str, ...]]
    "Place of each finding, and the texts that `heads` name."


class PageSection(NamedTuple):
    """A part of a document."""

    id: str
    title: str
    about: str = ""
    legend: str = ""
    empty: str = ""
    "Sentence of a section without rows and findings."
    rows: Sequence[DrawnRow] = ()
    axis: Markup | None = None
    findings: Sequence[Findings] = ()
    heads: Sequence[str] = ()
    "Headings of the evidence of findings."
    figures: Sequence[DrawnFigure] = ()
    others: str = ""
    "Command for the rows, findings and figures for which a page has no room."
    items: Sequence[str] = ()
    facts_title: str = ""
    facts: Sequence[tuple[str, str]] = ()


class PageDocument(NamedTuple):
    """An answer, and its sections."""

    title: str
    eyebrow: str
    counts: Sequence[tuple[str, int, str]]
    "Name of the colour, number, and word."
    sentences: Sequence[str]
    sections: Sequence[PageSection]
    banners: Sequence[str] = ()
