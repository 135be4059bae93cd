"""HTTP/1 responses, read piece by piece; bodies are counted, and kept of a sample alone."""

import hashlib
import re
from collections import namedtuple

from flow_values import LARGEST_BODY

HEAD_LIMIT = 65536
LINE_LIMIT = 8192
KNOWN_LIMIT = 1024
BODY_LIMIT = 2000

# A bare line feed ends a line too, as RFC 9112 allows (2.2).
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_STATUS = re.compile(rb"HTTP/1\.([01]) ([1-9][0-9][0-9])(?: [^\r]*)?")
_FIELD = re.compile(rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([^\r]*)")
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r]*)?")
_BEGINNING = b"HTTP/1."
_SWITCHED, _FINAL, _EMPTY, _UNCHANGED = 101, 200, 204, 304


class Malformed(Exception):
    """Not HTTP/1: what comes after it on this connection has no meaning."""


class Body:
    """The digest of a body, and how it begins."""

    __slots__ = ("begin", "digest")

    def __init__(self):
        self.digest = hashlib.sha256()
        self.begin = b""

    def add(self, data):
        self.digest.update(data)
        if len(self.begin) < BODY_LIMIT:
            self.begin += data[: BODY_LIMIT - len(self.begin)]


class Whole:
    """A body that is kept, up to a size."""

    __slots__ = ("_pieces", "_size")

    def __init__(self):
        self._pieces = []
        self._size = 0

    def add(self, data):
        self._size += len(data)
        if self._size <= LARGEST_BODY:
            self._pieces.append(data)

    @property
    def content(self):
        """The bytes; None where they are too many."""
        return b"".join(self._pieces) if self._size <= LARGEST_BODY else None


# Status and framing. `length` is None where the body's end is marked otherwise.
Head = namedtuple("Head", "status length chunked keeps server")  # noqa: PYI024 - typing is slow


def header_lines(text):
    """Return the name and the value of each header of a head."""
    lines = (line.partition(":") for line in text.decode("latin-1").split("\n")[1:])
    return [(name.strip(), value.strip()) for name, _, value in lines]


def read_head(text, bodiless=False):
    """Return the head of a response, without its empty line. Raises Malformed."""
    lines = [line[:-1] if line[-1:] == b"\r" else line for line in text.split(b"\n")]
    first = _STATUS.fullmatch(lines[0])
    if first is None:
        raise Malformed("no status line of HTTP/1")
    lengths, codings, options, server = set(), [], [], None
    for line in lines[1:]:
        field = _FIELD.fullmatch(line)
        if field is None:
            raise Malformed("a line of the head is no field")
        name, value = field[1].lower(), field[2].rstrip()
        if name == b"content-length":
            lengths.update(one.strip() for one in value.split(b","))
        elif name == b"transfer-encoding":
            codings += [one.strip().lower() for one in value.split(b",")]
        elif name == b"connection":
            options += [one.strip().lower() for one in value.split(b",")]
        elif name == b"server":
            server = value.decode("latin-1")
    status, modern = int(first[2]), first[1] == b"1"
    length = _length(lengths)
    keeps = b"close" not in options and (modern or b"keep-alive" in options)
    if codings:
        # With a length beside it, or in HTTP/1.0, somebody on the way may have read it otherwise.
        keeps = keeps and modern and length is None
        length = None
    if bodiless or status < _FINAL or status in (_EMPTY, _UNCHANGED):
        return Head(status, 0, False, keeps, server)
    chunked = bool(codings) and codings[-1] == b"chunked"
    return Head(status, length, chunked, keeps and (chunked or length is not None), server)


def _length(values):
    if not values:
        return None
    (value, *others) = values
    if others or not re.fullmatch(rb"[0-9]{1,18}", value):
        raise Malformed("a Content-Length that is no number, or several")
    return int(value)


