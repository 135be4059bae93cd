"""The end of a reading: what it returns, or all of its faults together."""

import unicodedata
from collections.abc import Callable, Iterable
from typing import TypeVar

from benchforge.suite.secrets import hiding
from benchforge.suite.toml.document import Document, Setting
from benchforge.suite.toml.faults import SHOWN, Checked, Fault, Hint, SuiteErrors, SuiteFault
from benchforge.suite.toml.positions import Path, Spot, dotted

_ROOM = 100  # characters of a line that are shown
_BEFORE = 60  # of them, before the place, where a line is longer

T = TypeVar("T")

_Order = tuple[int, ...]
"What is in the file by line and column, then --set, then other options of the command line."
_Identity = tuple[_Order, Path | str, str]


def located(
    document: Document, path: Path, message: str, hint: Hint = "", hide: Callable[[str], str] = str
) -> SuiteFault:
    """Return a fault of the value at a path, with its place; `hide` takes secrets out."""
    origin = document.origin(path)
    sentence = f"{dotted(path)}: {message}" if path else message
    if isinstance(origin, Setting):
        sentence = message if path == origin.path else sentence
        return SuiteFault(hide(origin.shown), hide(sentence), hint=hide(str(hint)))
    if origin is None:
        return SuiteFault(document.shown, hide(sentence), hint=hide(str(hint)))
    where = f"{document.shown}:{origin.line}:{origin.column}"
    shown_line = excerpt(document.line(origin.line), origin, hide)
    return SuiteFault(where, hide(sentence), shown_line, hide(str(hint)))


def excerpt(line: str, spot: Spot, hide: Callable[[str], str] = str) -> str:
    """Return two lines: the source line under its number, and carets under the place."""
    earlier, later = line[: spot.column - 1], line[spot.column - 1 + spot.width :]
    marked = hide(line[len(earlier) : len(earlier) + spot.width])
    earlier, later = hide(earlier), hide(later)
    line, start, width = earlier + marked + later, len(earlier), max(1, len(marked))
    if len(line) > _ROOM:
        first = max(0, min(start - _BEFORE, len(line) - _ROOM))
        right = first + _ROOM
        width = min(width, right - start)
        start += (1 if first else 0) - first
        line = ("…" if first else "") + line[first:right] + ("…" if right < len(line) else "")
    printable = "".join(char if char.isprintable() or char == "\t" else "\ufffd" for char in line)
    pad = "".join(char if char == "\t" else " " * _columns(char) for char in printable[:start])
    carets = "^" * max(1, sum(map(_columns, printable[start : start + width])))
    return f"{spot.line:>5} | {printable}\n      | {pad}{carets}"


def _columns(char: str) -> int:
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def sound(reading: Checked[T], document: Document, environment: Iterable[str] = ()) -> T:
    """Return what a reading returns. Raises SuiteErrors with the faults that it yields.

    They have the order of the file, and neither its secrets nor those of the `environment`.
    """
    faults: list[Fault] = []
    while True:
        try:
            faults.append(next(reading))
        except StopIteration as end:
            value: T = end.value
            break
    if faults:
        raise SuiteErrors(_in_order(faults, document, hiding(document.tables, environment)))
    return value


def _in_order(
    faults: Iterable[Fault], document: Document, hide: Callable[[str], str]
) -> list[SuiteFault]:
    """Return faults as they are printed; those that are not have no excerpt."""
    ordered = sorted(_distinct(faults, document).items(), key=lambda pair: pair[0][0])
    return [_written_out(fault, document, hide) for _, fault in ordered[:SHOWN]] + [
        SuiteFault(":".join([document.shown, *map(str, order[1:])]), fault.message)
        for (order, _, _), fault in ordered[SHOWN:]
    ]


def _distinct(faults: Iterable[Fault], document: Document) -> dict[_Identity, Fault]:
    """Return each fault once; a value that was written for several labels is wrong once."""
    distinct: dict[_Identity, Fault] = {}
    faulty: set[Path] = set()
    for fault in faults:
        if fault.option:
            distinct.setdefault(((2,), fault.option, fault.message), fault)
        elif not (fault.of_model and fault.path in faulty):
            faulty.add(fault.path)
            written_path = document.written(fault.path)
            distinct.setdefault((_order(document, fault.path), written_path, fault.message), fault)
    return distinct


def _order(document: Document, path: Path) -> _Order:
    match document.origin(path):
        case Spot() as spot:
            return (0, spot.line, spot.column)
        case Setting():
            return (1,)
        case None:
            return (0,)


def _written_out(fault: Fault, document: Document, hide: Callable[[str], str]) -> SuiteFault:
    if fault.option:
        return SuiteFault(fault.option, fault.message, hint=fault.hint)
    return located(document, fault.path, fault.message, fault.hint, hide=hide)
