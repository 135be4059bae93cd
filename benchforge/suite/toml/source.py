"""A suite's file: bytes to tables, with the place of each value; and all faults of a reading."""

import contextlib
import os
import re
import stat
import tomllib
import unicodedata
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path as File
from typing import NoReturn, TypeVar

from benchforge.suite.secrets import hiding, masked
from benchforge.suite.toml.built_in import names_like
from benchforge.suite.toml.document import Document, NotFinite, Setting, plain
from benchforge.suite.toml.faults import SHOWN, Checked, Fault, Hint, SuiteErrors, SuiteFault
from benchforge.suite.toml.positions import Lost, Path, Refused, Scanner, Spot, dotted, positions
from benchforge.text.readable import cut

_DIGITS = re.compile(r"[\d_]{4300}")
_MOST = 4 * 1024 * 1024  # bytes; a suite of ten thousand servers has less

# `check` reads a suite again for each profile.
_loads, _positions = lru_cache(maxsize=1)(tomllib.loads), lru_cache(maxsize=1)(positions)

_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_SHOWN = 40  # characters of what was written
_CLOSE = {"[": "]", "{": "}"}
_WORDS = {"yes": "true", "no": "false", "on": "true", "off": "false"}
_NO_VALUES = {"null", "none", "nil", "undefined"}


def read(path: str | os.PathLike[str]) -> Document:
    """Read a suite's file. Raises SuiteErrors when it cannot be read or is not TOML."""
    name = os.fspath(path)
    return parsed(name, _text(name, _bytes(name)))


def parsed(name: str, text: str) -> Document:
    """Read a suite's text, which errors call by its `name`. Raises SuiteErrors as `read`."""
    try:
        spots: dict[Path, Spot] | None = _positions(text)
    except Lost:  # it is no TOML, as tomllib will tell
        spots = None
    except Refused as newer:
        _refuse(name, text, newer.spot, newer.message, newer.hint)
    try:
        tables = _loads(text)
    except tomllib.TOMLDecodeError as error:
        refused = explained(text, str(error))
        _refuse(name, text, refused.spot, refused.message, refused.hint)
    except ValueError:
        match = _DIGITS.search(text)  # Python reads no longer ones
        head = text[: match.start()] if match else ""
        _refuse(name, text, _spot(head), "a number of thousands of digits", "write it shorter")
    assert spots is not None, "the scanner passes whatever tomllib reads"  # noqa: S101
    try:
        values = {key: plain(value, (key,)) for key, value in tables.items()}
    except NotFinite as error:
        document = Document(name, text, tables, {**spots})
        fault = located(document, error.path, str(error), hide=hiding(tables))
        raise SuiteErrors([fault]) from None
    return Document(name, text, values, {**spots})


def _bytes(name: str) -> bytes:
    path = File(name)
    if re.search("[\ud800-\udfff]", str(path.absolute())):  # a result says which suite it is of
        hint = "rename the file, or the folder that it is in"
        raise SuiteErrors([SuiteFault(name, "its path is not UTF-8", hint=hint)])
    try:
        if not stat.S_ISREG(mode := path.stat().st_mode) and not stat.S_ISDIR(mode):
            hint = "write it to a file: relative paths in a suite start at its folder"
            raise SuiteErrors([SuiteFault(name, "a pipe or a device, not a file", hint=hint)])
        with path.open("rb") as file:
            content = file.read(_MOST + 1)
    except FileNotFoundError:
        near = get_close_matches(path.name, _suites(path.parent), 1)
        hint = f"did you mean '{path.with_name(near[0])}'?" if near else names_like(path)
        raise SuiteErrors([SuiteFault(name, "no such file", hint=hint)]) from None
    except IsADirectoryError:
        suites = _suites(path)
        hint = f"give one suite, such as {path / suites[0]}" if suites else "it contains no suite"
        raise SuiteErrors([SuiteFault(name, "a folder, not a suite", hint=hint)]) from None
    except (OSError, ValueError) as error:  # ValueError: NUL in a path
        reason = error.strerror if isinstance(error, OSError) else error
        raise SuiteErrors([SuiteFault(name, f"cannot be read: {reason}")]) from None
    if len(content) > _MOST:
        message = f"more than {_MOST // 1024**2} MiB, too large for a suite"
        raise SuiteErrors([SuiteFault(name, message, hint="name the suite, not a result")])
    return content


