"""A suite's file: bytes to tables, with the place of each value."""

import os
import re
import stat
import tomllib
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path as File
from typing import NoReturn

from benchforge.suite.secrets.redact import hiding, masked
from benchforge.suite.toml.built_in import names_like
from benchforge.suite.toml.document import Document
from benchforge.suite.toml.faults import SuiteErrors, SuiteFault
from benchforge.suite.toml.located import excerpt, located
from benchforge.suite.toml.plain import NotFinite, plain
from benchforge.suite.toml.positions import Lost, Path, Spot, SuiteRefused, positions
from benchforge.suite.toml.syntax import explained

_DIGITS = re.compile(r"[\d_]{4300}")
_MOST = 4 * 1024 * 1024  # bytes; a suite of ten thousand servers has less

# `check` reads a suite again for each profile.
_loads, _positions = lru_cache(maxsize=1)(tomllib.loads), lru_cache(maxsize=1)(positions)


def read(path: str | os.PathLike[str]) -> Document:
    """Read a suite's file. Raises SuiteErrors when it cannot be read or is not TOML."""
    shown = os.fspath(path)
    return parsed(shown, _text(shown, _bytes(shown)))


def parsed(shown: str, text: str) -> Document:
    """Read a suite's text, which errors call as it is `shown`. Raises SuiteErrors as `read`."""
    spots = _spots(shown, text)
    try:
        tables = _loads(text)
    except tomllib.TOMLDecodeError as error:
        _refuse(shown, text, *explained(text, str(error)))
    except ValueError:
        match = _DIGITS.search(text)  # Python reads no longer ones
        before = text[: match.start()] if match else ""
        _refuse(shown, text, _spot(before), "a number of thousands of digits", "write it shorter")
    assert spots is not None, "the scanner passes whatever tomllib reads"  # noqa: S101
    try:
        values = {key: plain(value, (key,)) for key, value in tables.items()}
    except NotFinite as error:
        document = Document(shown, text, tables, {**spots})
        fault = located(document, error.path, str(error), hide=hiding(tables))
        raise SuiteErrors([fault]) from None
    return Document(shown, text, values, {**spots})


def _spots(shown: str, text: str) -> dict[Path, Spot] | None:
    """Return where everything stands; None for a text that is no TOML, as tomllib will tell."""
    try:
        return _positions(text)
    except Lost:
        return None
    except SuiteRefused as refused:
        _refuse(shown, text, refused.spot, refused.message, refused.hint)


def _bytes(shown: str) -> bytes:
    path = File(shown)
    if re.search("[\ud800-\udfff]", str(path.absolute())):  # a result says which suite it is of
        hint = "rename the file, or the folder that it is in"
        raise SuiteErrors([SuiteFault(shown, "its path is not UTF-8", hint=hint)])
    try:
        if not stat.S_ISREG(mode := path.stat().st_mode) and not stat.S_ISDIR(mode):
            hint = "write it to a file: relative paths in a suite start at its folder"
            raise SuiteErrors([SuiteFault(shown, "a pipe or a device, not a file", hint=hint)])
        with path.open("rb") as file:
            content = file.read(_MOST + 1)
    except FileNotFoundError:
        near = get_close_matches(path.name, _suites(path.parent), 1)
        hint = f"did you mean '{path.with_name(near[0])}'?" if near else names_like(path)
        raise SuiteErrors([SuiteFault(shown, "no such file", hint=hint)]) from None
    except IsADirectoryError:
        raise SuiteErrors(
            [SuiteFault(shown, "a folder, not a suite", hint=_choose(path))]
        ) from None
    except (OSError, ValueError) as error:  # ValueError: NUL in a path
        reason = error.strerror if isinstance(error, OSError) else error
        raise SuiteErrors([SuiteFault(shown, f"cannot be read: {reason}")]) from None
    if len(content) > _MOST:
        message = f"more than {_MOST // 1024**2} MiB, too large for a suite"
        raise SuiteErrors([SuiteFault(shown, message, hint="name the suite, not a result")])
    return content


def _suites(folder: File) -> list[str]:
    try:
        return sorted(path.name for path in folder.iterdir() if path.suffix == ".toml")
    except OSError:
        return []


def _choose(folder: File) -> str:
    suites = _suites(folder)
    return f"give one suite, such as {folder / suites[0]}" if suites else "it contains no suite"


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
        _refuse(shown, text, spot, "a NUL byte", "a suite is a text file in UTF-8")
    return text


def _spot(before: str) -> Spot:
    """Return the place behind a text."""
    return Spot(before.count("\n") + 1, len(before) - before.rfind("\n"), 1)


def _refuse(shown: str, text: str, spot: Spot, message: str, hint: str = "") -> NoReturn:
    where = f"{shown}:{spot.line}:{spot.column}"
    number = spot.line - 1
    line, public = (form.split("\n")[number].rstrip("\r") for form in (text, masked(text)))
    place = slice(spot.column - 1, spot.column - 1 + spot.width)
    if line[place] != public[place]:  # what a hint quotes is part of a secret
        hint = re.sub('"[^"]+"', '"..."', hint)
    raise SuiteErrors([SuiteFault(where, message, excerpt(public, spot), hint)]) from None
