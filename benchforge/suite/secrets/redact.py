"""What takes secrets out of all that is written or printed: pure, and the only place that does."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, TypeVar

from pydantic import BaseModel, JsonValue, ValidationError

from benchforge.model.trial.answers.exposed_secrets import HIDDEN
from benchforge.suite.secrets.forms import SHORTEST, Form, forms
from benchforge.suite.secrets.telling import secrets_of_suite

SHOWN = 4
"Characters of a literal secret that an error hides, and of one that is cut."
_CUT = "..."  # where a long value was cut

M = TypeVar("M", bound=BaseModel)


def redact(text: str, secrets: Iterable[str], *, words: bool = False) -> str:
    """Replace each secret in a text, in each of its forms.

    `words`: only where it is no piece of a longer word.
    """
    pattern = _pattern(form for form in _all_forms(frozenset(secrets)) if form.may_be_in(text))
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
    text = model.model_dump_json(by_alias=True)
    if redact(text, hidden_secrets) == text:
        return model
    whole = json.loads(text)
    hidden = _redacted_json(whole, hidden_secrets)
    try:
        return type(model).model_validate_json(json.dumps(hidden))
    except ValidationError as error:
        # What takes one of our own words only holds no secret, though one may be the same word.
        for wrong in error.errors(include_url=False):
            if wrong["type"] in {"literal_error", "enum"}:
                _restore(hidden, whole, wrong["loc"])
        return type(model).model_validate_json(json.dumps(hidden))


def hiding(tables: Mapping[str, JsonValue], taken: Iterable[str] = ()) -> Callable[[str], str]:
    """Return what takes secrets out of an error: those in the tables, and what was `taken`."""
    hidden_secrets = {secret for secret in taken if secret}
    everywhere = {secret for secret in hidden_secrets if len(secret) >= SHORTEST}
    lines = (line for _, secret in secrets_of_suite(tables) for line in secret.splitlines())
    # Shorter ones would make the words of the messages unreadable.
    literal = {line for line in lines if len(line) >= SHOWN} | (hidden_secrets - everywhere)

    def hide(text: str) -> str:
        whole = redact(redact(text, everywhere), literal, words=True)
        return _without_beginnings(whole, everywhere | literal)

    return hide


@lru_cache(maxsize=64)
def _all_forms(secrets: frozenset[str]) -> tuple[Form, ...]:
    """Return the forms of all secrets, the longest first: one may begin with another."""
    distinct = {form for secret in secrets if secret for form in forms(secret)}
    return tuple(sorted(distinct, key=lambda form: (-len(form.text), form.text)))


def _pattern(secret_forms: Iterable[Form]) -> str:
    return "|".join(form.pattern for form in secret_forms)


def _redacted_json(value: Any, secrets: frozenset[str]) -> Any:
    if isinstance(value, str):
        return redact(value, secrets)
    if isinstance(value, dict):
        return {
            redact(key, secrets): _redacted_json(inner, secrets) for key, inner in value.items()
        }
    if isinstance(value, list):
        return [_redacted_json(inner, secrets) for inner in value]
    return value


def _restore(hidden: Any, whole: Any, path: tuple[int | str, ...]) -> None:
    """Put the value at a path back."""
    *above, last = path
    for step in above:
        hidden, whole = hidden[step], whole[step]
    hidden[last] = whole[last]


def _without_beginnings(text: str, secrets: Iterable[str]) -> str:
    """Replace what is left of a secret where a long value was cut."""
    cut_forms = {form for secret in secrets for form in _cut_forms(secret)}
    shown, *rest = text.split(_CUT)
    for piece in rest:
        left = max((_left_of(form, shown) for form in cut_forms), default=0)
        shown = (shown[:-left] + HIDDEN if left else shown) + _CUT + piece
    return shown


def _left_of(form: str, text: str) -> int:
    """Return how many of the first characters of a form a text ends with; 0 for a few."""
    lengths = range(min(len(form), len(text)), SHOWN - 1, -1)
    return next((length for length in lengths if text.endswith(form[:length])), 0)


def _cut_forms(secret: str) -> tuple[str, ...]:
    """Return the forms in which an error shows a value."""
    quoted = (json.dumps(secret), json.dumps(secret, ensure_ascii=False), repr(secret))
    return secret, *(text[1:-1] for text in quoted)
