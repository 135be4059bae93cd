"""Lines of values in a JSON text, repeated keys and infinite numbers."""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

JsonPath = tuple[str | int, ...]

_WORD = re.compile(r'\n|"|[{}\[\],:]|[^\s{}\[\],:"]++')
# Piece by piece: to step back over a string of megabytes would take a hundred times its memory.
_PIECE_OF_STRING = re.compile(r'[^"\\]*+(\\.|")', re.DOTALL)
_BARE = re.compile(r"[\w.*-]+")
_SPACE_BEFORE_COLON = re.compile(rb'"[ \t\r\n]+:')
_DIGITS = bytes.maketrans(b"123456789", b"0" * 9)
_LONG_NUMBER = b"0" * 309  # the largest float has as many digits
_CONTAINERS = {dict, list}
_NAMED = 100


@dataclass(slots=True)
class _Container:
    """An object or an array: the line that it begins on, and what is in it."""

    line: int
    inside: "dict[str | int, _Container | int]" = field(default_factory=dict)


@dataclass
class Places:
    """The line of each value by its path (an object's member: the line of its key)."""

    top: "_Container | int" = 1
    twice: list[JsonPath] = field(default_factory=list)
    "First hundred keys that occur twice in their object."
    infinite: list[JsonPath] = field(default_factory=list)
    "First hundred numbers beyond what a computer can hold, such as 1e999."

    def line(self, path: JsonPath) -> int:
        """Return the line of a value, or of the nearest value around it."""
        return self._nearest(path)[1]

    def has(self, path: JsonPath) -> bool:
        """Return True if there is a value at this path."""
        return self._nearest(path)[0] == len(path)

    def _nearest(self, path: JsonPath) -> tuple[int, int]:
        """Return how much of a path there is, and its line."""
        container = self.top
        for depth, step in enumerate(path):
            if isinstance(container, int) or step not in container.inside:
                return depth, _line(container)
            container = container.inside[step]
        return len(path), _line(container)


def _line(container: "_Container | int") -> int:
    return container if isinstance(container, int) else container.line


def hides(raw: bytes, value: dict[str, Any]) -> bool:
    """Return True if a text may hold a key twice, or infinity; False is certain."""
    if _LONG_NUMBER in raw.translate(_DIGITS) or _SPACE_BEFORE_COLON.search(raw):
        return True
    keys = 0
    pending: list[Any] = [value]
    while pending:
        inner = pending.pop()
        keys += len(inner) if isinstance(inner, dict) else 0
        values = inner.values() if isinstance(inner, dict) else inner
        if math.inf in values or -math.inf in values:
            return True
        pending += [value for value in values if type(value) in _CONTAINERS]
    return keys != raw.count(b'":')


def places(text: str) -> Places:
    """Scan a text that is known to be JSON. It keeps a stack of its own: depth does no harm."""
    scanned = Places()
    outer = _Container(1)
    around: list[_Container] = [outer]
    steps: list[str | int] = [0]  # in each open container: the key or the number of its member
    awaits_key = False
    for line, word in _words(text):
        if word in "}]":
            around.pop()
            steps.pop()
            awaits_key = False
        elif word == ",":
            awaits_key = isinstance(steps[-1], str)
            if isinstance(number := steps[-1], int):
                steps[-1] = number + 1
        elif awaits_key and word != ":":
            steps[-1] = json.loads(word)
            awaits_key = False
            if steps[-1] in around[-1].inside and len(scanned.twice) < _NAMED:
                scanned.twice.append(tuple(steps[1:]))
            around[-1].inside[steps[-1]] = line
        elif word != ":":
            line_or_container = around[-1].inside.setdefault(steps[-1], line)
            if word in "{[":
                opened = _Container(_line(line_or_container))
                around[-1].inside[steps[-1]] = opened
                around.append(opened)
                steps.append("" if word == "{" else 0)
                awaits_key = word == "{"
            elif (
                word[0] in "-0123456789"
                and len(scanned.infinite) < _NAMED
                and math.isinf(float(word))
            ):
                scanned.infinite.append(tuple(steps[1:]))
    scanned.top = outer.inside.get(0, 1)
    return scanned


def dotted(path: JsonPath) -> str:
    """Return a path as people write it: reading.latency.counts.17."""
    return ".".join(
        key if isinstance(key, str) and _BARE.fullmatch(key) else json.dumps(key) for key in path
    )


def _words(text: str) -> Iterator[tuple[int, str]]:
    line, position = 1, 0
    while match := _WORD.search(text, position):
        position = match.end()
        if match[0] == "\n":
            line += 1
            continue
        if match[0] == '"':  # where the string ends
            while (piece := _PIECE_OF_STRING.match(text, position)) and piece[1] != '"':
                position = piece.end()
            position = piece.end() if piece else position
        yield line, text[match.start() : position]
