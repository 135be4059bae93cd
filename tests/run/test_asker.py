"""The monitor's own reader of answers: each byte may come alone, and nonsense is refused."""

import contextlib
import gzip
import itertools
import socket
import time
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchforge.run.http.asker import Malformed, Received
from benchforge.run.http.monitor import decoded

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
ANSWERS = {
    b"length": HEAD + b"Content-Length: 4\r\n\r\npong",
    b"chunked": HEAD
    + b"Transfer-Encoding: chunked\r\n\r\n1;a=b\r\np\r\n3\r\nong\r\n0\r\nX: 1\r\n\r\n",
    b"until it closes": HEAD + b"\r\npong",
    b"interim": b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\n" + HEAD + b"Content-Length: 4\r\n\r\npong",
    b"old": HEAD.replace(b"/1.1", b"/1.0") + b"Content-Length: 4\r\n\r\npong",
}


def received(pieces: list[bytes], *, bodiless: bool = False) -> Received:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        for piece in pieces:
            theirs.sendall(piece)
        theirs.shutdown(socket.SHUT_WR)
        return Received(ours, time.monotonic() + 60, bodiless=bodiless)


@pytest.mark.parametrize("name", list(ANSWERS))
@given(cuts=st.lists(st.integers(0, 200), max_size=8))
def test_an_answer_is_the_same_in_all_pieces(name: bytes, cuts: list[int]) -> None:
    text = ANSWERS[name]
    ends = [0, *sorted(cut for cut in cuts if cut < len(text)), len(text)]
    answer = received([text[begin:end] for begin, end in itertools.pairwise(ends)])
    assert (answer.status, answer.type, answer.body) == (200, "text/plain", b"pong")
    assert answer.keeps == (name not in {b"until it closes", b"old"})


@given(st.binary(max_size=200))
def test_nonsense_is_no_answer(text: bytes) -> None:
    for head in (b"", b"HTTP/1.1 ", HEAD, HEAD + b"Transfer-Encoding: chunked\r\n\r\n"):
        with contextlib.suppress(Malformed, OSError):
            received([head + text])


def test_a_head_alone_ends_where_no_body_comes() -> None:
    text = HEAD + b"Content-Length: 4\r\n\r\n"
    assert received([text], bodiless=True).body == b""
    assert received([text.replace(b"200", b"304")]).body == b""
    with pytest.raises(Malformed, match="ends too early"):
        received([text + b"po"])


def test_bodies_are_judged_as_they_were_before_they_were_compressed() -> None:
    assert decoded(b"pong", "") == decoded(gzip.compress(b"pong"), "gzip") == b"pong"
    assert decoded(zlib.compress(b"pong"), "deflate") == b"pong"
    assert decoded(b"pong", "br") is None
    assert decoded(b"no gzip", "gzip") is None
    assert decoded(gzip.compress(b"pong")[:-9], "gzip") is None