def _suites(folder: File) -> list[str]:
    try:
        return sorted(path.name for path in folder.iterdir() if path.suffix == ".toml")
    except OSError:
        return []


def _text(name: str, content: bytes) -> str:
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        text_before = content[: error.start].decode()
        text = content.decode(errors="replace")
        byte = f"0x{content[error.start]:02x}"
        _refuse(name, text, _spot(text_before), f"not UTF-8: byte {byte}", "save the file as UTF-8")
    if text.startswith("\N{BYTE ORDER MARK}"):
        message = "the file begins with a byte order mark"
        _refuse(name, text[1:], Spot(1, 1, 1), message, "save it as UTF-8 without one")
    if "\0" in text:
        spot = _spot(text.partition("\0")[0])
        _refuse(name, text, spot, "a NUL byte", "a suite is a text file in UTF-8")
    return text


def _spot(text_before: str) -> Spot:
    return Spot(text_before.count("\n") + 1, len(text_before) - text_before.rfind("\n"), 1)


def _refuse(name: str, text: str, spot: Spot, message: str, hint: str = "") -> NoReturn:
    where = f"{name}:{spot.line}:{spot.column}"
    number = spot.line - 1
    line, public = (form.split("\n")[number].rstrip("\r") for form in (text, masked(text)))
    columns = slice(spot.column - 1, spot.column - 1 + spot.width)
    if line[columns] != public[columns]:  # what a hint quotes is part of a secret
        hint = re.sub('"[^"]+"', '"..."', hint)
    raise SuiteErrors([SuiteFault(where, message, excerpt(public, spot), hint)]) from None


class _Error:
    """What tomllib found: where it stopped, and what stands around."""

    def __init__(self, text: str, message: str) -> None:
        self.text = text.replace("\r\n", "\n")
        self.reason = _PLACE.sub("", message)
        self.at = self._offset(message)
        self.scanner = Scanner(self.text[: self.at])
        with contextlib.suppress(Lost, Refused):
            self.scanner.document()
        end = self.text.find("\n", self.at)
        self.rest = self.text[self.at : end if end >= 0 else None]
        "Of the line."

    def _offset(self, message: str) -> int:
        match = _PLACE.search(message)
        if match is None or match[1] is None:
            return len(self.text)
        lines = self.text.split("\n")[: int(match[1]) - 1]
        return sum(map(len, lines)) + len(lines) + int(match[2]) - 1

    def fault(
        self, message: str, hint: str = "", *, start: int | None = None, width: int = 1
    ) -> Refused:
        start = self.at if start is None else start
        return Refused(self.scanner.spot(start, start + width), message, hint)


def explained(text: str, message: str) -> Refused:
    """Return what is wrong with a text of which `tomllib` said why it is no TOML."""
    error = _Error(text, message)
    for begins, explain in _REASONS.items():
        if error.reason.startswith(begins) and (fault := explain(error)):
            return fault
    return error.fault(f"not TOML: {error.reason[:1].lower()}{error.reason[1:]}")


def _key(error: _Error) -> Refused | None:
    if not error.rest.startswith("*"):
        return None
    hint = 'put a star in quotes: servers."*".workers; in vary the whole path does'
    return error.fault("not TOML: '*' in a key without quotes", hint)


def _no_equals(error: _Error) -> Refused | None:
    colon = error.rest.startswith(":")
    return error.fault("not TOML: a ':' after a key", "write = instead") if colon else None


