"""A mix by h2load: a list of URLs, which each connection goes through, with the same headers."""

import struct
from collections.abc import Mapping
from urllib.parse import urlsplit

from benchforge.plugin import Request, Target

MOST = 10_000
"URLs of a list, which is kept with the trial. Then a connection begins again."
_ENTRY = struct.Struct("<QIHH")


def why_no_urls(requests: Mapping[str, Request]) -> str:
    """Return what differs between requests besides their paths; empty if nothing does."""
    first = next(iter(requests.values()), Request())
    for label, request in requests.items():
        if request.method != "GET" or request.body is not None:
            return f"sends GET without a body only, unlike kind {label!r}"
        if request.headers != first.headers or "{" in "".join(request.headers.values()):
            return f"sends the same headers in all requests, unlike kind {label!r}"
    return ""


def urls(target: Target) -> str:
    """Return the URLs of the first records of a stream, a line each."""
    return "".join(f"{target.root}{one.path}\n" for one in _requests(target, MOST))


def first_request(target: Target) -> Request:
    """Return the first request of a stream, whose headers are those of all."""
    return _requests(target, 1)[0]


def _requests(target: Target, most: int) -> list[Request]:
    assert target.stream is not None  # noqa: S101 - a mix has both
    assert target.index is not None  # noqa: S101
    there: list[Request] = []
    with target.stream.open("rb") as content, target.index.open("rb") as index:
        for offset, length, _, _ in _ENTRY.iter_unpack(index.read(_ENTRY.size * most)):
            content.seek(offset)
            first, *lines = content.read(length).decode().rstrip().split("\r\n")
            _, path, _ = first.split(" ")
            pairs = dict(line.split(": ", 1) for line in lines)
            if pairs.get("Host") == urlsplit(target.root).netloc:
                del pairs["Host"]  # h2load writes it by itself
            there.append(Request.model_construct(path=path, headers=pairs))
    return there
