"""Redaction of secrets in all that is written or printed; no other module does it."""

import binascii
import json
import re
import shlex
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import unquote

from benchforge.text.safe import HIDDEN

if TYPE_CHECKING:  # every line that is printed passes here, and --help needs no model
    from pydantic import BaseModel, JsonValue

SHORTEST = 8
"Characters of a secret: shorter ones stand in words and numbers that are none."

_BASE64 = "[A-Za-z0-9+/_-]"
_OF_BASE64 = {"+": "(?:[+-]|%2[Bb])", "/": r"(?:\\*/|_|%2[Ff])"}
_LEAST_RUN = 4  # characters: shorter ones stand in every text, and would tell nothing
_QUOTED_BY_SHELL = ("'\"'\"'", "'\\''")

SHOWN = 4
"Characters of a literal secret that an error hides, and of one that is cut."
_CUT = "..."  # where a long value was cut

M = TypeVar("M", bound="BaseModel")

_KEY = re.compile(
    "password|passwd|passphrase|secret|tokens?(?![a-z])|api[_-]?key|authorization", re.IGNORECASE
)
_USERINFO = re.compile(
    r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{0,30}+://[^\s/?#:@]*:([^\s/?#]+)@"
)
_NAMED = re.compile(r"(?:^|(?<=[?&;\s]))-{0,2}([\w.-]{1,100}+)=([^&#;\s]+)")
"As in the query of a URL, in libpq's words and among arguments."
_SCHEME = re.compile(r"(basic|bearer|token|apikey|digest)\s+(\S.*)", re.IGNORECASE | re.DOTALL)
_HOLE = re.compile(r"(?:\w+ )?\{[A-Za-z_][\w.-]*(?::raw|:integer)?\}")
"The place of a value, which is no secret itself."
_HEADER = re.compile(r"([\w-]+)\s*:\s*(\S.*)", re.DOTALL)
_NUMBER_OR_FLAG = re.compile(rf"[\d.]{{1,{SHORTEST - 1}}}|-.*", re.DOTALL)
_TO_STATEMENT = r"(?s:.*?)(?=^[ \t]*(?:\[|[\w.\"'-]+[ \t]*=(?![=\n]))|\Z)"
_TELLING = re.compile(
    rf"^[ \t]*\[[^\]\n]{{0,200}}(?:{_KEY.pattern})[^\]\n]{{0,200}}\](?s:.*?)(?=^[ \t]*\[|\Z)"
    rf"|(?:{_KEY.pattern})[\w-]{{0,99}}[\"']?[ \t]*[=:]{_TO_STATEMENT}",
    re.IGNORECASE | re.MULTILINE,
)
"In a text that need not be TOML: a table, or a value, whose name tells of a secret."
_HEAD = re.compile(r"[^=:\n]*[=:\n]")

_UNLABELLED = {"verdicts", "repeat", "tuning", "placement", "engine"}

Place = tuple[str | int, ...]
Secret = tuple[Place, str]
"A secret, and where it stands."


@lru_cache(maxsize=1024)
def forms(secret: str) -> tuple["Form", ...]:
    """Return what finds a text in each of its forms."""
    encodings = {secret.encode(errors="surrogatepass")}
    if not secret.isascii() and max(secret) <= "\xff":  # so HTTP libraries send headers
        encodings.add(secret.encode("latin-1"))
    long = len(secret) >= SHORTEST
    coded = {form for data in encodings for form in _in_base64(data) if long}
    pattern = "".join(map(_character, secret))
    if re.fullmatch(r"[\d.]+", secret, re.ASCII):  # no piece of a number that was measured
        pattern = rf"(?<![\d.]){pattern}(?![\d])"
    return (_form(secret, pattern), *sorted(coded, key=lambda form: form.text))


class Form(NamedTuple):
    """One form of a text, with a pattern for all ways in which it is escaped."""

    text: str
    pattern: str
    run: str
    "Its longest letters and digits, which nobody escapes: it is only in a text that has them."


def _form(text: str, pattern: str) -> Form:
    longest = max(re.findall("[A-Za-z0-9]+", text), key=len, default="")
    return Form(text, pattern, longest if len(longest) >= _LEAST_RUN else "")


@lru_cache(maxsize=1024)
def _character(char: str) -> str:
    """Return a pattern for a character as it is, and as JSON, URLs, HTML and shells write it."""
    if char.isascii() and char.isalnum():
        return char
    ways = [rf"\\*{re.escape(char)}", *map(re.escape, _QUOTED_BY_SHELL if char == "'" else ())]
    for data in {char.encode(errors="surrogatepass"), char.encode("latin-1", errors="ignore")}:
        # Each percent sign may have been encoded again.
        ways += ["".join(rf"%(?:25)*(?i:{byte:02x})" for byte in data)] if data else []
        ways += ["".join(rf"\\+(?:x(?i:{byte:02x})|{byte:03o})" for byte in data)] if data else []
    in_json = json.dumps(char)[1:-1]
    if in_json.startswith("\\"):
        ways.append(r"\\+" + _any_case(in_json.lstrip("\\")))
    ways.append(rf"\\+u(?:(?i:{ord(char):04x})|\{{(?i:0*{ord(char):x})\}})")
    ways.append(rf"\\+U(?i:{ord(char):08x})")
    if "\x7f" < char <= "\xff":  # a byte that is no UTF-8, as `redacted_bytes` reads it
        ways.append(chr(0xDC00 + ord(char)))
    ways.append(rf"&#(?:0*{ord(char)}|[xX]0*(?i:{ord(char):x}));")
    if (in_html := escape(char)) != char:
        ways.append(re.escape(in_html))
    if char == " ":
        ways.append(r"\+")
    return f"(?:{'|'.join(dict.fromkeys(ways))})"


