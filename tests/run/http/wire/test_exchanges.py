"""Requests and answers that are put together from packets, their judgement, and their numbers."""

import gzip
import random
import struct
from dataclasses import replace
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from serving.faulty import probe as plain_probe

from benchforge.model.trial.answers.answer import Expect
from benchforge.model.trial.answers.monitor import LoadAnswers, MonitorAnswer
from benchforge.results.validity.reading import windows
from benchforge.run.http.request import HttpProbe
from benchforge.run.http.wire.capture import CapturedWindow
from benchforge.run.http.wire.exchanges import Exchange, Packet, exchanges
from benchforge.run.http.wire.judged import Judge, Right, RightOf, right_of_request
from benchforge.run.http.wire.packets import FIN, SYN, segment
from benchforge.run.http.wire.record import WireRecord, WireWindow, record_of, tallied

PORT, LATE_S = 8080, 1e9
CLIENT, SERVER = b"\x7f\x00\x00\x01", b"\x7f\x00\x00\x01"


class Part(NamedTuple):
    """A piece of what one side sends, by its place in its stream."""

    of_client: bool
    place: int
    payload: bytes
    acknowledged: int
    flags: int = 0


def packet(
    part: Part, first: tuple[int, int], seconds: float, *, v6: bool = False, client: int = 40000
) -> Packet:
    ports = (client, PORT) if part.of_client else (PORT, client)
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
def test_no_bytes_of_strangers_crash_the_reader(
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


# --- judgement -----------------------------------------------------------------------------------


def probe(**expect: object) -> HttpProbe:
    return replace(plain_probe("http://localhost"), expect=Expect.model_validate(expect))


def window(*pairs: tuple[bytes, bytes], phase: Any = "load") -> CapturedWindow:
    """Return a window with connections of one request and its answer each."""
    packets = [
        packet(Part(number == 0, 0, payload, 0), (0, 0), 0.0, client=client)
        for client, pair in enumerate(pairs, 1000)
        for number, payload in enumerate(pair)
    ]
    return CapturedWindow(phase, 1.0, 2.0, 0.001, packets, 0, 0.5)


def answer(body: bytes, more: str = "", status: int = 200) -> bytes:
    return f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\n{more}\r\n".encode() + body


def judged(right_of: RightOf, *windows: CapturedWindow) -> LoadAnswers:
    judge = Judge(right_of, frozenset())
    return tallied(judge.record(windows, PORT, 0.0))


def test_an_answer_is_judged_by_what_the_scenario_expects() -> None:
    right_of = right_of_request(probe(body="right"))
    packed = answer(gzip.compress(b"right"), "Content-Encoding: gzip\r\n")
    bad = answer(gzip.compress(b"wrong"), "Content-Encoding: gzip\r\n")
    unknown = answer(b"right", "Content-Encoding: br2\r\n")
    for content, state in (
        (answer(b"right"), (1, 0, 0)),
        (packed, (1, 0, 0)),
        (answer(b"wrong"), (1, 1, 0)),
        (bad, (1, 1, 0)),
        (answer(b"right", status=500), (1, 1, 0)),
        (unknown, (0, 0, 1)),
        (b"nonsense\r\n\r\n", (0, 0, 1)),
    ):
        load = judged(right_of, window((GET, content))).load
        assert (load.judged, load.wrong, load.unjudged) == state, content


def test_a_request_that_is_not_the_scenarios_is_not_judged() -> None:
    other = b"GET /else HTTP/1.1\r\n\r\n"
    load = judged(right_of_request(probe()), window((other, answer(b"")))).load
    assert (load.judged, load.unjudged) == (0, 1)


def test_windows_are_counted_by_their_phase_and_bodies_of_no_probe_are_told() -> None:
    right_of = right_of_request(probe())
    judgements = judged(
        right_of,
        window((GET, answer(b"a")), (GET, answer(b"b"))),
        window((GET, answer(b"a")), phase="around"),
        window((GET, answer(b"a")[:-1])),
    )
    assert (judgements.load.windows, judgements.load.judged, judgements.load.answers) == (2, 1, 2)
    assert (judgements.load.other_bodies, judgements.load.cut) == (1, 1)
    assert (judgements.around.windows, judgements.around.answers) == (1, 1)
    assert judgements.cpu_s == 1.0
    assert [answer.answers for answer in judgements.answers] == [2, 1]


def test_bodies_that_all_differ_are_few_answers() -> None:
    pairs = [(GET, answer(b"%d" % n)) for n in range(500)]
    judge = Judge(right_of_request(probe(body="7")), frozenset())
    record: WireRecord = judge.record([window(*pairs)], PORT, 0.0)
    assert len(record.answers) < 70
    assert tallied(record).load.wrong_answers == 499


def test_an_answer_is_wrong_if_no_kind_that_the_request_may_be_of_expects_it() -> None:
    rights = [Right("a", probe(body="a")), Right("b", probe(body="b"))]
    for content, kind, wrong in ((b"a", "a", 0), (b"b", "b", 0), (b"c", "a", 1)):
        judgements = judged(lambda _: rights, window((GET, answer(content))))
        assert (judgements.kinds[kind].judged, judgements.kinds[kind].wrong) == (1, wrong)
    unknown = [Right("a", None)]
    assert judged(lambda _: unknown, window((GET, answer(b"a")))).kinds["a"].unjudged == 1


def test_a_secret_is_in_no_reason() -> None:
    hidden = replace(probe(body="right"), secrets=frozenset({"hunter2"}))
    judgements = judged(right_of_request(hidden), window((GET, answer(b"hunter2"))))
    assert "hunter2" not in judgements.model_dump_json()


# --- numbers -------------------------------------------------------------------------------------

FIELDS = {"status": 200, "content_type": "", "length": 1, "sha256": "0", "answers": 0}
DISTINCT = tuple(
    MonitorAnswer.model_validate({**FIELDS, **fields})
    for fields in (
        {},
        {"kind": "a"},
        {"kind": "a", "wrong": "it differs"},
        {"kind": "b", "other_body": True},
        {"kind": "b", "judged": False},
    )
)
COUNTS = st.integers(0, 9)
ANSWERS = st.lists(st.tuples(st.integers(0, len(DISTINCT) - 1), st.floats(0, 9)), max_size=9)
WINDOWS = st.builds(
    WireWindow,
    place=st.sampled_from(["load", "around"]),
    start_s=st.floats(-9, 9),
    open_s=st.floats(0, 1),
    answers=ANSWERS.map(tuple),
    cut=st.dictionaries(st.sampled_from(["", "a", "b"]), COUNTS),
    lost_packets=COUNTS,
)
RECORDS = st.builds(
    WireRecord, answers=st.just(DISTINCT), windows=st.lists(WINDOWS, max_size=9).map(tuple)
)


@given(RECORDS)
def test_each_answer_of_each_window_is_counted_once(record: WireRecord) -> None:
    numbers = tallied(record_of(record.model_dump_json().encode()))
    assert numbers == tallied(record)
    answers = sum(len(window.answers) for window in record.windows)
    counted = [*(numbers.load, numbers.around), *numbers.kinds.values()]
    assert sum(item.answers + item.unjudged for item in counted[:2]) == answers
    assert sum(answer.answers for answer in numbers.answers) == answers
    assert sum(item.windows for item in counted[:2]) == len(record.windows)
    for item_ in counted:
        assert item_.wrong <= item_.wrong_answers <= item_.answers
        assert item_.wrong + item_.other_bodies <= item_.judged <= item_.windows
    unnamed = [n for w in record.windows for n, _ in w.answers if w.place == "load" and n == 0]
    of_kinds = sum(value.answers for value in numbers.kinds.values())
    assert of_kinds + len(unnamed) == numbers.load.answers


@given(RECORDS)
def test_no_record_gives_numbers_that_contradict_one_another(record: WireRecord) -> None:
    assert not list(windows(tallied(record)))


@pytest.mark.parametrize(
    ("path_", "name", "more"),
    [
        *[(path, "judged", 9) for path in ("load", "around", "kind")],
        *[(path, "wrong", 9) for path in ("load", "around", "kind")],
        *[("load", name, 9) for name in ("other_bodies", "wrong_answers")],
        *[("load", "answers", -2), ("around", "wrong", -1), ("kind", "answers", 9)],
    ],
)
def test_numbers_that_contradict_one_another_are_named(path_: str, name: str, more: int) -> None:
    answers = ((1, 0.1), (2, 0.1), (2, 0.1))
    wire_window = WireWindow(place="load", start_s=0, open_s=0.1, answers=answers)
    pair = wire_window, wire_window.model_copy(update={"place": "around"})
    numbers = tallied(WireRecord(answers=DISTINCT, windows=pair)).model_dump()
    part = numbers["kinds"]["a"] if path_ == "kind" else numbers[path_]
    part[name] = max(0, part[name] + more)
    assert list(windows(LoadAnswers.model_validate(numbers)))
    assert list(windows(tallied(WireRecord(windows=pair, answers=DISTINCT, why="TLS"))))


def test_a_record_that_names_an_answer_it_lacks_is_none() -> None:
    window = WireWindow(place="load", start_s=0, open_s=0.001, answers=((1, 0.0),))
    text = WireRecord(answers=DISTINCT[:1], windows=(window,)).model_dump_json()
    for content in (text, text[:-1], "{}x", ""):
        with pytest.raises(ValueError, match=r"."):
            record_of(content.encode())
