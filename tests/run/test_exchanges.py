"""Requests and answers that are put together from packets, in whatever order they come."""

import random
import struct
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchforge.run.http.wire.exchanges import Exchange, Packet, exchanges
from benchforge.run.http.wire.packets import FIN, SYN, segment

PORT, LATE_S = 8080, 1e9
CLIENT, SERVER = b"\x7f\x00\x00\x01", b"\x7f\x00\x00\x01"


class Part(NamedTuple):
    """A piece of what one side sends, by its place in its stream."""

    of_client: bool
    place: int
    payload: bytes
    acknowledged: int
    flags: int = 0


def packet(part: Part, first: tuple[int, int], seconds: float, *, v6: bool = False) -> Packet:
    ports = (40000, PORT) if part.of_client else (PORT, 40000)
    mine, other = first if part.of_client else first[::-1]
    numbers = [(mine + part.place) % 2**32, (other + part.acknowledged) % 2**32]
    tcp = struct.pack("!HHIIBBHHH", *ports, *numbers, 5 << 4, part.flags, 0, 0, 0) + part.payload
    if v6:
        head = struct.pack("!IHBB", 6 << 28, len(tcp), 6, 64)
        return Packet(seconds, head + (b"\0" * 15 + b"\1") * 2 + tcp)
    head = struct.pack("!BBHIBBH", 0x45, 0, 20 + len(tcp), 0, 64, 6, 0)
    return Packet(seconds, head + CLIENT + SERVER + tcp)


BODY = st.binary(max_size=60)
TARGET = st.text("abc/?=&%", min_size=1, max_size=8).map(lambda text: f"/{text}")


class Pair(NamedTuple):
    method: str
    target: str
    sent: bytes
    status: int
    body: bytes
    request: bytes
    answer: bytes


@st.composite
def pairs(draw: st.DrawFn) -> Pair:
    method = draw(st.sampled_from(["GET", "HEAD", "POST", "PUT", "DELETE"]))
    target, sent = draw(TARGET), draw(BODY) if method in {"POST", "PUT"} else b""
    status = draw(st.sampled_from([200, 200, 201, 204, 304, 404, 500]))
    body = b"" if method == "HEAD" or status in {204, 304} else draw(BODY)
    chunked = draw(st.booleans()) and method != "HEAD" and status not in {204, 304}
    length = "" if method == "GET" else f"content-length: {len(sent)}\r\n"
    request = f"{method} {target} HTTP/1.1\r\nHost: a\r\n{length}\r\n".encode() + sent
    framed, header = body, f"Content-Length: {len(body) or draw(st.integers(0, 9))}"
    if method != "HEAD" and status not in {204, 304}:
        header = f"Content-Length: {len(body)}"
    if chunked:
        header, cut = "Transfer-Encoding: chunked", draw(st.integers(1, 9))
        parts = [body[n : n + cut] for n in range(0, len(body), cut)]
        framed = b"".join(b"%x;a=b\r\n%b\r\n" % (len(part), part) for part in parts)
        framed += b"0\r\n" + draw(st.sampled_from([b"", b"Trailer: x\r\n"])) + b"\r\n"
    early = draw(st.sampled_from([b"", b"HTTP/1.1 100 Continue\r\n\r\n"]))
    answer = early + f"HTTP/1.1 {status} X\r\n{header}\r\n\r\n".encode() + framed
    return Pair(method, target, sent, status, body, request, answer)


def pieces(content: bytes, rng: random.Random) -> list[bytes]:
    cuts = sorted(rng.sample(range(1, len(content)), min(len(content) - 1, rng.randrange(4))))
    return [content[a:b] for a, b in zip([0, *cuts], [*cuts, len(content)], strict=True)]


def connection(sent: list[Pair], rng: random.Random) -> list[Part]:
    """Return what is sent one after the other on a connection."""
    parts: list[Part] = []
    client = server = 0
    for pair in sent:
        for piece in pieces(pair.request, rng):
            parts.append(Part(True, client, piece, server))
            client += len(piece)
        for piece in pieces(pair.answer, rng):
            parts.append(Part(False, server, piece, client))
            server += len(piece)
    return parts


def told(pair: Exchange) -> tuple[str, str, bytes, int, bytes]:
    assert pair.answer is not None
    request = pair.request
    return request.method, request.target, request.body, pair.answer.status, pair.answer.body


SENT = st.lists(pairs(), min_size=1, max_size=3)
FIRST = st.tuples(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1))


