"""What is wrong with a text that is no TOML: tomllib's finding, in words that say what to do."""

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
_NOTHING = {"null", "none", "nil", "undefined"}
_OTHER = {'"': "'...', or \\\" for it", "'": '"..."'}
_CURLY = "\u201c\u201d\u201e\u201f\u2018\u2019\u201a\u201b\u00ab\u00bb`"  # quotes of typesetting


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
        if error.reason.startswith(begins):
            return explain(error)
    return error.fault(f"not TOML: {error.reason[:1].lower()}{error.reason[1:]}")


def _statement(error: _Error) -> SyntaxFault:
    if error.rest.startswith(("//", ";", "--", "/*")):
        return error.fault("not TOML: a comment begins with '#'", "write # in front of it")
    return _no_key(error)


def _no_key(error: _Error) -> SyntaxFault:
    char = error.rest[:1]
    if char == "*":
        hint = 'put a star in quotes: servers."*".workers; in vary the whole path does'
        return error.fault("not TOML: '*' in a key without quotes", hint)
    if char in {"", "]", "=", ".", ",", "}"}:
        return error.fault("not TOML: a key is missing here", "write its name")
    if char.isalpha():
        word = (re.match(r"[\w-]+", error.rest) or [char])[0]
        hint = f'write "{word}": without quotes a key has letters of ASCII, digits, "_" and "-"'
        return error.fault("not TOML: a key that needs quotes", hint, width=len(word))
    if char in _CURLY:
        return error.fault("not TOML: a curly quote", "write ' or \"")
    hint = "a line is KEY = VALUE, a [table], or a comment, which begins with '#'"
    return error.fault(f"not TOML: no key begins with {char!r}", hint)


def _no_equals(error: _Error) -> SyntaxFault:
    start = error.key[0]
    key = error.text[start : error.at].strip()
    if re.match(r"[\w.-]+\s*=", error.rest):
        hint = "put a key with spaces in quotes"
        return error.fault(f"not TOML: two words before '=': {key} {_word(error.rest)}", hint)
    if error.rest.startswith(":"):
        return error.fault("not TOML: a ':' after a key", "write = instead")
    if not error.rest.strip() or error.rest.startswith("#"):
        hint = f"write {cut(key, _SHOWN)} = VALUE, or [{cut(key, _SHOWN)}] for a table"
        return error.fault("not TOML: a key without a value", hint, at=start, width=len(key))
    if error.rest[0] in "\"'":
        return error.fault("not TOML: no '=' after a key", f"write {key} = VALUE")
    hint = "a key has letters of ASCII, digits, '_' and '-', or is in quotes"
    return error.fault(f"not TOML: expected '=' after a key, got {error.rest[:1]!r}", hint)


def _no_value(error: _Error) -> SyntaxFault:
    word = _word(error.rest)
    if not error.rest.strip() or error.rest.startswith("#"):
        if error.scanner.unclosed:
            return _unclosed(error)
        return error.fault("not TOML: a value is missing", 'put text in quotes: "..."')
    for hint, fits in (
        (f"write {word.lower()}", word.lower() in {"true", "false", "inf", "nan"}),
        (f"write {_WORDS.get(word.lower())}", word.lower() in _WORDS),
        ("TOML has no such value: leave the key out", word.lower() in _NOTHING),
        (f'from the environment: {{ env = "{word.strip("${}")}" }}', word.startswith("$")),
        (f"write 0{word}", bool(re.fullmatch(r"\.\d+", word))),
        ("write ' or \"", bool(word) and word[0] in _CURLY),
        ("leave one of the two out", error.rest.startswith("=")),
        ("write an array in [ ]", word.startswith("(")),
        (_quoted(word), bool(re.match(r"[\w./~<-]", word))),
    ):
        if fits:
            return error.fault("not TOML: no value", hint, width=len(word) or 1)
    return error.fault("not TOML: a value is missing here", "write one, or leave out what is here")


def _left_over(error: _Error) -> SyntaxFault:
    if error.rest.startswith("\r"):
        return _character(error)
    if re.match(r"[A-Za-z0-9_.'\"-]+\s*=", error.rest):
        return error.fault("not TOML: a second key on the line", "write each key on its own line")
    if error.rest[0] in ",;":
        return error.fault(f"not TOML: {error.rest[0]!r} at the end of a line", "leave it out")
    if (quote := error.text[error.at - 1]) in _OTHER:
        hint = f"a {quote} inside the text ends it: write the text in {_OTHER[quote]}"
        return error.fault("not TOML: unexpected characters after the end of a text", hint)
    start = max(error.text.rfind("\n", 0, error.at), error.text.rfind("=", 0, error.at)) + 1
    value = error.text[start : error.at].lstrip() + _word(error.rest)
    begins = error.at + len(_word(error.rest)) - len(value)
    for message, hint, form in (
        ("no such date or time", "", r"\d{4}-\d\d-\d\d.*|\d\d:\d\d.*"),
        ("no digit after the point", f"write {value}0", r"[+-]?\d+\."),
        ("a number begins with 0", "leave out the 0, or write 0o... for octal", r"[+-]?0\d+"),
        ("neither a number nor text", _quoted(value), r"[\w.+-][\w.:+/%µ-]*"),
    ):
        if re.fullmatch(form, value):
            return error.fault(f"not TOML: {message}", hint, at=begins, width=len(value))
    return error.fault(
        "not TOML: unexpected characters after the end of a statement", "leave it out"
    )


