"""Where each key and each array element of a TOML text stands; the standard library does not tell.

The scanner finds ends and judges little: of a text that it passes, `tomllib` says whether it is
TOML. What it refuses itself is what later versions of TOML brought, so that a suite means the same
on every Python, and what is nested so deeply that whatever reads it would suffer.
"""

import re
import tomllib
from bisect import bisect_left
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


class SuiteRefused(Exception):
    """A text that is no suite, whatever else may be right: place, message and hint."""

    def __init__(self, spot: Spot, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.spot = spot
        self.message = message
        self.hint = hint


class Lost(Exception):
    """The text is not TOML, here or before."""


def positions(text: str) -> dict[Path, Spot]:
    """Return where each path of a TOML text stands: a key by its first mention, an element by its
    beginning.

    Raises Refused for what TOML 1.0 does not have and for what is nested too deeply, and Lost
    for a text that `tomllib` accepts neither.
    """  # noqa: D205 - one sentence
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
        self._ends = [-1] + [found.start() for found in re.finditer("\n", self._text)]
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
        at, table = 0, Path()
        while (at := self._skip(at)) < len(self._text) - 1:
            self.statement = at, table
            if self._text.startswith("[[", at):
                at, table = self._key(at + 2, (), opens=True)
                at = self._pass("]]", at)
            elif self._text[at] == "[":
                at, table = self._key(at + 1, ())
                at = self._pass("]", at)
            else:
                at, path = self._key(at, table)
                at = self._value(self._pass("=", at), path)

    def spot(self, start: int, end: int) -> Spot:
        """Return the place of a piece of the text."""
        line = bisect_left(self._ends, start)
        return Spot(line, start - self._ends[line - 1], end - start)

    def _key(self, at: int, path: Path, *, opens: bool = False) -> tuple[int, Path]:
        """Read a dotted key; it ends before `=` or `]`. `opens`: it begins a table of an array."""
        while True:
            at = self._skip(at)
            end = self._end(_KEY, at)
            path = (*path, self._plain(at, end))
            self._mark(path, at, end)
            after = self._skip(end)
            if self._text[after] == ".":
                if path in self._last:
                    path = (*path, self._last[path])
                at = after + 1
                continue
            if opens:
                number = self._last[path] = self._last.get(path, -1) + 1
                path = (*path, number)
                self._mark(path, at, end)
            if not self.unclosed:
                self.statement = self.statement[0], path
            return after, path

    def _value(self, at: int, path: Path) -> int:
        """Pass over a value. Not recursive: its depth is the text's choice."""
        inside: list[tuple[str, Path, int]] = []  # what closes it, its path, its next element
        while True:
            at = self._skip(at)
            if (opening := self._text[at]) in "[{":
                inside.append(("]" if opening == "[" else "}", path, 0))
                self.unclosed.append(at)
                at += 1
            else:
                at = self._scalar(at)
            while inside:
                closing, outer, number = inside[-1]
                at = self._within(at, closing, outer)
                if self._text[at] == ",":
                    comma, at = at, self._within(at + 1, closing, outer)
                    if self._text[at] == closing == "}":
                        raise SuiteRefused(
                            self.spot(comma, comma + 1),
                            "not TOML 1.0: a comma after the last key of an inline table",
                            "leave it out",
                        )
                if self._text[at] != closing:
                    break
                inside.pop()
                self.unclosed.pop()
                at += 1
            else:
                return at
            if closing == "]":
                path = (*outer, number)
                inside[-1] = (closing, outer, number + 1)
                self._mark(path, at, at + 1 if self._text[at] in "[{" else self._end(_SCALAR, at))
            else:
                at, path = self._key(at, outer)
                at = self._pass("=", at)

    def _scalar(self, at: int) -> int:
        end = self._end(_SCALAR, at)
        if self._text[at] == '"':
            self._check_escapes(at, end)
        elif _NO_SECONDS.fullmatch(self._text, at, end):
            raise SuiteRefused(
                self.spot(at, end), "not TOML 1.0: a time without seconds", "add them: 07:30:00"
            )
        return end

    def _within(self, at: int, closing: str, path: Path) -> int:
        """Pass over space; of an inline table, only what stands on its line."""
        after = self._skip(at)
        if closing == "}" and "\n" in self._text[at:after]:
            opening = self.unclosed[-1]
            table = "" if any(isinstance(step, int) for step in path) else f": [{dotted(path)}]"
            raise SuiteRefused(
                self.spot(opening, opening + 1),
                "not TOML 1.0: an inline table ends on the line on which it begins",
                f"close it there, or write a table of its own{table}",
            )
        return after

    def _check_escapes(self, at: int, end: int) -> None:
        for match in _ESCAPE.finditer(self._text, at, end):
            if match[1] in "ex":
                instead = "\\u001b" if match[1] == "e" else "\\u00.."
                raise SuiteRefused(
                    self.spot(match.start(), match.end()),
                    f"not TOML 1.0: no escape \\{match[1]}",
                    f"write {instead}, or the text in '...', where nothing is escaped",
                )

    def _skip(self, at: int) -> int:
        return self._end(_SPACE, at)

    def _pass(self, what: str, at: int) -> int:
        if not self._text.startswith(what, at):
            raise Lost
        return at + len(what)

    def _end(self, what: re.Pattern[str], at: int) -> int:
        if what is not _SPACE:
            self.at = at
        if (match := what.match(self._text, at)) is None:
            raise Lost
        return match.end()

    def _mark(self, path: Path, start: int, end: int) -> None:
        if path not in self.spots:
            self.spots[path] = self.spot(start, end)
            if len(path) > DEEPEST:
                spot = self.spots[path]
                raise SuiteRefused(spot, f"nested more than {DEEPEST} levels deep")

    def _plain(self, at: int, end: int) -> str:
        key = self._text[at:end]
        if key[0] not in "\"'":
            return key
        if key[0] == "'" or "\\" not in key:
            return key[1:-1]
        self._check_escapes(at, end)
        try:
            return str(tomllib.loads(f"key = {key}")["key"])
        except tomllib.TOMLDecodeError:
            raise Lost from None