@given(SENT, FIRST, st.randoms(use_true_random=False), st.booleans())
def test_segments_in_any_order_and_sent_twice_are_the_same_exchanges(
    sent: list[Pair], first: tuple[int, int], rng: random.Random, v6: bool
) -> None:
    parts = connection(sent, rng)
    packets = [packet(part, first, n / 1000, v6=v6) for n, part in enumerate(parts)]
    shuffled = [*packets, *rng.sample(packets, len(packets) // 2)]
    rng.shuffle(shuffled)
    pairs = exchanges(shuffled, PORT, LATE_S)
    assert [told(pair) for pair in pairs] == [pair[:5] for pair in sent]
    assert all(pair.seconds >= 0 for pair in pairs)


@given(SENT, FIRST, st.randoms(use_true_random=False))
def test_what_is_lost_cuts_an_answer_and_makes_no_other(
    sent: list[Pair], first: tuple[int, int], rng: random.Random
) -> None:
    """A window begins and ends anywhere, and a packet in it is lost."""
    parts = connection(sent, rng)
    begin = rng.randrange(len(parts))
    parts = parts[begin : rng.randint(begin, len(parts))]
    if parts:
        del parts[rng.randrange(len(parts))]
    packets = [packet(part, first, 0.0) for part in parts]
    full = [told(pair) for pair in exchanges(packets, PORT, LATE_S) if pair.answer is not None]
    right = [pair[:5] for pair in sent]
    for pair in full:
        assert pair in right, (pair, right)


@given(st.lists(st.binary(max_size=80)), st.binary(max_size=400), st.randoms(), SENT)
def test_bytes_of_strangers_raise_nothing(
    packets: list[bytes], content: bytes, rng: random.Random, sent: list[Pair]
) -> None:
    hostile = [packet(part, (0, 0), 0.0) for part in connection(sent, rng)]
    hostile += [packet(Part(False, 0, content, 0, rng.choice([0, FIN, SYN])), (0, 0), 0.0)]
    for item in (*packets, *(item.content for item in hostile)):
        changed = bytearray(item)
        for _ in range(rng.randrange(4)):
            if changed:
                changed[rng.randrange(len(changed))] = rng.randrange(256)
        hostile.append(Packet(0.0, bytes(changed)))
        segment(bytes(changed))
    rng.shuffle(hostile)
    exchanges(hostile, PORT, LATE_S)


def one(*parts: Part, until_s: float = LATE_S) -> list[Exchange]:
    return exchanges([packet(part, (7, 9), n) for n, part in enumerate(parts)], PORT, until_s)


GET = b"GET / HTTP/1.1\r\n\r\n"


def test_a_body_without_a_length_ends_with_the_connection() -> None:
    answer = b"HTTP/1.0 200 OK\r\n\r\nab"
    ask, reply = Part(True, 0, GET, 0), Part(False, 0, answer, len(GET))
    (pair,) = one(ask, reply)
    assert pair.answer is None
    (pair,) = one(ask, reply, Part(False, len(answer), b"c", len(GET), FIN))
    assert pair.answer is not None
    assert pair.answer.body == b"abc"
    assert pair.seconds == 2


@pytest.mark.parametrize("closed", [b"", b"GET /b HTTP/1.1\r\n\r\n"])
def test_requests_that_are_sent_at_once_have_answers_in_order_if_they_are_alike(
    closed: bytes,
) -> None:
    """If the first ones were sent before the window, whose answer is whose is not known."""
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n"
    sent = GET + GET + closed
    pairs = one(Part(True, 0, sent, 0), Part(False, 0, answer + b"1" + answer + b"2", 0))
    bodies = [pair.answer.body for pair in pairs if pair.answer]
    assert bodies == ([] if closed else [b"1", b"2"])


def test_requests_after_a_moment_are_followed_by_no_one() -> None:
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
    size, length = len(GET), len(answer)
    parts = [
        Part(True, 0, GET, 0),
        Part(False, 0, answer, size),
        Part(True, size, GET, length),
        Part(False, length, answer, 2 * size),
    ]
    assert len(one(*parts)) == 2
    assert [pair.seconds for pair in one(*parts, until_s=2)] == [1]


@pytest.mark.parametrize(
    "answer",
    [
        b"nonsense\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1, 2\r\n\r\nab",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nab",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\nab\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
    ],
)
def test_what_is_not_http_is_not_understood(answer: bytes) -> None:
    (pair,) = one(Part(True, 0, GET, 0), Part(False, 0, answer, len(GET)))
    assert not pair.understood
    assert pair.answer is None
