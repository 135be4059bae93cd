"""Where each key and each array element of a TOML text stands; the standard library does not tell.

The text is known to be valid TOML, so that the scanner only has to find ends, never to judge.
"""

import re
import tomllib
from bisect import bisect_left
from typing import NamedTuple

Path = tuple[str | int, ...]
"Keys, and numbers of array elements, from the top of the document."

_BARE = re.compile(r"[\w-]+")
_SPACE = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_KEY = re.compile(r""""(?:\\.|[^"\\\n])*"|'[^'\n]*'|[A-Za-z0-9_-]+""")
_SCALAR = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}'
    r"|'''.*?'{3,5}"
    r'|"(?:\\.|[^"\\])*"'
    r"|'[^']*'"
    r"|\d{4}-\d\d-\d\d \d\d:[^\s,\]}#]*"  # the only value with a space in it
    r"|[^\s,\]}#]+",
    re.DOTALL,
)


class Spot(NamedTuple):
    """A place in a text: line and column count from 1, the width is in characters."""

    line: int
    column: int
    width: int


def positions(text: str) -> dict[Path, Spot]:
    """Return where each path of a TOML text stands: a key by its first mention, an element by its
    beginning.

    The text must be one that `tomllib` accepts.
    """  # noqa: D205 - one sentence
    return _Scanner(text.replace("\r\n", "\n")).document()


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


class _Scanner:
    def __init__(self, text: str) -> None:
        self._text = text
        self._ends = [-1] + [found.start() for found in re.finditer("\n", text)]
        self._last: dict[Path, int] = {}  # the number of the newest table of each array of tables
        self._found: dict[Path, Spot] = {}

    def document(self) -> dict[Path, Spot]:
        at, table = 0, Path()
        while (at := self._skip(at)) < len(self._text):
            if self._text.startswith("[[", at):
                at, table = self._key(at + 2, (), opens=True)
                at += 2
            elif self._text[at] == "[":
                at, table = self._key(at + 1, ())
                at += 1
            else:
                at, path = self._key(at, table)
                at = self._value(at + 1, path)
        return self._found

    def _key(self, at: int, path: Path, *, opens: bool = False) -> tuple[int, Path]:
        """Read a dotted key; it ends before `=` or `]`. `opens`: it begins a table of an array."""
        while True:
            at = self._skip(at)
            end = self._end(_KEY, at)
            path = (*path, _plain(self._text[at:end]))
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
            return after, path

    def _value(self, at: int, path: Path) -> int:
        """Pass over a value. Not recursive: its depth is the text's choice."""
        inside: list[tuple[str, Path, int]] = []  # what closes it, its path, its next element
        while True:
            at = self._skip(at)
            if (opening := self._text[at]) in "[{":
                inside.append(("]" if opening == "[" else "}", path, 0))
                at += 1
            else:
                at = self._end(_SCALAR, at)
            while inside:
                at = self._skip(at)
                if self._text[at] == ",":
                    at = self._skip(at + 1)
                closing, outer, number = inside[-1]
                if self._text[at] != closing:
                    break
                inside.pop()
                at += 1
            else:
                return at
            if closing == "]":
                path = (*outer, number)
                inside[-1] = (closing, outer, number + 1)
                self._mark(path, at, at + 1 if self._text[at] in "[{" else self._end(_SCALAR, at))
            else:
                at, path = self._key(at, outer)
                at += 1

    def _skip(self, at: int) -> int:
        return self._end(_SPACE, at)

    def _end(self, what: re.Pattern[str], at: int) -> int:
        found = what.match(self._text, at)
        assert found, f"not TOML at character {at}"  # noqa: S101 - tomllib has accepted the text
        return found.end()

    def _mark(self, path: Path, start: int, end: int) -> None:
        if path not in self._found:
            line = bisect_left(self._ends, start)
            self._found[path] = Spot(line, start - self._ends[line - 1], end - start)


def _plain(key: str) -> str:
    if key[0] not in "\"'":
        return key
    return str(tomllib.loads(f"key = {key}")["key"])