def _unclosed(error: _Error) -> SyntaxFault:
    opening = error.scanner.unclosed[-1] if error.scanner.unclosed else error.at
    what = "an array" if error.text[opening] == "[" else "an inline table"
    begins = r"[\w\"'\[{+-]" if what == "an array" else r"[\w\"'.-]+\s*="
    if re.match(begins, error.rest) and "\n" not in error.text[opening : error.at]:
        return error.fault(f"not TOML: a comma is missing in {what}", "write one before this value")
    close = _CLOSE.get(error.text[opening : opening + 1], "]")
    return error.fault(f"not TOML: {what} is not closed", f"a {close} is missing", at=opening)


def _character(error: _Error) -> SyntaxFault:
    char = error.text[error.at : error.at + 1]
    if char in {"\n", ""}:
        return _unended(error)
    name = f"U+{ord(char):04X}"
    if char == "\r":
        return error.fault("not TOML: a carriage return in a line", "end lines with a line feed")
    hint = f'leave it out, or write "\\u{ord(char):04X}"'
    return error.fault(f"not TOML: a control character, {name}", hint)


def _unended(error: _Error) -> SyntaxFault:
    quote = error.text[error.token : error.token + 1] or '"'
    quotes = quote * (3 if error.text.startswith(quote * 3, error.token) else 1)
    hint = f"a {quotes} is missing at its end" + (
        "" if len(quotes) > 1 else f"; write a text of several lines in {quote * 3}"
    )
    return error.fault("not TOML: a text is not closed", hint, at=error.token, width=len(quotes))


def _backslash(error: _Error) -> SyntaxFault:
    at = error.text.rfind("\\", error.token, error.at + 1)
    written = error.text[at : at + 2].strip()
    if written in {"\\u", "\\U"}:
        hint = "\\u takes four hexadecimal digits, \\U eight; surrogates are no characters"
        return error.fault(f"not TOML: {written} of no character", hint, at=at, width=2)
    hint = "write \\\\ for a backslash, or the text in '...', where nothing is escaped"
    return error.fault(f"not TOML: no escape {written}", hint, at=at, width=2)


def _header(error: _Error) -> SyntaxFault:
    close = "]]" if "]]" in error.reason else "]"
    start = error.key[0]
    if error.rest.strip(" \t]"):
        hint = "a label has letters, digits, '_' and '-'; levels are parted by '.'"
        return error.fault(f"not TOML: {error.rest[:1]!r} in the name of a table", hint)
    return error.fault(
        f"not TOML: the name of a table is not closed by {close}", f"write {close}", at=start
    )


def _twice(error: _Error) -> SyntaxFault:
    begins, path = error.key
    if error.text[begins] == "[" and not error.rest.startswith("]"):
        return _header(error)
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


def _inside_twice(error: _Error) -> SyntaxFault:
    key = error.reason.partition("key ")[2]
    written = re.compile(rf"[\"']?{re.escape(key[1:-1])}[\"']?(?=\s*=)")
    spans = [found.span() for found in written.finditer(error.text, error.key[0], error.at)]
    start, end = spans[-1] if spans else (error.at, error.at + 1)
    message = f"not TOML: {key} stands in this inline table already"
    return error.fault(message, "leave one out", at=start, width=end - start)


def _date(error: _Error) -> SyntaxFault:
    word = _word(error.rest)
    return error.fault("not TOML: no such date or time", "correct it", width=len(word) or 1)


def _word(text: str) -> str:
    """Return what a line begins with, up to a space or to what closes a value."""
    return (re.match(r"[^\s,\]}#=]*", text) or [""])[0]


def _quoted(text: str) -> str:
    return f'put text in quotes: "{cut(text, _SHOWN)}"'


_REASONS: dict[str, Callable[[_Error], SyntaxFault]] = {
    "Invalid statement": _statement,
    "Invalid initial character for a key": _no_key,
    "Expected '=' after a key": _no_equals,
    "Invalid value": _no_value,
    "Expected newline or end of document": _left_over,
    "Unclosed": _unclosed,
    "Illegal character": _character,
    "Found invalid character": _character,
    "Unterminated string": _unended,
    'Expected "\'"': _unended,
    "Expected \"'''\"": _unended,
    "Unescaped": _backslash,
    "Invalid hex value": _backslash,
    "Escaped character is not": _backslash,
    "Expected ']": _header,
    "Cannot": _twice,
    "Duplicate inline table key": _inside_twice,
    "Invalid date": _date,
}
