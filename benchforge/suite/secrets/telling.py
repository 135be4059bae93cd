"""Which values of a suite are secret by their place, and what of a secret is one by itself."""

import binascii
import re
import shlex
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from urllib.parse import unquote

from pydantic import JsonValue

from benchforge.suite.secrets.forms import SHORTEST

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


def secrets_of_suite(tables: Mapping[str, JsonValue], place: Place = ()) -> Iterator[Secret]:
    """Yield the literal secrets of a suite and where they stand; labels say nothing of them."""
    for key, value in tables.items():
        where = (*place, key)
        if not isinstance(value, dict) or key in _UNLABELLED:
            yield from secrets_of(value, where)
            continue
        for label, table in value.items():
            if key == "profiles" and isinstance(table, dict):
                yield from secrets_of_suite(table, (*where, label))
            else:
                yield from secrets_of(table, (*where, label))


def secrets_of(value: JsonValue, place: Place = (), *, hidden: bool = False) -> Iterator[Secret]:
    """Yield the literal secrets in a value: passwords in URLs, and all text under a telling key.

    What names a variable of the environment is none.
    """
    if isinstance(value, dict):
        if list(value) == ["env"] and place and hidden:
            return
        for key, inner in value.items():
            telling = bool(_KEY.search(key.rpartition(".")[2]))  # what varies is named by its path
            telling &= place[-1:] not in {("kinds",), ("take",)}  # labels
            yield from secrets_of(inner, (*place, key), hidden=hidden or telling)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from secrets_of(inner, (*place, number), hidden=hidden)
    elif isinstance(value, str):
        if hidden and value and not ({"kinds", "session"} & {*place} and _HOLE.fullmatch(value)):
            yield from ((place, piece) for piece in pieces(value))
        else:
            yield from ((place, password) for password in _passwords(value))


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
    spans = [(_HEAD.match(text, *found.span()), found.end()) for found in _TELLING.finditer(text)]
    for start, end in (
        *((head.end(), end) for head, end in spans if head),
        *(found.span(1) for found in _USERINFO.finditer(text)),
        *(found.span(2) for found in _NAMED.finditer(text) if _KEY.search(found[1])),
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
