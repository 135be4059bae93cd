"""The loader: its command lines, and what it reads from what httperf really printed.

The recordings are of a small server on loopback; the first line of each is the command. What the
server itself counted stands in the tests.
"""

from dataclasses import replace
from pathlib import Path

import pytest
from benchforge_httperf.httperf import Httperf

from benchforge.plugin import (
    BenchforgeError,
    Finished,
    Output,
    OutputDamaged,
    Rate,
    Reading,
    Request,
    Target,
)
from benchforge.testing import PartContract

OUTPUTS = Path(__file__).parent / "outputs"
TARGET = Target(
    url="http://127.0.0.1:8000/hello?name=you",
    request=Request(path="/hello?name=you"),
    folder=Path("/nowhere"),
    programs={"httperf": Path("/usr/bin/httperf")},
    python=Path("/usr/bin/python3"),
)


class TestContract(PartContract):
    """No request is dropped, and no damaged output is believed."""

    part = "loader-httperf"
    recordings = tuple(OUTPUTS / name for name in ("healthy", "paced", "mixed", "closes", "hangs"))


def read(httperf: Httperf, name: str, code: int = 0) -> Reading:
    stdout = OUTPUTS / name / "stdout.txt"
    finished = Finished(code, stdout, Path("/dev/null"), seconds=1, user_s=1, system_s=0)
    return httperf.read(Output(TARGET, (finished,)))


def words(httperf: Httperf, request: Request = TARGET.request) -> str:
    (command,) = httperf.commands(replace(TARGET, request=request))
    return " ".join(command.argv)


def test_a_healthy_server() -> None:
    reading = read(Httperf(num_conns=20, num_calls=5), "healthy")
    assert (reading.responses, reading.good) == (100, 100)
    assert (sum(reading.errors.values()), reading.unanswered) == (0, 0)
    assert (reading.body_bytes, reading.received_bytes) == (1400, 9400)
    assert reading.seconds == pytest.approx(1.094)
    # httperf tells none: nothing is made up.
    assert (reading.latency, reading.percentiles_us) == (None, None)


def test_a_rate_is_what_the_load_declares() -> None:
    paced = Httperf(num_conns=50, rate=Rate(100))
    assert (paced.load().rate, read(paced, "paced").good) == (100, 50)


def test_half_of_the_answers_are_errors() -> None:
    reading = read(Httperf(num_conns=20, num_calls=5), "mixed")
    assert (reading.responses, reading.good, reading.errors["status"]) == (100, 50, 50)


def test_a_server_that_closes_answers_the_first_call_alone() -> None:
    reading = read(Httperf(num_conns=20, num_calls=5), "closes")
    # The server saw 20 requests: what was sent after its end never came.
    assert (reading.responses, reading.errors["reset"], reading.unanswered) == (20, 20, 20)


def test_a_body_cut_short_is_good_to_httperf_and_that_is_said() -> None:
    reading = read(Httperf(num_conns=20, num_calls=5), "cut")
    # Of the hundred the server cut every tenth.
    assert reading.good == 100
    assert "httperf:cut-bodies-are-good" in reading.defects


def test_no_answer_in_time() -> None:
    reading = read(Httperf(num_conns=10, num_calls=2, rate=Rate(50)), "hangs")
    assert (reading.responses, reading.errors["timeout"], reading.unanswered) == (0, 10, 10)


def test_a_server_that_is_killed() -> None:
    reading = read(Httperf(num_conns=4000, num_calls=5), "killed")
    assert (reading.responses, reading.errors["connect"]) == (1960, 3608)


def test_a_server_that_is_not_there() -> None:
    reading = read(Httperf(num_conns=5), "refused")
    assert (reading.responses, reading.errors["connect"]) == (0, 5)


@pytest.mark.parametrize(
    ("recording", "httperf", "says"),
    [
        ("descriptors", Httperf(num_conns=1300, rate=Rate(2000)), "281 connections lacked"),
        ("interrupted", Httperf(num_conns=400, num_calls=5), "37 replies to 38 requests"),
        ("healthy", Httperf(num_conns=21, num_calls=5), "20 connections"),
    ],
)
def test_a_load_that_was_not_what_was_asked_for(
    recording: str, httperf: Httperf, says: str
) -> None:
    with pytest.raises(OutputDamaged, match=says):
        read(httperf, recording)


def test_a_tool_that_is_killed_has_no_reading() -> None:
    with pytest.raises(OutputDamaged, match="ended by signal 9"):
        read(Httperf(num_conns=20, num_calls=5), "healthy", code=-9)


def test_the_command_line() -> None:
    assert words(Httperf(num_conns=10, num_calls=2, rate=Rate(50))) == (
        "/usr/bin/httperf --hog --server 127.0.0.1 --port 8000 --uri /hello?name=you --method GET "
        "--num-conns 10 --num-calls 2 --timeout 5 --rate 50"
    )


def test_what_it_cannot_send_is_told() -> None:
    with pytest.raises(BenchforgeError, match="without headers or a body"):
        words(Httperf(), Request(path="/", method="POST", body="x"))
    with pytest.raises(BenchforgeError, match="without headers"):
        words(Httperf(), Request(path="/", headers={"X-Path": "a"}))
    with pytest.raises(BenchforgeError, match="plain HTTP"):
        Httperf().commands(replace(TARGET, url="https://127.0.0.1:8000/"))


def test_a_warm_up_is_as_long_as_it_is_asked_to_be() -> None:
    paced = Httperf(num_conns=1000, num_calls=3, rate=Rate(50))
    assert paced.declared_s() == 20
    assert paced.for_warm_up(3).declared_s() == 3
    assert Httperf().for_warm_up(2).declared_s() == 2
