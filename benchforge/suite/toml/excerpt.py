"""The line that an error speaks of, with its place underlined."""

import unicodedata
from collections.abc import Callable

from benchforge.suite.toml.positions import Spot

_ROOM = 100  # characters of a line that are shown
_BEFORE = 60  # of them, before the place, where a line is longer


def excerpt(line: str, spot: Spot, hide: Callable[[str], str] = str) -> str:
    """Return two lines: the source line under its number, and carets under the place.

    `hide` takes out what nobody is to see; no secret begins or ends within a place.
    """
    before, after = line[: spot.column - 1], line[spot.column - 1 + spot.width :]
    marked = hide(line[len(before) : len(before) + spot.width])
    before, after = hide(before), hide(after)
    line, start, width = before + marked + after, len(before), max(1, len(marked))
    if len(line) > _ROOM:
        left = max(0, min(start - _BEFORE, len(line) - _ROOM))
        right = left + _ROOM
        width = min(width, right - start)
        start += (1 if left else 0) - left
        line = ("…" if left else "") + line[left:right] + ("…" if right < len(line) else "")
    shown = "".join(char if char.isprintable() or char == "\t" else "\ufffd" for char in line)
    pad = "".join(char if char == "\t" else " " * _columns(char) for char in shown[:start])
    carets = "^" * max(1, sum(map(_columns, shown[start : start + width])))
    return f"{spot.line:>5} | {shown}\n      | {pad}{carets}"


def _columns(char: str) -> int:
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
