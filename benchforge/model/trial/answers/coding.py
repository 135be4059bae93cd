"""What a body was before a server compressed it."""

import importlib
import zlib
from typing import Any

from benchforge.text.readable import exact

MOST_DECODED = 64 << 20
"Length of a decoded body in bytes, at most: a short body may hold gigabytes."
_ZLIB_OR_GZIP = zlib.MAX_WBITS | 32
_PLAIN, _ZLIB, _BROTLI = ("", "identity"), ("gzip", "x-gzip", "deflate"), "br"


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
    why = "install the package brotli, 1.2 or later, beside benchforge, or accept gzip"
    lacking = f"a body of Content-Encoding 'br' cannot be decoded: {why}"
    try:
        brotli: Any = importlib.import_module("brotli")
    except ImportError as error:
        raise Undecodable(lacking) from error
    unpacking = brotli.Decompressor()
    try:
        text = unpacking.process(body, output_buffer_limit=MOST_DECODED)
    except TypeError as error:
        raise Undecodable(lacking) from error
    except brotli.error as error:
        raise Undecodable(f"the body is not br: {error}") from error
    return _bounded(text, _BROTLI, finished=unpacking.is_finished())


def _bounded(text: bytes, coding: str, *, finished: bool) -> bytes:
    if len(text) >= MOST_DECODED:
        raise Undecodable(f"the {coding} body has {exact(MOST_DECODED)} bytes or more, decoded")
    if not finished:
        raise Undecodable(f"the {coding} body ends too early")
    return text