def _any_case(escape_: str) -> str:
    """Return a pattern of what stands behind a backslash in JSON: hexadecimal in any case."""
    if not escape_.startswith("u"):
        return re.escape(escape_)
    return r"\\+".join(rf"u(?i:{code})" for code in re.findall("u([0-9a-f]{4})", escape_))


def _in_base64(data: bytes) -> Iterator[Form]:
    """Yield the characters that stand for some bytes, wherever they begin in what is encoded."""
    for padding in range(3):
        encoded = b64encode(bytes(padding) + data).decode()
        bits = 8 * (padding + len(data))
        first, end = -(-8 * padding // 6), bits // 6
        text = encoded[first:end]
        pattern = "".join(_OF_BASE64.get(char, char) for char in text)
        # The characters beside it hold bits of it too.
        head = _BASE64 if padding else ""
        tail = f"{_BASE64}?" if bits % 6 else ""
        yield _form(text, f"{head}{pattern}{tail}(?:=|%3D){{0,2}}")


def redact(text: str, secrets: Iterable[str], *, words: bool = False) -> str:
    """Replace each secret in a text, in each of its forms; with `words`, only as whole words."""
    forms_ = _all_forms(frozenset(secrets))
    pattern = "|".join(form.pattern for form in forms_ if form.run in text)
    if not pattern:
        return text
    return re.sub(rf"(?<!\w)(?:{pattern})(?!\w)" if words else pattern, HIDDEN, text)


def redacted_bytes(data: bytes, secrets: Iterable[str]) -> bytes:
    """Return what is written in a file without the secrets; all else stays as it is."""
    text = data.decode(errors="surrogateescape")
    hidden = redact(text, secrets)
    return data if hidden == text else hidden.encode(errors="surrogateescape")


def redacted(model: M, secrets: Iterable[str]) -> M:
    """Return a model without the secrets in its texts; numbers stay as they are."""
    hidden_secrets = frozenset(secrets)
    if not hidden_secrets:
        return model
    from pydantic import ValidationError  # noqa: PLC0415 - as above

    text = model.model_dump_json(by_alias=True)
    if redact(text, hidden_secrets) == text:
        return model
    document = json.loads(text)
    hidden = _hidden_json(document, hidden_secrets)
    try:
        return type(model).model_validate_json(json.dumps(hidden))
    except ValidationError as error:
        # What takes one of our own words only holds no secret, though one may be the same word.
        for wrong in error.errors(include_url=False):
            if wrong["type"] in {"literal_error", "enum"}:
                _restore(hidden, document, wrong["loc"])
        return type(model).model_validate_json(json.dumps(hidden))


def hiding(tables: Mapping[str, "JsonValue"], taken: Iterable[str] = ()) -> Callable[[str], str]:
    """Return what takes secrets out of an error: those in the tables, and what was `taken`."""
    hidden_secrets = {secret for secret in taken if secret}
    everywhere = {secret for secret in hidden_secrets if len(secret) >= SHORTEST}
    lines = (line for _, secret in secrets_of_suite(tables) for line in secret.splitlines())
    # Shorter ones would make the words of the messages unreadable.
    literal = {line for line in lines if len(line) >= SHOWN} | (hidden_secrets - everywhere)

    def hide(text: str) -> str:
        hidden = redact(redact(text, everywhere), literal, words=True)
        return _without_beginnings(hidden, everywhere | literal)

    return hide


@lru_cache(maxsize=64)
def _all_forms(secrets: frozenset[str]) -> tuple[Form, ...]:
    """Return the forms of all secrets, the longest first: one may begin with another."""
    distinct = {form for secret in secrets if secret for form in forms(secret)}
    return tuple(sorted(distinct, key=lambda form: (-len(form.text), form.text)))


def _hidden_json(value: Any, secrets: frozenset[str]) -> Any:
    if isinstance(value, str):
        return redact(value, secrets)
    if isinstance(value, dict):
        return {redact(key, secrets): _hidden_json(inner, secrets) for key, inner in value.items()}
    if isinstance(value, list):
        return [_hidden_json(inner, secrets) for inner in value]
    return value


def _restore(hidden: Any, document: Any, path: tuple[int | str, ...]) -> None:
    *parents, last = path
    for step in parents:
        hidden, document = hidden[step], document[step]
    hidden[last] = document[last]


def _without_beginnings(text: str, secrets: Iterable[str]) -> str:
    cut_forms = {form for secret in secrets for form in _cut_forms(secret)}
    head, *rest = text.split(_CUT)
    for piece in rest:
        cut_length = max((_left_of(form, head) for form in cut_forms), default=0)
        head = (head[:-cut_length] + HIDDEN if cut_length else head) + _CUT + piece
    return head


def _left_of(form: str, text: str) -> int:
    """Return how many of the first characters of a form a text ends with; 0 for a few."""
    lengths = range(min(len(form), len(text)), SHOWN - 1, -1)
    return next((length for length in lengths if text.endswith(form[:length])), 0)


def _cut_forms(secret: str) -> tuple[str, ...]:
    quoted = (json.dumps(secret), json.dumps(secret, ensure_ascii=False), repr(secret))
    return secret, *(text[1:-1] for text in quoted)


def secrets_of_suite(tables: Mapping[str, "JsonValue"], path: Place = ()) -> Iterator[Secret]:
    """Yield the literal secrets of a suite and where they stand; labels say nothing of them."""
    for key, value in tables.items():
        where = (*path, key)
        if not isinstance(value, dict) or key in _UNLABELLED:
            yield from secrets_of(value, where)
            continue
        for label, table in value.items():
            if key == "profiles" and isinstance(table, dict):
                yield from secrets_of_suite(table, (*where, label))
            else:
                yield from secrets_of(table, (*where, label))


def secrets_of(value: "JsonValue", path: Place = (), *, hidden: bool = False) -> Iterator[Secret]:
    """Yield the literal secrets in a value: passwords in URLs, text under a telling key."""
    if isinstance(value, dict):
        if list(value) == ["env"] and path and hidden:
            return
        for key, inner in value.items():
            telling = bool(_KEY.search(key.rpartition(".")[2]))  # what varies is named by its path
            telling &= path[-1:] not in {("kinds",), ("take",)}  # labels
            yield from secrets_of(inner, (*path, key), hidden=hidden or telling)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from secrets_of(inner, (*path, number), hidden=hidden)
    elif isinstance(value, str):
        if hidden and value and not ({"kinds", "session"} & {*path} and _HOLE.fullmatch(value)):
            yield from ((path, piece) for piece in pieces(value))
        else:
            yield from ((path, password) for password in _passwords(value))


def secrets_of_words(words: Sequence[str]) -> Iterator[str]:
    """Yield the secrets among the words of a command line; a word may be a command itself."""
    for flag, word in pairwise(words):
        if flag.startswith("-") and _KEY.search(flag) and not _NUMBER_OR_FLAG.fullmatch(word):
            yield from pieces(word)
    for word in words:
        yield from _passwords(word)
        if (match := _HEADER.fullmatch(word)) and _KEY.search(match[1]):
            yield from pieces(match[2])
        with suppress(ValueError):  # quotes that nobody closed
            if (inner := shlex.split(word)) != [word]:
                yield from secrets_of_words(inner)
                assigned = (part.partition("=") for part in inner)
                yield from (value for name, _, value in assigned if value and _KEY.search(name))


def masked(text: str) -> str:
    """Return a suite's text, which need not be TOML, with a star for each letter of its secrets."""
    chars = [*text]
    spans = [(_HEAD.match(text, *match.span()), match.end()) for match in _TELLING.finditer(text)]
    for start, end in (
        *((head.end(), end) for head, end in spans if head),
        *(match.span(1) for match in _USERINFO.finditer(text)),
        *(match.span(2) for match in _NAMED.finditer(text) if _KEY.search(match[1])),
    ):
        chars[start:end] = re.sub(r"[^\W_]", "*", text[start:end])
    return "".join(chars)


def pieces(secret: str) -> Iterator[str]:
    """Yield a secret, and what of it programs write without the rest."""
    # A path keeps its first slash, and stays one.
    yield secret.removeprefix("/")
    yield from _passwords(secret)
    if match := _SCHEME.fullmatch(secret):
        yield from _if_long(match[2])
        yield from _of_basic(match[2])
    lines = secret.splitlines()
    if len(lines) > 1:
        for line in lines:
            yield from _if_long(line.strip())


def _passwords(text: str) -> Iterator[str]:
    for password in _USERINFO.findall(text):
        yield from dict.fromkeys((password, unquote(password)))
    for name, value in _NAMED.findall(text):
        if _KEY.search(name):
            yield from dict.fromkeys((value, unquote(value)))


def _of_basic(credentials: str) -> Iterator[str]:
    try:
        login = b64decode(credentials, validate=True).decode()
    except (binascii.Error, ValueError):
        return
    yield from _if_long(login)
    yield from _if_long(login.partition(":")[2])


def _if_long(piece: str) -> Iterator[str]:
    """Yield a piece that is no secret of its own, unless it is too short to be looked for."""
    if len(piece) >= SHORTEST:
        yield piece
