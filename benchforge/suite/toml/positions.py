"""Positions of keys and array elements in a TOML text, which `tomllib` does not give.

The scanner finds ends, and `tomllib` judges the text. The scanner refuses what later versions of
TOML added, so that a suite means the same on every Python, and what is nested too deeply.
"""

import re
import tomllib
from bisect import bisect_left
from dataclasses import dataclass
from typing import NamedTuple

Path = tuple[str | int, ...]
"Keys, and numbers of array elements, from the top of the document."

DEEPEST = 50
"Tables in tables; everything behind this walks them recursively."

_BARE = re.compile(r"[\w-]+")
# No group is repeated possessively: Python before 3.11.5 loses matches there.
_SPACE = re.compile(r"(?:[ \t\r\n]++|#[^\n]*+)*")
_KEY = re.compile(r""""(?:\\[^\n]|[^"\\\n]++)*"|'[^'\n]*+'|[A-Za-z0-9_-]++""")
_SCALAR = re.compile(
    r'"""(?:[^"\\]++|\\.|"{1,2}+(?!"))*"{3,5}'
    r"|'''(?:[^']++|'{1,2}+(?!'))*'{3,5}"
    r'|"(?:[^"\\\n]++|\\[^\n])*"(?!")'
    r"|'[^'\n]*+'(?!')"
    r"|\d{4}-\d\d-\d\d \d\d:[\w.:+-]*+"  # the only value with a space in it
    r"|[\w.:+-]++",
    re.DOTALL | re.ASCII,
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_NO_SECONDS = re.compile(r"(?:\d{4}-\d\d-\d\d[Tt ])?\d\d:\d\d(?:[Zz]|[+-]\d\d:\d\d)?", re.ASCII)


class Spot(NamedTuple):
    """A place in a text: line and column count from 1, the width is in characters."""

    line: int
    column: int
    width: int


@dataclass(eq=False)
class Refused(Exception):
    """A text that is no suite, whatever else may be right."""

    spot: Spot
    message: str
    hint: str = ""


class Lost(Exception):
    """The text is not TOML, here or before."""


def positions(text: str) -> dict[Path, Spot]:
    """Return the first mention of each key, and the beginning of each element, by path.

    Raises Refused for what TOML 1.0 does not have and for what is nested too deeply, and Lost
    for a text that `tomllib` accepts neither.
    """
    scanner = Scanner(text)
    scanner.document()
    return scanner.spots


def dotted(path: Path) -> str:
    """Return a path as a person reads it: `scenarios.agents.servers[1]`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            key = step if _BARE.fullmatch(step) else f'"{step}"'
            text += f".{key}" if text else key
    return text


class Scanner:
    """What is known of a text after `document`, also where that raised Lost."""

    def __init__(self, text: str) -> None:
        self._text = text.replace("\r\n", "\n") + "\n\0"  # an end like no other
        self._ends = [-1] + [match.start() for match in re.finditer("\n", self._text)]
        self._last: dict[Path, int] = {}  # the number of the newest table of each array of tables
        self.spots: dict[Path, Spot] = {}
        "Where each path stands."
        self.statement: tuple[int, Path] = (0, ())
        "Where the newest statement begins, and the path that it sets or opens."
        self.unclosed: list[int] = []
        "Where each bracket stands that the newest value opens and has not closed."
        self.at = 0
        "Where the newest token begins."

    def document(self) -> None:
        """Scan the text. Raises Refused and Lost, as `positions`."""
        position, table = 0, Path()
        while (position := self._skip(position)) < len(self._text) - 1:
            self.statement = position, table
            if self._text.startswith("[[", position):
                position, table = self._key(position + 2, (), opens=True)
                position = self._pass("]]", position)
            elif self._text[position] == "[":
                position, table = self._key(position + 1, ())
                position = self._pass("]", position)
            else:
                position, path = self._key(position, table)
                position = self._value(self._pass("=", position), path)

    def spot(self, start: int, end: int) -> Spot:
        """Return the place of a piece of the text."""
        line = bisect_left(self._ends, start)
        return Spot(line, start - self._ends[line - 1], end - start)

    def _key(self, position: int, path: Path, *, opens: bool = False) -> tuple[int, Path]:
        """Read a dotted key; it ends before `=` or `]`. `opens`: it begins a table of an array."""
        while True:
            position = self._skip(position)
            end = self._end(_KEY, position)
            path = (*path, self._plain(position, end))
            self._mark(path, position, end)
            end_of_key = self._skip(end)
            if self._text[end_of_key] == ".":
                if path in self._last:
                    path = (*path, self._last[path])
                position = end_of_key + 1
                continue
            if opens:
                number = self._last[path] = self._last.get(path, -1) + 1
                path = (*path, number)
                self._mark(path, position, end)
            if not self.unclosed:
                self.statement = self.statement[0], path
            return end_of_key, path

    def _value(self, position: int, path: Path) -> int:
        """Pass over a value. Not recursive: its depth is the text's choice."""
        inside: list[tuple[str, Path, int]] = []  # what closes it, its path, its next element
        while True:
            position = self._skip(position)
            if (opening := self._text[position]) in "[{":
                inside.append(("]" if opening == "[" else "}", path, 0))
                self.unclosed.append(position)
                position += 1
            else:
                position = self._scalar(position)
            while inside:
                closing, outer, number = inside[-1]
                position = self._within(position, closing, outer)
                if self._text[position] == ",":
                    comma, position = position, self._within(position + 1, closing, outer)
                    if self._text[position] == closing == "}":
                        message = "not TOML 1.0: a comma after the last key of an inline table"
                        raise Refused(self.spot(comma, comma + 1), message, "leave it out")
                if self._text[position] != closing:
                    break
                inside.pop()
                self.unclosed.pop()
                position += 1
            else:
                return position
            if closing == "]":
                path = (*outer, number)
                inside[-1] = (closing, outer, number + 1)
                opens = self._text[position] in "[{"
                self._mark(path, position, position + 1 if opens else self._end(_SCALAR, position))
            else:
                position, path = self._key(position, outer)
                position = self._pass("=", position)

    def _scalar(self, position: int) -> int:
        end = self._end(_SCALAR, position)
        if self._text[position] == '"':
            self._check_escapes(position, end)
        elif _NO_SECONDS.fullmatch(self._text, position, end):
            message = "not TOML 1.0: a time without seconds"
            raise Refused(self.spot(position, end), message, "add them: 07:30:00")
        return end

    def _within(self, position: int, closing: str, path: Path) -> int:
        """Pass over space; of an inline table, only what stands on its line."""
        next_position = self._skip(position)
        if closing == "}" and "\n" in self._text[position:next_position]:
            opening = self.unclosed[-1]
            table = "" if any(isinstance(step, int) for step in path) else f": [{dotted(path)}]"
            message = "not TOML 1.0: an inline table ends on the line on which it begins"
            hint = f"close it there, or write a table of its own{table}"
            raise Refused(self.spot(opening, opening + 1), message, hint)
        return next_position

    def _check_escapes(self, position: int, end: int) -> None:
        for match in _ESCAPE.finditer(self._text, position, end):
            if match[1] in "ex":
                instead = "\\u001b" if match[1] == "e" else "\\u00.."
                hint = f"write {instead}, or the text in '...', where nothing is escaped"
                spot = self.spot(match.start(), match.end())
                raise Refused(spot, f"not TOML 1.0: no escape \\{match[1]}", hint)

    def _skip(self, position: int) -> int:
        return self._end(_SPACE, position)

    def _pass(self, token: str, position: int) -> int:
        if not self._text.startswith(token, position):
            raise Lost
        return position + len(token)

    def _end(self, pattern: re.Pattern[str], position: int) -> int:
        if pattern is not _SPACE:
            self.at = position
        if (match := pattern.match(self._text, position)) is None:
            raise Lost
        return match.end()

    def _mark(self, path: Path, start: int, end: int) -> None:
        if path not in self.spots:
            self.spots[path] = self.spot(start, end)
            if len(path) > DEEPEST:
                raise Refused(self.spots[path], f"nested more than {DEEPEST} levels deep")

    def _plain(self, position: int, end: int) -> str:
        key = self._text[position:end]
        if key[0] not in "\"'":
            return key
        if key[0] == "'" or "\\" not in key:
            return key[1:-1]
        self._check_escapes(position, end)
        try:
            return str(tomllib.loads(f"key = {key}")["key"])
        except tomllib.TOMLDecodeError:
            raise Lost from None
