"""Faults of a text that is not TOML: words of ours for the commonest, of tomllib for the others."""

import contextlib
import re
from collections.abc import Callable
from typing import NamedTuple

from benchforge.suite.toml.positions import Lost, Path, Scanner, Spot, SuiteRefused, dotted
from benchforge.text.readable import cut

_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_SHOWN = 40  # characters of what was written
_CLOSE = {"[": "]", "{": "}"}
_WORDS = {"yes": "true", "no": "false", "on": "true", "off": "false"}
_NO_VALUES = {"null", "none", "nil", "undefined"}


class SyntaxFault(NamedTuple):
    """Where, what, and what to do."""

    spot: Spot
    message: str
    hint: str = ""


class _Error:
    """What tomllib found: where it stopped, and what stands around."""

    def __init__(self, text: str, message: str) -> None:
        self.text = text.replace("\r\n", "\n")
        self.reason = _PLACE.sub("", message)
        self.at = self._offset(message)
        self.scanner = Scanner(self.text[: self.at])
        with contextlib.suppress(Lost, SuiteRefused):
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

    @property
    def key(self) -> tuple[int, Path]:
        """Where the statement begins, and what it sets or opens."""
        return self.scanner.statement

    @property
    def token(self) -> int:
        """Where what is not complete begins: a text, a value."""
        return self.scanner.at

    def fault(
        self, message: str, hint: str = "", *, at: int | None = None, width: int = 1
    ) -> SyntaxFault:
        start = self.at if at is None else at
        return SyntaxFault(self.scanner.spot(start, start + width), message, hint)


def explained(text: str, message: str) -> SyntaxFault:
    """Return what is wrong with a text of which `tomllib` said why it is no TOML."""
    error = _Error(text, message)
    for begins, explain in _REASONS.items():
        if error.reason.startswith(begins) and (fault := explain(error)):
            return fault
    return error.fault(f"not TOML: {error.reason[:1].lower()}{error.reason[1:]}")


def _key(error: _Error) -> SyntaxFault | None:
    if not error.rest.startswith("*"):
        return None
    hint = 'put a star in quotes: servers."*".workers; in vary the whole path does'
    return error.fault("not TOML: '*' in a key without quotes", hint)


def _no_equals(error: _Error) -> SyntaxFault | None:
    if error.rest.startswith(":"):
        return error.fault("not TOML: a ':' after a key", "write = instead")
    return None


def _no_value(error: _Error) -> SyntaxFault | None:
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


def _after_value(error: _Error) -> SyntaxFault | None:
    """Return the fault of a quantity without quotes, such as 10s."""
    start = max(error.text.rfind("\n", 0, error.at), error.text.rfind("=", 0, error.at)) + 1
    value = error.text[start : error.at].lstrip() + _word(error.rest)
    if not re.fullmatch(r"[\d.+-]+[a-zA-Z%/µ][\w.:+/%µ-]*", value):
        return None
    begins = error.at + len(_word(error.rest)) - len(value)
    message = "not TOML: neither a number nor text"
    return error.fault(message, _quoted(value), at=begins, width=len(value))


def _unclosed(error: _Error) -> SyntaxFault:
    opening = error.scanner.unclosed[-1] if error.scanner.unclosed else error.at
    what = "an array" if error.text[opening] == "[" else "an inline table"
    begins = r"[\w\"'\[{+-]" if what == "an array" else r"[\w\"'.-]+\s*="
    if re.match(begins, error.rest) and "\n" not in error.text[opening : error.at]:
        return error.fault(f"not TOML: a comma is missing in {what}", "write one before this value")
    close = _CLOSE.get(error.text[opening : opening + 1], "]")
    return error.fault(f"not TOML: {what} is not closed", f"a {close} is missing", at=opening)


def _unended(error: _Error) -> SyntaxFault:
    quote = error.text[error.token : error.token + 1] or '"'
    quotes = quote * (3 if error.text.startswith(quote * 3, error.token) else 1)
    hint = f"a {quotes} is missing at its end" + (
        "" if len(quotes) > 1 else f"; write a text of several lines in {quote * 3}"
    )
    return error.fault("not TOML: a text is not closed", hint, at=error.token, width=len(quotes))


def _twice(error: _Error) -> SyntaxFault:
    begins, path = error.key
    written = re.compile(r"\[*\s*([^\]=\n]*[^\]=\s])").match(error.text, begins)
    start, end = written.span(1) if written else (begins, begins + 1)
    repeated = error.scanner.spot(start, end)
    before = [path[:length] for length in range(len(path), 0, -1)]
    earlier = (prefix for prefix in before if error.scanner.spots[prefix].line < repeated.line)
    standing = next(earlier, path)
    above, name, which = error.scanner.spots[standing], dotted(path), dotted(standing)
    if standing == path:
        hint = "leave one out, or rename one"
        return SyntaxFault(repeated, f"not TOML: {name} stands on line {above.line} already", hint)
    message = f"not TOML: {name} cannot be added: {which} is complete on line {above.line}"
    return SyntaxFault(repeated, message, "write all of it in one place")


def _word(text: str) -> str:
    """Return what a line begins with, up to a space or to what closes a value."""
    return (re.match(r"[^\s,\]}#=]*", text) or [""])[0]


def _quoted(text: str) -> str:
    return f'put text in quotes: "{cut(text, _SHOWN)}"'


_REASONS: dict[str, Callable[[_Error], SyntaxFault | None]] = {
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
