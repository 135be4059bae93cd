"""A fault of a suite, at the place where its value was written, which is underlined."""

import unicodedata
from collections.abc import Callable

from benchforge.suite.toml.document import Document, Setting
from benchforge.suite.toml.faults import Hint, SuiteFault
from benchforge.suite.toml.positions import Path, Spot, dotted

_ROOM = 100  # characters of a line that are shown
_BEFORE = 60  # of them, before the place, where a line is longer


def located(
    document: Document,
    path: Path,
    message: str,
    hint: Hint = "",
    *,
    hide: Callable[[str], str] = str,
) -> SuiteFault:
    """Return a fault of the value at a path: with file, line and column, or as --set gave it.

    `hide` takes out what nobody is to see.
    """
    origin = document.origin(path)
    sentence = f"{dotted(path)}: {message}" if path else message
    if isinstance(origin, Setting):
        sentence = message if path == origin.path else sentence
        return SuiteFault(hide(origin.shown), hide(sentence), hint=hide(str(hint)))
    if origin is None:
        return SuiteFault(document.shown, hide(sentence), hint=hide(str(hint)))
    where = f"{document.shown}:{origin.line}:{origin.column}"
    shown = excerpt(document.line(origin.line), origin, hide)
    return SuiteFault(where, hide(sentence), shown, hide(str(hint)))


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
