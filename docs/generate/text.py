"""Markdown of what the code says: its sentences are plain text, with code between backticks."""

import inspect
import re
from collections.abc import Iterable, Sequence

from pydantic import BaseModel

from benchforge.cli.plugins.options import Option, options

# Between backticks nothing means anything to Markdown; in tables a stroke always does.
_CODE = re.compile(r"(`[^`]*`)")
_MEANING = re.compile(r"([\\<*\[]|(?<!\w)_|_(?!\w))")


def plain(text: str) -> str:
    """Return a text in which nothing but code between backticks means anything to Markdown."""
    pieces = _CODE.split(text)
    return "".join(
        piece if number % 2 else _MEANING.sub(r"\\\1", piece) for number, piece in enumerate(pieces)
    )


def doc_of(thing: object) -> str:
    """Return a docstring as Markdown. Raises ValueError where there is none.

    Paragraphs, lists and blocks that are indented by four stay what they are.
    """
    text = inspect.getdoc(thing)
    if not text:
        raise ValueError(f"{thing} has no docstring")
    return "\n".join(line if line.startswith("    ") else plain(line) for line in text.splitlines())


def first_line(thing: object) -> str:
    """Return the first sentence of a docstring, as Markdown."""
    return doc_of(thing).split("\n\n")[0].replace("\n", " ")


def cell(text: str) -> str:
    """Return one line that ends no cell of a table."""
    return " ".join(text.split()).replace("|", r"\|")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; nothing where it has no rows."""
    lines = [f"| {' | '.join(map(cell, row))} |" for row in rows]
    if not lines:
        return ""
    return "\n".join([f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *lines])


def options_table(model: type[BaseModel], known: Iterable[str] = ()) -> str:
    """Return the options of a part, or the keys of a table, without those that are known."""
    left_out = set(known)
    return table(
        ("key", "value", "default", "description"),
        [row(one) for one in options(model) if one.name not in left_out],
    )


def row(one: Option) -> tuple[str, str, str, str]:
    """Return the line of an option. Raises ValueError for one without a sentence."""
    if not one.doc:
        raise ValueError(f"option {one.name!r} has no sentence below it")
    default = "required" if one.required else f"`{one.default}`" if one.default else "none"
    return f"`{one.name}`", plain(one.type), default, plain(one.doc)


def page_of(title: str, *sections: str) -> str:
    """Return a page: a title and what follows, with empty lines between."""
    return "\n\n".join([f"# {title}", *(one for one in sections if one)])
