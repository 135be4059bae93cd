"""What answers in windows are, held to the scenario's `expect`."""

import gzip
import struct
from dataclasses import replace
from typing import Any

from benchforge.model.trial.answers.answer import Expect, Request
from benchforge.model.trial.answers.monitor import LoadAnswers
from benchforge.plugin import Server
from benchforge.run.http.request import HttpProbe
from benchforge.run.http.wire.capture import CapturedWindow
from benchforge.run.http.wire.exchanges import Packet
from benchforge.run.http.wire.judged import Judge, Right, RightOf, right_of_request
from benchforge.run.http.wire.record import WireRecord, tallied

PORT = 80
ADDRESSES = b"\x7f\x00\x00\x01" * 2
NONE: Any = None


def probe(**expect: object) -> HttpProbe:
    server: Server = NONE  # only a message of a probe that fails shows it
    return HttpProbe(
        *("a", server, None, "http://a", Request(path="/"), Expect.model_validate(expect)),
        like=None,
    )


def window(*pairs: tuple[bytes, bytes], phase: Any = "load") -> CapturedWindow:
    """Return a window with connections of one request and its answer each."""
    packets = []
    for client, (request, answer) in enumerate(pairs, 1000):
        for ports, payload in (((client, PORT), request), ((PORT, client), answer)):
            tcp = struct.pack("!HHIIBBHHH", *ports, 0, 0, 5 << 4, 0, 0, 0, 0) + payload
            head = struct.pack("!BBHIBBH", 0x45, 0, 20 + len(tcp), 0, 64, 6, 0)
            packets.append(Packet(0.0, head + ADDRESSES + tcp))
    return CapturedWindow(phase, 1.0, 2.0, 0.001, packets, 0, 0.5)


def answer(body: bytes, more: str = "", status: int = 200) -> bytes:
    return f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\n{more}\r\n".encode() + body


GET = b"GET / HTTP/1.1\r\n\r\n"


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
