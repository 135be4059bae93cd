"""The pages that people read, cut into blocks, links and headings."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
_PARSER = MarkdownIt("commonmark").enable("table")


@dataclass(frozen=True)
class Block:
    """A block of code, and the line that it begins on."""

    page: Path
    line: int
    language: str
    text: str

    @property
    def where(self) -> str:
        """For a person."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def pages() -> list[Path]:
    """Return every page that is ours to show."""
    actual = (path for path in DOCS.rglob("*.md") if not {"_build", "examples"} & {*path.parts})
    return [ROOT / "README.md", *sorted(actual)]


def shows_blocks(page: Path) -> bool:
    """Return whether a page may have a block: each worker asks it of all pages as it collects."""
    return re.search(r"^(?:```|~~~| {4}|\t)", page.read_text(), re.MULTILINE) is not None


def blocks(page: Path) -> list[Block]:
    """Return the blocks of a page; one that is indented is text."""
    return [
        Block(page, (token.map or [0])[0] + 1, _language(token), token.content)
        for token in _PARSER.parse(page.read_text())
        if token.type in {"fence", "code_block"}
    ]


def _language(token: Token) -> str:
    return token.info.strip() if token.type == "fence" else "text"


def links(page: Path) -> list[str]:
    """Return where the links and pictures of a page lead."""
    content = (
        child.attrGet("href") or child.attrGet("src")
        for token in _PARSER.parse(page.read_text())
        for child in token.children or ()
    )
    return [str(item) for item in content if item]


@cache
def anchors(page: Path) -> frozenset[str]:
    """Return the names of the headings of a page, as forges and Sphinx make them."""
    names = (re.sub(r"[^\w\- ]", "", text.lower()) for text in _headings(page))
    return frozenset(name.replace(" ", "-") for name in names)


def _headings(page: Path) -> Iterator[str]:
    for opening, inside in pairwise(_PARSER.parse(page.read_text())):
        if opening.type == "heading_open":
            yield "".join(child.content for child in inside.children or ())
