"""HTTP/1 messages in the bytes of one direction of a connection."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

LARGEST_HEAD = 64 << 10
_REQUEST = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}) ([!-\xff]{1,65000}) HTTP/1\.[01]\r?\n")
_STATUS = re.compile(rb"HTTP/1\.[01] ([1-9]\d\d)(?: [^\r\n]{0,65000})?\r?\n")
_END = re.compile(rb"\r?\n\r?\n")
_SIZE = re.compile(rb"([0-9a-fA-F]{1,8})[ \t]*(?:;[^\r\n]{0,4096})?\r?\n")
_LONGEST_SIZE = 4200
_LENGTH = re.compile(r"\d{1,12}")
_WITHOUT_BODY = (204, 304)
_SWITCHED = 101


class NotHttp(ValueError):
    """Bytes that are no message of HTTP/1."""


class HttpMessage(NamedTuple):
    """A request or an answer; of a request the status is 0."""

    method: str
    target: str
    status: int
    headers: Mapping[str, str]
    "Headers by their names in lower case."
    body: bytes
    end: int
    "Offset after its last byte."


def begins(content: bytes, start: int) -> bool:
    """Whether a request may begin at an offset."""
    return _REQUEST.match(content, start) is not None


def request(content: bytes, start: int) -> HttpMessage:
    """Return the request at an offset; its end is 0 if it is not there. Raises NotHttp."""
    line = _REQUEST.match(content, start)
    if line is None:
        raise NotHttp("it does not begin as a request")
    method, target = line[1].decode("latin-1"), line[2].decode("latin-1")
    # The first header of some requests is none, and the empty line then ends the first one.
    end = _head_end(content, line.end() - 2)
    headers = {} if end is None else _headers(content[line.end() : end])
    framed = None if end is None else _body(content, end, headers, otherwise=end)
    return HttpMessage(method, target, 0, headers, *(framed or (b"", 0)))


def answer(content: bytes, start: int, method: str, closed: int | None) -> HttpMessage | None:
    """Return the final answer to a method at an offset; None without its end. Raises NotHttp.

    `closed` is the offset at which the server closed the connection.
    """
    while True:
        end = _head_end(content, start)
        if end is None:
            return None
        line = _STATUS.match(content, start, end)
        if line is None:
            raise NotHttp("it does not begin as an answer")
        status = int(line[1])
        if status == _SWITCHED:
            raise NotHttp("the connection changed its protocol")
        if status >= 200:  # noqa: PLR2004 - others announce the final one
            break
        start = end
    headers = _headers(content[line.end() : end])
    framed: tuple[bytes, int] | None = b"", end
    if method != "HEAD" and status not in _WITHOUT_BODY:
        framed = _body(content, end, headers, otherwise=closed)
    return framed and HttpMessage(method, "", status, headers, *framed)


def _head_end(content: bytes, start: int) -> int | None:
    """Return the offset after a head; None if it is not there. Raises NotHttp if it is too long."""
    end = _END.search(content, start, start + LARGEST_HEAD)
    if end is not None:
        return end.end()
    if len(content) - start >= LARGEST_HEAD:
        raise NotHttp(f"its head is longer than {LARGEST_HEAD} bytes")
    return None


@lru_cache(maxsize=256)  # most heads of a load are alike
def _headers(lines: bytes) -> Mapping[str, str]:
    headers: dict[str, str] = {}
    for line in lines.decode("latin-1").splitlines():
        name, _, value = line.partition(":")
        name, value = name.strip().lower(), value.strip()
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def _body(
    content: bytes, start: int, headers: Mapping[str, str], otherwise: int | None
) -> tuple[bytes, int] | None:
    """Return a body and its end, which is `otherwise` if no header tells it; None if not there."""
    coding = headers.get("transfer-encoding", "identity").lower()
    if coding == "chunked":
        return _chunks(content, start)
    if coding != "identity":
        raise NotHttp("its transfer coding is unknown")
    end = otherwise
    if "content-length" in headers:
        lengths = {*headers["content-length"].replace(" ", "").split(",")}
        length = lengths.pop()
        if lengths or not _LENGTH.fullmatch(length):
            raise NotHttp("its length is no number")
        end = start + int(length)
    if end is None or end > len(content):
        return None
    if end < start:
        raise NotHttp("the connection was closed before its body")
    return content[start:end], end


def _chunks(content: bytes, start: int) -> tuple[bytes, int] | None:
    chunks: list[bytes] = []
    while size := _SIZE.match(content, start):
        start, length = size.end(), int(size[1], 16)
        if length == 0:
            end = _END.search(content, start - 2, start + LARGEST_HEAD)
            return None if end is None else (b"".join(chunks), end.end())
        chunks.append(content[start : start + length])
        start += length
        if content[start : start + 1] == b"\r":
            start += 1
        if start >= len(content):
            return None
        if content[start : start + 1] != b"\n":
            raise NotHttp("a chunk has another length")
        start += 1
    if len(content) - start > _LONGEST_SIZE or b"\n" in content[start:]:
        raise NotHttp("a chunk has no length")
    return None
