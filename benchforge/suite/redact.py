"""Secrets: which values of a suite are secret, and a text without them."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from urllib.parse import quote, unquote

from pydantic import JsonValue

HIDDEN = "***"

_SHORTEST = 4  # characters of a literal secret that an error hides

_KEY = re.compile("password|passwd|secret|token", re.IGNORECASE)
_USERINFO = re.compile(
    r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{0,30}+://[^\s/?#:@]*:([^\s/?#]+)@"
)


def redact(text: str, secrets: Iterable[str], *, words: bool = False) -> str:
    """Replace each secret in a text, also where it is escaped as in TOML, JSON or a URL.

    `words`: only where it is no piece of a longer word.
    """
    forms = {form for secret in secrets if secret for form in _forms(secret)}
    if not forms:
        return text
    # The longest first: a secret may begin with another one.
    longest_first = sorted(forms, key=lambda form: (-len(form), form))
    found = "|".join(map(re.escape, longest_first))
    return re.sub(rf"(?<!\w)(?:{found})(?!\w)" if words else found, HIDDEN, text)


def secrets_of(value: JsonValue, *, hidden: bool = False) -> Iterator[str]:
    """Yield the literal secrets in a value: passwords in URLs, and all text under a telling key."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from secrets_of(inner, hidden=hidden or bool(_KEY.search(key)))
    elif isinstance(value, list):
        for inner in value:
            yield from secrets_of(inner, hidden=hidden)
    elif isinstance(value, str):
        if hidden and value:
            yield value
        for password in _USERINFO.findall(value):
            yield password
            yield unquote(password)


def hiding(tables: JsonValue, taken: Iterable[str] = ()) -> Callable[[str], str]:
    """Return what takes secrets out of an error: those in the tables, and what was `taken`."""
    everywhere = set(taken)
    lines = (line for one in secrets_of(tables) for line in one.splitlines())
    # Shorter ones would make the words of the messages unreadable.
    literal = {line for line in lines if len(line) >= _SHORTEST}
    return lambda text: redact(redact(text, everywhere), literal, words=True)


def _forms(secret: str) -> tuple[str, ...]:
    as_json = (json.dumps(secret), json.dumps(secret, ensure_ascii=False))
    return secret, quote(secret, safe=""), *(text[1:-1] for text in as_json)
