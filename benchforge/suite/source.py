"""A suite's file: bytes to tables, with the place of each value."""

import os
import re
import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import NoReturn

from benchforge.suite.document import Document
from benchforge.suite.excerpt import excerpt
from benchforge.suite.faults import Fault, SuiteErrors
from benchforge.suite.plain import NotFinite, plain
from benchforge.suite.positions import Spot, dotted, positions

_DEEPEST = 50  # tables in tables; everything behind this walks them recursively


def read(path: str | os.PathLike[str]) -> Document:
    """Read a suite's file. Raises SuiteErrors when it cannot be read or is not TOML."""
    shown = os.fspath(path)
    text = _text(shown, _bytes(shown))
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        _refuse(shown, text, _place(text, str(error)), _reason(str(error)))
    except RecursionError:
        _refuse(shown, text, None, "arrays or tables are nested too deeply")
    except ValueError as error:  # a number of thousands of digits
        _refuse(shown, text, None, f"a value cannot be read: {error}")
    spots = positions(text)
    deepest = max(spots, key=len, default=())
    if len(deepest) > _DEEPEST:
        _refuse(shown, text, spots[deepest], f"nested more than {_DEEPEST} levels deep")
    try:
        values = {key: plain(value, (key,)) for key, value in tables.items()}
    except NotFinite as error:
        _refuse(shown, text, spots[error.path], f"{dotted(error.path)}: {error}")
    return Document(shown, text, values, {**spots})


def _bytes(shown: str) -> bytes:
    path = Path(shown)
    try:
        return path.read_bytes()
    except FileNotFoundError:
        near = get_close_matches(path.name, _suites(path.parent), 1)
        hint = f"did you mean '{path.with_name(near[0])}'?" if near else ""
        raise SuiteErrors([Fault(shown, "no such file", hint=hint)]) from None
    except IsADirectoryError:
        raise SuiteErrors([Fault(shown, "a folder, not a suite", hint=_choose(path))]) from None
    except (OSError, ValueError) as error:  # ValueError: NUL in a path
        reason = error.strerror if isinstance(error, OSError) else error
        raise SuiteErrors([Fault(shown, f"cannot be read: {reason}")]) from None


def _suites(folder: Path) -> list[str]:
    try:
        return sorted(path.name for path in folder.iterdir() if path.suffix == ".toml")
    except OSError:
        return []


def _choose(folder: Path) -> str:
    suites = _suites(folder)
    return f"give one suite, such as {folder / suites[0]}" if suites else "it holds no suite"


def _text(shown: str, content: bytes) -> str:
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        before = content[: error.start].decode()
        text = content.decode(errors="replace")
        byte = f"0x{content[error.start]:02x}"
        _refuse(shown, text, _spot(before), f"not UTF-8: byte {byte}", "save the file as UTF-8")
    if text.startswith("\N{BYTE ORDER MARK}"):
        message = "the file begins with a byte order mark"
        _refuse(shown, text[1:], Spot(1, 1, 1), message, "save it as UTF-8 without one")
    if "\0" in text:
        spot = _spot(text.partition("\0")[0])
        _refuse(shown, text, spot, "a NUL byte", "a suite is a text file")
    return text


def _spot(before: str) -> Spot:
    """Return the place behind a text."""
    return Spot(before.count("\n") + 1, len(before) - before.rfind("\n"), 1)


def _place(text: str, message: str) -> Spot:
    if found := re.search(r"\(at line (\d+), column (\d+)\)$", message):
        return Spot(int(found[1]), int(found[2]), 1)
    return _spot(text.rstrip("\n"))  # at the end of the document


def _reason(message: str) -> str:
    reason = message.partition(" (at ")[0]
    return f"not TOML: {reason[:1].lower()}{reason[1:]}"


def _refuse(shown: str, text: str, spot: Spot | None, message: str, hint: str = "") -> NoReturn:
    if spot is None:
        raise SuiteErrors([Fault(shown, message, hint=hint)]) from None
    where = f"{shown}:{spot.line}:{spot.column}"
    raise SuiteErrors([Fault(where, message, excerpt(text, spot), hint)]) from None
