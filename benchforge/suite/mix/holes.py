"""Holes in the texts of a request and of an expected answer: `{feed}`, `{feed.column}`.

A value is escaped where it stands: by percent in a path, as JSON in a JSON body, as a form's in a
form. `{feed:raw}` is not, and `{feed:integer}` is a whole number. `{{` is a brace.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple
from urllib.parse import quote_plus, unquote, unquote_plus

from pydantic import JsonValue

from benchforge.suite.mix.drivers import flow_values

Value = int | float | str
Values = Mapping[str, Value]
"Values of one record by the names of holes: a feed, or a feed with a column."
Escape = Callable[[Value], str]

_HOLE = re.compile(r"\{(?:(\{)|([A-Za-z_][\w-]*(?:\.[\w-]+)?)(?::(raw|integer))?\})")
_NUMBERS = ("status", "items", "length")
"Keys of `expect` whose values are numbers."


class Hole(NamedTuple):
    """A hole, and how its value is written."""

    name: str
    form: str
    "raw, integer, or empty for the escape of the place."

    @property
    def written(self) -> str:
        """The hole as the suite has it."""
        return f"{{{self.name}{':' + self.form if self.form else ''}}}"


def holes_of(value: JsonValue) -> Iterator[Hole]:
    """Yield the holes of a text, and of all texts in a table or an array."""
    if isinstance(value, str):
        yield from (Hole(m[2], m[3] or "") for m in _HOLE.finditer(value) if m[2])
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from holes_of(inner)


def _integer(value: Value) -> str:
    return flow_values.written(str(value).strip(), "integer")


_ESCAPES: Mapping[str, Escape] = {
    **flow_values.PLACES,
    # What a feed has for these two was checked when the suite was read.
    "raw path": str,
    "header": str,
    "integer": lambda value: str(value) if isinstance(value, int) else _integer(value),
    "pattern": lambda value: re.escape(str(value)),
}
"How a value is written, by its place."
_RAW = {"path": "raw path", "header": "header", "pattern": "pattern"}

_WRITTEN = {
    "path": r"[\w.~%-]*",
    "raw path": r"[!-~]*?",
    "json": r'(?:[^"\\]|\\.)*',
    "json value": r'"(?:[^"\\]|\\.)*"|[^",}\]\s]+',
    "form": r"[\w.~%+-]*",
    "integer": r"[+-]?\d+",
}
_READ: Mapping[str, Callable[[str], Value]] = {
    "path": unquote,
    "json": lambda text: str(json.loads(f'"{text}"')),
    "json value": json.loads,
    "form": unquote_plus,
    "integer": int,
}
"The way back: what a written value looks like, and what it was."

Piece = str | tuple[str, str]
"Text, or the name of a hole with its place."


class Written(NamedTuple):
    """A value as it stands in a hole of a text."""

    name: str
    place: str
    text: str

    def written(self, value: Value) -> str:
        """Return another value as it stands there."""
        return _ESCAPES[self.place](value)

    @property
    def value(self) -> Value:
        """The value. Raises ValueError where the text is none."""
        return _READ.get(self.place, str)(self.text)


class Template:
    """A text with its holes understood, to be filled again and again."""

    def __init__(self, text: str, target: str, outside: str = "") -> None:
        """Take the place of its holes; in JSON `outside` is that of holes outside of quotes."""
        self._pieces: list[Piece] = []
        position, literal, quoted = 0, "", False
        for match in _HOLE.finditer(text):
            text_before = text[position : match.start()]
            literal, position = literal + text_before, match.end()
            quoted = _quoted(text_before, quoted)
            if match[1]:
                literal += "{"
                continue
            target_of_hole = outside if outside and not quoted else target
            if match[3]:
                target_of_hole = "integer" if match[3] == "integer" else _RAW.get(target, "text")
            self._pieces += [literal, (match[2], target_of_hole)]
            literal = ""
        self._pieces.append(literal + text[position:])
        self.constant = "".join(map(str, self._pieces)) if len(self._pieces) == 1 else None

    def fill(self, values: Values) -> str:
        """Return the text with a record's values."""
        if self.constant is not None:
            return self.constant
        texts = [
            piece if isinstance(piece, str) else _ESCAPES[piece[1]](values[piece[0]])
            for piece in self._pieces
        ]
        return "".join(texts)

    def left(self, values: Values) -> list[Piece]:
        """Return the text with the holes for which there is no value yet."""
        pieces: list[Piece] = [""]
        for piece in self._pieces:
            if not isinstance(piece, str) and piece[0] not in values:
                pieces += [piece, ""]
                continue
            text = piece if isinstance(piece, str) else _ESCAPES[piece[1]](values[piece[0]])
            pieces[-1] = f"{pieces[-1]}{text}"
        return [piece for piece in pieces if piece]

    @property
    def literal(self) -> int:
        """Number of characters outside of holes."""
        return sum(len(piece) for piece in self._pieces if isinstance(piece, str))

    def read(self, text: str) -> Iterator[Written] | None:
        """Return what stands in the holes of a filled text; None if it is no such text."""
        match = self._pattern.fullmatch(text)
        if match is None:
            return None
        holes = [piece for piece in self._pieces if not isinstance(piece, str)]
        return (Written(*hole, value) for hole, value in zip(holes, match.groups(), strict=True))

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        parts = [
            re.escape(piece) if isinstance(piece, str) else f"({_WRITTEN.get(piece[1], '.*?')})"
            for piece in self._pieces
        ]
        return re.compile("".join(parts), re.DOTALL | re.ASCII)


def named(pieces: Sequence[Piece]) -> str:
    """Return a text whose open holes have their names."""
    return "".join(piece if isinstance(piece, str) else f"{{{piece[0]}}}" for piece in pieces)


def in_body(text: str, content_type: str) -> Template:
    """Return the template of a body: by its content type, without one by its text."""
    if "json" in content_type or (not content_type and _is_json(text)):
        return Template(text, "json", "json value")
    return Template(text, "form" if "form-urlencoded" in content_type else "text")


def in_form(form: Mapping[str, str]) -> list[tuple[str, Template]]:
    """Return the templates of a form's fields, by their encoded names."""
    return [(quote_plus(name), Template(text, "form")) for name, text in form.items()]


def expected(table: JsonValue, values: Values, key: str = "") -> JsonValue:
    """Return `expect` with a record's values; a text that is one integer hole is a number."""
    if isinstance(table, dict):
        aliases = {name: key or name for name in table}
        return {name: expected(inner, values, aliases[name]) for name, inner in table.items()}
    if isinstance(table, list):
        return [expected(inner, values, key) for inner in table]
    if not isinstance(table, str):
        return table
    match = _HOLE.fullmatch(table)
    if match and match[2] and (match[3] == "integer" or key in _NUMBERS):
        return int(_ESCAPES["integer"](values[match[2]]))
    return Template(table, "pattern" if key == "body_matches" else "text").fill(values)


def _is_json(text: str) -> bool:
    filled = _HOLE.sub(lambda match: "{" if match[1] else "0", text)
    try:
        return isinstance(json.loads(filled), dict | list)
    except (ValueError, RecursionError):
        return False


def _quoted(text: str, quoted: bool) -> bool:
    """Return True if a JSON text leaves a string open, given whether it began inside of one."""
    return quoted != bool(re.findall(r'\\.|"', text, re.DOTALL).count('"') % 2)