def _no_value(error: _Error) -> Refused | None:
    word = _word(error.rest)
    if not error.rest.strip() or error.rest.startswith("#"):
        if error.scanner.unclosed:
            return _unclosed(error)
        return error.fault("not TOML: a value is missing", 'put text in quotes: "..."')
    for hint, fits in (
        (f"write {word.lower()}", word.lower() in {"true", "false", "inf", "nan"}),
        (f"write {_WORDS.get(word.lower())}", word.lower() in _WORDS),
        ("TOML has no such value: leave the key out", word.lower() in _NO_VALUES),
        (f'from the environment: {{ env = "{word.strip("${}")}" }}', word.startswith("$")),
        (_quoted(word), bool(re.match(r"[\w./~<-]", word))),
    ):
        if fits:
            return error.fault("not TOML: no value", hint, width=len(word))
    return None


def _after_value(error: _Error) -> Refused | None:
    start = max(error.text.rfind("\n", 0, error.at), error.text.rfind("=", 0, error.at)) + 1
    value = error.text[start : error.at].lstrip() + _word(error.rest)
    if not re.fullmatch(r"[\d.+-]+[a-zA-Z%/µ][\w.:+/%µ-]*", value):
        return None
    begins = error.at + len(_word(error.rest)) - len(value)
    message = "not TOML: neither a number nor text"
    return error.fault(message, _quoted(value), start=begins, width=len(value))


def _unclosed(error: _Error) -> Refused:
    opening = error.scanner.unclosed[-1] if error.scanner.unclosed else error.at
    kind = "an array" if error.text[opening] == "[" else "an inline table"
    begins = r"[\w\"'\[{+-]" if kind == "an array" else r"[\w\"'.-]+\s*="
    if re.match(begins, error.rest) and "\n" not in error.text[opening : error.at]:
        return error.fault(f"not TOML: a comma is missing in {kind}", "write one before this value")
    close = _CLOSE.get(error.text[opening : opening + 1], "]")
    return error.fault(f"not TOML: {kind} is not closed", f"a {close} is missing", start=opening)


def _unended(error: _Error) -> Refused:
    start = error.scanner.at
    quote = error.text[start : start + 1] or '"'
    quotes = quote * (3 if error.text.startswith(quote * 3, start) else 1)
    several = "" if len(quotes) > 1 else f"; write a text of several lines in {quote * 3}"
    hint = f"a {quotes} is missing at its end{several}"
    return error.fault("not TOML: a text is not closed", hint, start=start, width=len(quotes))


def _twice(error: _Error) -> Refused:
    begins, path = error.scanner.statement
    written = re.compile(r"\[*\s*([^\]=\n]*[^\]=\s])").match(error.text, begins)
    start, end = written.span(1) if written else (begins, begins + 1)
    repeated = error.scanner.spot(start, end)
    prefixes = [path[:length] for length in range(len(path), 0, -1)]
    earlier = (prefix for prefix in prefixes if error.scanner.spots[prefix].line < repeated.line)
    standing = next(earlier, path)
    first, name, which = error.scanner.spots[standing], dotted(path), dotted(standing)
    if standing == path:
        hint = "leave one out, or rename one"
        return Refused(repeated, f"not TOML: {name} stands on line {first.line} already", hint)
    message = f"not TOML: {name} cannot be added: {which} is complete on line {first.line}"
    return Refused(repeated, message, "write all of it in one place")


def _word(text: str) -> str:
    """Return what a line begins with, up to a space or to what closes a value."""
    return (re.match(r"[^\s,\]}#=]*", text) or [""])[0]


def _quoted(text: str) -> str:
    return f'put text in quotes: "{cut(text, _SHOWN)}"'


_REASONS: dict[str, Callable[[_Error], Refused | None]] = {
    "Invalid statement": _key,
    "Invalid initial character for a key": _key,
    "Expected '=' after a key": _no_equals,
    "Invalid value": _no_value,
    "Expected newline or end of document": _after_value,
    "Unclosed": _unclosed,
    r"Illegal character '\n'": _unended,
    "Unterminated string": _unended,
    'Expected "\'"': _unended,
    "Expected \"'''\"": _unended,
    "Cannot": _twice,
}


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
