"""The monitor's own reader of answers: each byte may come alone, and nonsense is refused."""

import contextlib
import gzip
import itertools
import re
import socket
import time
import zlib
from http.client import HTTPException, IncompleteRead
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchforge.model.trial.answers.json_body import MOST_DECODED, Undecodable, decoded
from benchforge.run.http import asker
from benchforge.run.http.asker import Asker
from benchforge.run.http.bounded import BoundedSocket, Received, exchanged

FOLDERS = [str(Path(asker.__file__).parent)]
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
ANSWERS = {
    b"length": HEAD + b"Content-Length: 4\r\n\r\npong",
    b"chunked": HEAD
    + b"Transfer-Encoding: chunked\r\n\r\n1;a=b\r\np\r\n3\r\nong\r\n0\r\nX: 1\r\n\r\n",
    b"until it closes": HEAD + b"\r\npong",
    b"interim": b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\n" + HEAD + b"Content-Length: 4\r\n\r\npong",
    b"old": HEAD.replace(b"/1.1", b"/1.0") + b"Content-Length: 4\r\n\r\npong",
}


def received(pieces: list[bytes], request: bytes = b"GET / HTTP/1.1\r\n\r\n") -> Received:
    end, theirs = socket.socketpair()
    with end, theirs:
        for piece in pieces:
            theirs.sendall(piece)
        theirs.shutdown(socket.SHUT_WR)
        with BoundedSocket(end, time.monotonic() + 60, asker.MOST_ANSWER) as connection:
            return exchanged(connection, request)


@pytest.mark.parametrize("name", list(ANSWERS))
@given(cuts=st.lists(st.integers(0, 200), max_size=8))
def test_an_answer_is_the_same_in_all_pieces(name: bytes, cuts: list[int]) -> None:
    text = ANSWERS[name]
    ends = [0, *sorted(cut for cut in cuts if cut < len(text)), len(text)]
    answer = received([text[begin:end] for begin, end in itertools.pairwise(ends)])
    assert (answer.status, answer.lines[0][1], answer.body) == (200, "text/plain", b"pong")
    assert answer.keeps == (name not in {b"until it closes", b"old"})


@given(st.binary(max_size=200))
def test_any_bytes_end_in_an_answer_or_an_error(text: bytes) -> None:
    for head in (b"", b"HTTP/1.1 ", HEAD, HEAD + b"Transfer-Encoding: chunked\r\n\r\n"):
        with contextlib.suppress(HTTPException, OSError):
            received([head + text])


def test_a_head_alone_ends_where_no_body_comes() -> None:
    text = HEAD + b"Content-Length: 4\r\n\r\n"
    assert received([text], b"HEAD / HTTP/1.1\r\n\r\n").body == b""
    assert received([text.replace(b"200", b"304")]).body == b""
    with pytest.raises(IncompleteRead):
        received([text + b"po"])


def test_bodies_are_judged_as_they_were_before_they_were_compressed() -> None:
    assert decoded(b"pong", "") == decoded(gzip.compress(b"pong"), "gzip") == b"pong"
    assert decoded(zlib.compress(b"pong"), "deflate") == b"pong"
    bomb = gzip.compress(bytes(MOST_DECODED))
    for body, encoding, reason in (
        (b"pong", "zstd", "of Content-Encoding 'zstd' cannot be decoded"),
        (b"pong", "gzip, gzip", "cannot be decoded"),
        (b"no gzip", "gzip", "the body is not gzip: "),
        (gzip.compress(b"pong")[:-9], "gzip", "the gzip body ends too early"),
        (bomb, "gzip", "the gzip body has 67,108,864 bytes or more, decoded"),
        (b"pong", "br", "br"),  # by the package brotli, or a hint to install it
    ):
        with pytest.raises(Undecodable, match=re.escape(reason)):
            decoded(body, encoding)


def planned(**changed: Any) -> Asker:
    plan = {"tls": False, "rate": 20.0, "share": None, "least": 4, "declared_s": 2.0, "seed": 1}
    load = {"load_rate": None, "concurrency": 1, "think_s": 0.0, "http2": "", "paths": FOLDERS}
    return Asker(SimpleNamespace(**{**plan, **load, **changed}))


@given(seed=st.integers(0, 1 << 30), rate=st.floats(0.5, 500))
def test_each_piece_of_a_load_has_a_moment(seed: int, rate: float) -> None:
    schedule = planned(seed=seed, rate=rate, declared_s=1.0)._schedule()
    for number, moment_s in enumerate(itertools.islice(schedule, 50)):
        assert number <= moment_s * rate + 1e-6 <= number + 1 + 2e-6


@given(seed=st.integers(0, 1 << 30), share=st.floats(1e-6, 0.002), least=st.integers(1, 4))
def test_a_small_load_has_its_few_moments(seed: int, share: float, least: int) -> None:
    """Of independent moments, one load in 55 has none."""
    schedule = planned(seed=seed, share=share, least=least)._schedule()
    moments = list(itertools.takewhile(lambda moment_s: moment_s < 2, schedule))
    assert len(moments) >= least
    assert moments == sorted(moments)


def test_moments_come_at_all_times_alike() -> None:
    """As often in each tenth of a load: 400 expected, and 1,000 seeds are the same in each run."""
    tenths = [0] * 10
    for seed in range(1000):
        for moment_s in itertools.islice(planned(seed=seed, rate=2.0)._schedule(), 4):
            tenths[int(moment_s * 5)] += 1
    assert all(320 < count < 480 for count in tenths), tenths