class Response:
    """One response. `head` is None until it has come; `body_bytes` counts what came of the body.

    What came of it is added to `body` too, where somebody set one.
    """

    __slots__ = (
        *("_bodiless", "_known", "_left", "_rest", "_take"),
        *("body", "body_bytes", "extra", "head", "text"),
    )

    def __init__(self, bodiless=False, known=None):
        self._bodiless = bodiless
        self._known = {} if known is None else known
        self._rest = b""
        self._take = Response._take_head  # not bound: a cycle would need a collector
        self._left = 0
        self.head = None
        self.text = b""
        self.body = None
        self.body_bytes = 0
        self.extra = 0

    def feed(self, data):
        """Take what was read; return whether the response is complete. Raises Malformed.

        `extra` is then how many bytes came behind its end.
        """
        if self._rest:
            data = self._rest + data
            self._rest = b""
        at = 0
        while at < len(data) and self._take is not None:
            at = self._take(self, data, at)
        self.extra = len(data) - at
        return self._take is None

    def ended(self):
        """Return whether the response is complete now that the server has closed."""
        return self._take is None or self._take is Response._take_until_closed

    def _wait(self, data, at, limit, what):
        """Keep a part that has no end yet."""
        if len(data) - at > limit:
            raise Malformed(what)
        self._rest = data[at:]
        return len(data)

    def _take_head(self, data, at):
        if not _BEGINNING.startswith(data[at : at + len(_BEGINNING)]):
            raise Malformed("no HTTP/1")
        end = _HEAD_END.search(data, at)
        if end is None:
            return self._wait(data, at, HEAD_LIMIT, "a head without an end")
        if end.end() - at > HEAD_LIMIT:
            raise Malformed("a head without an end")
        text = data[at : end.start()]
        head = self._parsed(text)
        if head.status == _SWITCHED:
            raise Malformed("another protocol, which was not asked for")
        if head.status < _FINAL:
            return end.end()  # the real one follows
        self.head, self.text = head, text
        if head.chunked:
            self._take = Response._take_chunk_size
        elif head.length is None:
            self._take = Response._take_until_closed
        else:
            self._left = head.length
            self._take = Response._take_body if head.length else None
        return end.end()

    def _parsed(self, text):
        head = self._known.get(text)
        if head is None:
            head = read_head(text, self._bodiless)
            if len(self._known) >= KNOWN_LIMIT:
                self._known.clear()
            self._known[text] = head
        return head

    def _take_body(self, data, at):
        at = self._took(data, at, min(len(data), at + self._left))
        if not self._left:
            self._take = None
        return at

    def _took(self, data, at, end):
        """Count a piece of the body, which ends before `end`."""
        self._left -= end - at
        self.body_bytes += end - at
        if self.body is not None:
            self.body.add(data[at:end])
        return end

    def _take_until_closed(self, data, at):
        return self._took(data, at, len(data))

    def _take_chunk_size(self, data, at):
        end = data.find(b"\n", at)
        if end < 0:
            return self._wait(data, at, LINE_LIMIT, "a chunk's size without an end")
        size = _CHUNK.fullmatch(_line(data, at, end))
        if size is None:
            raise Malformed("a chunk without a size")
        self._left = int(size[1], 16)
        self._take = Response._take_chunk if self._left else Response._take_trailer
        return end + 1

    def _take_chunk(self, data, at):
        at = self._took(data, at, min(len(data), at + self._left))
        if not self._left:
            self._take = Response._take_chunk_end
        return at

    def _take_chunk_end(self, data, at):
        here = data[at : at + 2]
        if here == b"\r":
            return self._wait(data, at, 1, "")
        if here != b"\r\n" and here[:1] != b"\n":
            raise Malformed("a chunk that is longer than its size")
        self._take = Response._take_chunk_size
        return at + (2 if here == b"\r\n" else 1)

    def _take_trailer(self, data, at):
        end = data.find(b"\n", at)
        if end < 0:
            return self._wait(data, at, LINE_LIMIT, "a trailer without an end")
        line = _line(data, at, end)
        if not line:
            self._take = None
        elif not _FIELD.fullmatch(line):
            raise Malformed("a trailer that is no field")
        return end + 1


def _line(data, at, end):
    if end - at > LINE_LIMIT:
        raise Malformed("a line without an end")
    return data[at : end - 1] if data[end - 1 : end] == b"\r" and end > at else data[at:end]
