"""Secrets: which values of a suite are secret, and a text without them."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from urllib.parse import quote, unquote

from pydantic import JsonValue

HIDDEN = "***"

_SHORTEST = 4  # characters of a literal secret that an error hides, and of one that is cut
_CUT = "..."  # where a long value was cut

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

    def hide(text: str) -> str:
        whole = redact(redact(text, everywhere), literal, words=True)
        return _without_beginnings(whole, everywhere | literal)

    return hide


def _without_beginnings(text: str, secrets: Iterable[str]) -> str:
    """Replace what is left of a secret where a long value was cut."""
    forms = {form for secret in secrets for form in _forms(secret)}
    shown, *rest = text.split(_CUT)
    for piece in rest:
        lengths = (_left_of(form, shown) for form in forms)
        left = max(lengths, default=0)
        shown = (shown[:-left] + HIDDEN if left else shown) + _CUT + piece
    return shown


def _left_of(form: str, text: str) -> int:
    """Return how many of the first characters of a form a text ends with; 0 for a few."""
    lengths = range(min(len(form), len(text)), _SHORTEST - 1, -1)
    return next((length for length in lengths if text.endswith(form[:length])), 0)


def _forms(secret: str) -> tuple[str, ...]:
    quoted = (json.dumps(secret), json.dumps(secret, ensure_ascii=False), repr(secret))
    return secret, quote(secret, safe=""), *(text[1:-1] for text in quoted)
