"""Where each value stands in a JSON text, and what no parser tells: twice-given keys, infinity."""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

JsonPath = tuple[str | int, ...]

_WORD = re.compile(r'\n|"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_PLAIN = re.compile(r"[\w.*-]+")


@dataclass
class Places:
    """The line of each value by its path (an object's member: the line of its key)."""

    lines: dict[JsonPath, int] = field(default_factory=dict)
    twice: list[JsonPath] = field(default_factory=list)
    "Keys that their object has already had."
    infinite: list[JsonPath] = field(default_factory=list)
    "Numbers beyond what a computer can hold, such as 1e999."

    def line(self, path: JsonPath) -> int:
        """Return the line of a value, or of the nearest thing around it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)


def places(text: str) -> Places:
    """Scan a text that is known to be JSON. It keeps a stack of its own: depth does no harm."""
    found = Places()
    around: list[str | int] = []  # in each open container: the key or the number of its member
    awaits_key = False
    for line, word in _words(text):
        if word in "}]":
            around.pop()
            awaits_key = False
        elif word == ",":
            awaits_key = isinstance(around[-1], str)
            if isinstance(number := around[-1], int):
                around[-1] = number + 1
        elif awaits_key and word != ":":
            around[-1] = json.loads(word)
            awaits_key = False
            path = tuple(around)
            if path in found.lines:
                found.twice.append(path)
            found.lines[path] = line
        elif word != ":":
            path = tuple(around)
            found.lines.setdefault(path, line)
            if word in "{[":
                around.append("" if word == "{" else 0)
                awaits_key = word == "{"
            elif word[0] in "-0123456789" and math.isinf(float(word)):
                found.infinite.append(path)
    return found


def dotted(path: JsonPath) -> str:
    """Return a path as people write it: reading.latency.counts.17."""
    return ".".join(
        step if isinstance(step, str) and _PLAIN.fullmatch(step) else json.dumps(step)
        for step in path
    )


def _words(text: str) -> Iterator[tuple[int, str]]:
    line = 1
    for found in _WORD.finditer(text):
        if found[0] == "\n":
            line += 1
        else:
            yield line, found[0]
