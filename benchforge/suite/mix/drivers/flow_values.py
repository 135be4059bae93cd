"""Values that later steps of a flow take of earlier answers: taken, checked, filled in.

It needs the standard library only, and Python 3.9: load tools run it, and so do probes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Union
from urllib.parse import quote, quote_plus

# Characters of a value, bytes of a body that is looked at, cookies of a flow.
LONGEST, LARGEST_BODY, MOST_COOKIES = 4096, 1 << 18, 50
_INDEX = re.compile(r"0|[1-9][0-9]{0,8}")
_WHOLE = re.compile(r"[+-]?\d{1,18}")
_COOKIE = re.compile(r"\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)=([ -:<-~]*?)\s*(?:;(.*))?")
_ENDED = re.compile(r"(?:^|;)\s*max-age=(?:0|-\d+)\s*(?:;|$)", re.IGNORECASE)
_MISSING = object()
Value = Union[int, float, str]  # noqa: UP007 - of Python 3.9


class NoValue(ValueError):
    """A value that is not there, or that cannot be sent."""


def taken(
    takes: Mapping[str, str],
    fields: Mapping[str, str],
    cookies: Mapping[str, str | None],
    body: bytes | None,
) -> dict[str, Value]:
    """Return the values that a step takes of its answer. Raises NoValue.

    `fields` are the headers by their names in lower case, `cookies` those that the answer sets.
    """
    values: dict[str, Value] = {}
    document: object = _MISSING
    for name, where in takes.items():
        source, _, rest = where.partition(":")
        if source == "cookie":
            value: object = cookies.get(rest)
        elif source == "header":
            value = fields.get(rest.lower())
        elif body is None:
            raise NoValue(f"the answer has more than {LARGEST_BODY >> 10} KiB")
        elif source == "regex":
            value = _matched(rest, body)
        else:
            if document is _MISSING:
                document = _document(body)
            value = _pointed(document, rest)
        values[name] = _sound(value, where)
    return values


def _sound(value, where):
    if value is None:
        raise NoValue(f"the answer has no value at {where!r}")
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise NoValue(f"the value at {where!r} is neither a text nor a number")
    text = str(value)
    if len(text) > LONGEST:
        raise NoValue(f"the value at {where!r} has {len(text)} characters: {LONGEST} at most")
    if not text.isprintable():
        raise NoValue(f"the value at {where!r} has a control character")
    return value


def _document(body):
    try:
        return json.loads(body, parse_constant=_refused)
    except (ValueError, RecursionError):
        raise NoValue("the answer is not JSON") from None


def _refused(word):
    raise ValueError(word)


def _pointed(value, pointer):
    """Return the value at a JSON pointer (RFC 6901); None where there is none."""
    for escaped in pointer[1:].split("/"):
        step = escaped.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and _INDEX.fullmatch(step) and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


def _matched(pattern, body):
    match = re.search(pattern, body.decode("utf-8", "replace"))
    return None if match is None else match[1]


def cookies_set(lines: Iterable[str]) -> dict[str, str | None]:
    """Return the cookies that headers Set-Cookie set, by name; None for one that they end."""
    cookies: dict[str, str | None] = {}
    for line in lines:
        match = _COOKIE.fullmatch(line)
        if match is not None and len(line) <= LONGEST:
            cookies[match[1]] = None if _ENDED.search(match[3] or "") else match[2]
    return cookies


def with_cookies(cookies: Mapping[str, str], new: Mapping[str, str | None]) -> dict[str, str]:
    """Return the cookies of a flow after an answer."""
    both = {name: value for name, value in {**cookies, **new}.items() if value is not None}
    return dict(list(both.items())[-MOST_COOKIES:])


def request(
    step: Mapping[str, Any], values: Mapping[str, Value], cookies: Mapping[str, str], extra: str
) -> bytes:
    """Return the bytes of a step's request. Raises NoValue where a value cannot stand there.

    `extra` has the header lines that depend on the trial.
    """
    path = _written(step["path"], values)
    if step["path"][0] == "/":
        path = one_slash(path)
    lines = [f"{step['method']} {path} HTTP/1.1\r\n"]
    lines += [f"{name}: {_written(pieces, values)}\r\n" for name, pieces in step["headers"]]
    body = None if step["body"] is None else _written(step["body"], values).encode()
    if body is not None:
        lines.append(f"Content-Length: {len(body)}\r\n")
    if cookies:
        pairs = "; ".join(f"{name}={value}" for name, value in cookies.items())
        lines.append(f"Cookie: {pairs}\r\n")
    return "".join((*lines, extra, "\r\n")).encode() + (body or b"")


def one_slash(path: str) -> str:
    """Return a path with one slash at its begin: that of `/{next:raw}` with a Location has two."""
    return f"/{path.lstrip('/')}"


def _written(pieces, values):
    return "".join(
        [part if isinstance(part, str) else written(values[part[0]], part[1]) for part in pieces]
    )


def written(value: Value, place: str) -> str:
    """Return a value as it stands in a place. Raises NoValue where it cannot."""
    return PLACES[place](value)


def _in_header(value):
    text = str(value)
    if not text.isascii() or not text.isprintable():
        raise NoValue("a value for a header is not printable ASCII")
    return text


def _in_raw_path(value):
    text = _in_header(value)
    if " " in text:
        raise NoValue("a value for a path has a blank")
    return text


def _whole(value):
    text = str(value)
    if not _WHOLE.fullmatch(text):
        raise NoValue(f"{text[:40]!r} is not a whole number")
    return str(int(text))


PLACES: Mapping[str, Callable[[Value], str]] = {
    "path": lambda value: quote(str(value), safe=""),
    "raw path": _in_raw_path,
    "header": _in_header,
    "json": lambda value: json.dumps(str(value))[1:-1],
    "json value": json.dumps,
    "form": lambda value: quote_plus(str(value)),
    "text": str,
    "integer": _whole,
}
