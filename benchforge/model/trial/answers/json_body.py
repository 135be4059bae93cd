"""Comparison of JSON bodies, and decoding of compressed ones."""

import importlib
import json
import re
import zlib
from typing import Annotated, Any

from pydantic import AfterValidator, JsonValue, NonNegativeInt

from benchforge.model.values.bounds import in_time
from benchforge.text.readable import counted, cut, exact

_SHOWN = 60  # characters of a value that a server chose
_ROOT = "$"

MOST_DECODED = 64 << 20
"Length of a decoded body in bytes, at most: a short body may hold gigabytes."
_ZLIB_OR_GZIP = zlib.MAX_WBITS | 32
_PLAIN, _ZLIB, _BROTLI = ("", "identity"), ("gzip", "x-gzip", "deflate"), "br"

LONGEST, SEARCHED, WITHIN_S = 500, 64 << 10, 1.0
"""Characters of a pattern; bytes at the begin of a body in which it is searched; CPU time of a \
search in seconds, at most: some patterns take longer than anybody lives."""


def _only_lengths(items: Any, path: str = "") -> Any:
    """Return what was written. Raises ValueError where a table leads to something else."""
    if isinstance(items, dict):
        if not items:
            raise ValueError(f"{path or 'the table'} is empty: name the arrays, as {{ rows = 50 }}")
        for key, inner in items.items():
            _only_lengths(inner, f"{path}.{key}" if path else key)
    elif isinstance(items, bool) or not isinstance(items, int) or items < 0:
        text = json.dumps(items)
        raise ValueError(f"{path} is {text}: expected a whole number, at least 0, or a table")
    return items


Items = Annotated[NonNegativeInt | dict[str, JsonValue], AfterValidator(_only_lengths)]
"The length of an array, or by the keys of an object those of arrays in it."


def items_difference(items: Any, got: Any, path: str = _ROOT) -> str | None:
    """Return which array of a JSON value is missing or has another length; None where none is."""
    if isinstance(items, int):
        elements = counted(items, "element")
        if not isinstance(got, list):
            return f"expected an array of {elements} in {path}, got {_shown(got)}"
        return None if len(got) == items else f"expected {elements} in {path}, got {len(got)}"
    if not isinstance(got, dict):
        return f"expected an object in {path}, got {_shown(got)}"
    for key, inner in items.items():
        if key not in got:
            return f"expected {path}.{key} in the JSON, it is not there"
        if mismatch := items_difference(inner, got[key], f"{path}.{key}"):
            return mismatch
    return None


def subset_difference(expected: Any, got: Any, items: Any = None, path: str = _ROOT) -> str | None:
    """Return what a JSON value lacks of the expected one, whose arrays `items` may lengthen."""
    if isinstance(expected, dict) and isinstance(got, dict):
        for key, value in expected.items():
            if key not in got:
                return f"expected {path}.{key} in the JSON, it is not there"
            inner = items.get(key) if isinstance(items, dict) else None
            if mismatch := subset_difference(value, got[key], inner, f"{path}.{key}"):
                return mismatch
        return None
    count = len(expected) if isinstance(expected, list) and items is None else items
    if isinstance(expected, list) and isinstance(got, list) and len(got) == count:
        for number, pair in enumerate(zip(expected, got, strict=False)):
            if mismatch := subset_difference(*pair, path=f"{path}[{number}]"):
                return mismatch
        return None
    same = expected == got and isinstance(expected, bool) == isinstance(got, bool)
    return None if same else f"expected {path} = {json.dumps(expected)}, got {_shown(got)}"


def items_conflict(items: Any, subset: Any, path: str = _ROOT) -> str | None:
    """Return where `items` and `json` conflict; `json` may give the first elements of an array."""
    if isinstance(items, int):
        if not isinstance(subset, list):
            return f"`items` says that {path} is an array, and `json` that it is {_shown(subset)}"
        if len(subset) > items:
            elements = counted(items, "element")
            return f"`items` gives {path} {elements}, and `json` names {len(subset)}"
        return None
    if not isinstance(subset, dict):
        return f"`items` says that {path} is an object, and `json` that it is {_shown(subset)}"
    conflicts = (
        items_conflict(inner, subset[key], f"{path}.{key}")
        for key, inner in items.items()
        if key in subset
    )
    return next(filter(None, conflicts), None)


def _shown(value: Any) -> str:
    """Return what a person reads of a JSON value that a server chose."""
    try:
        text = json.dumps(value)
    except RecursionError:
        return "what is nested too deeply"
    return cut(text, _SHOWN)


class Undecodable(ValueError):
    """A compressed body that cannot be read; the message says why."""


def decoded(body: bytes, encoding: str) -> bytes:
    """Return a body without its Content-Encoding. Raises Undecodable."""
    coding = encoding.strip().lower()
    if coding in _PLAIN or not body:
        return body
    if coding == _BROTLI:
        return _without_brotli(body)
    if coding not in _ZLIB:
        raise Undecodable(f"a body of Content-Encoding {coding[:20]!r} cannot be decoded")
    unpacking = zlib.decompressobj(_ZLIB_OR_GZIP)
    try:
        text = unpacking.decompress(body, MOST_DECODED)
    except zlib.error as error:
        raise Undecodable(f"the body is not {coding}: {error}") from error
    return _bounded(text, coding, finished=unpacking.eof)


def _without_brotli(body: bytes) -> bytes:
    """Decode by the package brotli, from its version 1.2 on: an older one has no bound."""
    reason = "install the package brotli, 1.2 or later, beside benchforge, or accept gzip"
    message = f"a body of Content-Encoding 'br' cannot be decoded: {reason}"
    try:
        brotli: Any = importlib.import_module("brotli")
    except ImportError as error:
        raise Undecodable(message) from error
    unpacking = brotli.Decompressor()
    try:
        text = unpacking.process(body, output_buffer_limit=MOST_DECODED)
    except TypeError as error:
        raise Undecodable(message) from error
    except brotli.error as error:
        raise Undecodable(f"the body is not br: {error}") from error
    return _bounded(text, _BROTLI, finished=unpacking.is_finished())


def _bounded(text: bytes, coding: str, *, finished: bool) -> bytes:
    if len(text) >= MOST_DECODED:
        raise Undecodable(f"the {coding} body has {exact(MOST_DECODED)} bytes or more, decoded")
    if not finished:
        raise Undecodable(f"the {coding} body ends too early")
    return text


def _compiles(pattern: str) -> str:
    if len(pattern) > LONGEST:
        raise ValueError(f"{exact(len(pattern))} characters: a pattern has at most {LONGEST}")
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"{pattern!r} is not a regular expression: {error}") from error
    return pattern


Pattern = Annotated[str, AfterValidator(_compiles)]
"A regular expression in Python's syntax."


def matches(pattern: str, body: bytes) -> bool:
    """Return True if the first bytes of a body match. Raises TimeoutError for a long search."""
    text = body[:SEARCHED].decode(errors="replace")
    late = f"it was not found in {exact(WITHIN_S)} s of CPU time"
    with in_time(WITHIN_S, late, of_cpu=True):
        return re.search(pattern, text) is not None
