"""A server of HTTP/2 that answers so as to hurt: one line, and bounds of time and bytes."""

import contextlib
import itertools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st
from serving.faulty import came, serving

from benchforge.run.http import connect
from benchforge.run.http.http2 import Http2, Http2Answer, NotHttp2, Unprocessed, translated

LATE, ENDLESS = "no answer within 10 s", "its answer has no end within 10 s"
ENDED = "the connection ended before the answer did"
NO_FRAME = "not HTTP/2: a frame is too long, or the first is not SETTINGS"
LONG = "its answer is longer than 2 MiB"
# What comes of each fault of programs/faulty_servers/http2_faults.py.
COMES = {
    "none": "200 of 12",
    "only": "200 of 12",
    "status": "203 of 12",
    "hangs": LATE,
    "hangs-after-settings": LATE,
    "closes": ENDED,
    "closes-after-settings": ENDED,
    "goaway": "it ended the connection: GOAWAY, ENHANCE_YOUR_CALM",
    "goaway-in-order": "it ended the connection: GOAWAY, NO_ERROR",
    "reset": "it reset the stream: RST_STREAM, CANCEL",
    "http1": "it speaks HTTP/1 only, and the load speaks HTTP/2",
    "preface": NO_FRAME,
    "nonsense": NO_FRAME,
    "huge-frame": NO_FRAME,
    "settings-flood": LONG,
    "ping-flood": LONG,
    "continuation-flood": "not HTTP/2: Too many continuation frames received.",
    "header-bomb": "not HTTP/2: ",
    "data-flood": LONG,
    "empty-data-flood": LONG,
    "drips": ENDLESS,
    "events": f"{ENDLESS}: a stream (text/event-stream) cannot be measured",
    "push": "not HTTP/2: Received pushed stream",
    "no-status": "not HTTP/2: Header block missing mandatory b':status' header",
    "status-of-words": "not HTTP/2: ",
    "length-too-long": "not HTTP/2: ",
    "other-stream": "not HTTP/2: Invalid stream ID for peer.",
}
SETTINGS = bytes.fromhex("000000040000000000")
RIGHT = bytes.fromhex("00000101040000000188" + "000004000100000001") + b"pong"
GOAWAY_1 = bytes.fromhex("000008070000000000" + "0000000100000000")
HEAD, ROOT = b"GET / HTTP/1.1\r\n\r\n", ("http", "localhost")


def answered(pieces: list[bytes], body: bytes = b"") -> Http2Answer:
    return Http2(lambda _: None, iter([*pieces, b""]).__next__, ROOT).answer(HEAD + body)


def test_every_answer_over_http_2_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Floods end by their bytes or, on a slow machine, by the time."""
    monkeypatch.setattr(connect, "LARGEST_ANSWER", 2 << 20)

    def seen(fault: str) -> str:
        with serving("http2_faults", fault) as port:
            return came(f"http://127.0.0.1:{port}", version="HTTP/2")

    with ThreadPoolExecutor(len(COMES)) as threads:
        came_of = dict(zip(COMES, threads.map(seen, COMES), strict=True))
    slow = {LATE, ENDLESS}
    other = {
        fault: text
        for fault, text in came_of.items()
        if not text.startswith(COMES[fault]) and not (COMES[fault] == LONG and text in slow)
    }
    assert other == {}


def test_a_connection_may_end_between_two_answers() -> None:
    """Then another one may be asked; where it ends within an answer, or before any, none is."""
    for later, kind in ((b"", Unprocessed), (RIGHT[:4], NotHttp2)):
        pieces = iter([SETTINGS + RIGHT, later, b""])
        connection = Http2(lambda _: None, pieces.__next__, ROOT)
        assert connection.answer(HEAD).keeps
        with pytest.raises(NotHttp2, match=ENDED) as caught:
            connection.answer(HEAD)
        assert (caught.type, connection.keeps) == (kind, False)


@given(cuts=st.lists(st.integers(0, 60), max_size=8))
def test_an_answer_is_the_same_in_all_pieces(cuts: list[int]) -> None:
    """Also where the server announces, before its answer, that it is the last one."""
    for text in (SETTINGS + RIGHT, SETTINGS + GOAWAY_1 + RIGHT):
        ends = [0, *sorted(cut for cut in cuts if 0 < cut < len(text)), len(text)]
        pieces = [text[begin:end] for begin, end in itertools.pairwise(ends) if begin < end]
        answer = answered(pieces)
        assert (answer.status, answer.body) == (200, b"pong")
        assert answer.keeps == (GOAWAY_1 not in text)


FRAME = st.builds(
    lambda kind, flags, stream, payload: (
        len(payload).to_bytes(3) + bytes([kind, flags]) + stream.to_bytes(4) + payload
    ),
    st.integers(0, 12),
    st.integers(0, 255),
    st.sampled_from([0, 1, 1, 1, 2, 3, 1 << 31, (1 << 32) - 1]),
    st.one_of(st.binary(max_size=40), st.sampled_from([b"\x88", b"\x82", b"\x3f\xe1\xff\xff\x7f"])),
)


def outcome(pieces: list[bytes], body: bytes = b"") -> Iterator[Http2Answer]:
    with contextlib.suppress(NotHttp2):
        yield answered(pieces, body)


@given(st.lists(FRAME, max_size=12), st.binary(max_size=30), st.sampled_from([b"", b"x" * 99_999]))
def test_frames_that_nobody_expects_are_no_answer(
    frames: list[bytes], nonsense: bytes, body: bytes
) -> None:
    """Whatever comes, it is a whole answer or one line."""
    text = b"".join(frames)
    cut = [text[:7], text[7:]] if len(text) > 7 else [text]
    for pieces in ([SETTINGS, *frames, nonsense], [SETTINGS + text + RIGHT], cut, [nonsense]):
        for answer in outcome([piece for piece in pieces if piece], body):
            assert 200 <= answer.status <= 999
            assert answer.status != 204 or not answer.body


@given(path=st.integers(0, len(SETTINGS + RIGHT) - 1), value=st.integers(0, 255))
def test_one_other_byte_is_an_answer_or_a_line(path: int, value: int) -> None:
    text = bytearray(SETTINGS + RIGHT)
    text[path] = value
    assert all(len(item.body) <= len(text) for item in outcome([bytes(text)]))


def test_a_request_of_http_1_is_sent_as_one_of_http_2() -> None:
    request = b"POST /a HTTP/1.1\r\nHost: other\r\nConnection: close\r\nX-Y: z\r\n\r\nbody"
    lines, body = translated(request, ("http", "localhost:80"))
    assert body == b"body"
    assert lines == [
        (":method", "POST"),
        (":scheme", "http"),
        (":path", "/a"),
        (":authority", "other"),
        ("x-y", "z"),
    ]
