"""Servers that stand still, fail, or answer otherwise: each is caught, and a healthy one is not."""

from pathlib import Path

import pytest
from front_door import Bench, needed
from planted.turning import PACE, TAKES, WRK, server, suite, turning
from planted.validity import ONCE, caught, measured, quiet

pytestmark = pytest.mark.timeout(1000)


@pytest.mark.exhaustive
def test_a_server_that_stands_still_for_half_of_the_load(bench: Bench, tmp_path: Path) -> None:
    needed("wrk")
    load = 'use = "wrk"\nconnections = 16\nduration = "8s"'
    servers = {"healthy": server("slow"), "frozen": server("frozen")}
    seen = measured(bench, tmp_path, suite(servers, load))
    fault = "a server that stands still for 4 of 8 seconds"
    printed = seen.printed("frozen", "99%")
    stood = caught(fault, seen, "O1", server="frozen", printed=printed)
    assert "times that of the closed loop" in stood["message"]
    caught(fault, seen, "S1", server="frozen", status="warn", printed=printed)
    # The 16 requests of those seconds are far fewer than 1 % of all: the tool prints a fine p99.
    assert float(printed.split()[1].removesuffix("ms")) < 1000
    quiet(seen, "O1", server="healthy")


@pytest.mark.exhaustive
def test_errors_under_load(bench: Bench, tmp_path: Path) -> None:
    seen = measured(bench, tmp_path, suite(turning("some-500", "load-503", "flapping"), PACE))
    some = caught("500 to 1 % of the requests", seen, "E1", server="some-500")
    assert "errors are usually faster than answers" in some["message"]
    caught("503 in the first second of the load", seen, "E1", server="load-503")
    caught("503 to each third request", seen, "E1", server="flapping")
    mixture = caught("503 to each third request", seen, "E3", server="flapping")
    assert "expected status 200, got 503" in mixture["message"]
    caught("errors of one of several servers", seen, "E1")
    quiet(seen, "E1", server="healthy")
    quiet(seen, "E3", server="healthy")


def test_errors_that_wrk_counts_as_requests(bench: Bench, tmp_path: Path) -> None:
    needed("wrk")
    seen = measured(bench, tmp_path, suite(turning("some-500", takes="0.003"), WRK, top=ONCE))
    fault = "500 to 1 % of the requests, by wrk"
    printed = seen.printed("some-500", "Requests/sec")
    found = caught(fault, seen, "E1", server="some-500", printed=printed)
    assert found["value"] == pytest.approx(0.01, rel=0.2)
    quiet(seen, "E1", server="healthy")


@pytest.mark.exhaustive
def test_a_server_is_not_loaded_before_it_answers_rightly(bench: Bench, tmp_path: Path) -> None:
    seen = measured(bench, tmp_path, suite(turning("warming"), PACE))
    assert seen.told.code == 0, seen.told.all
    (trial,) = seen.trials("warming")
    assert trial["phases"]["ask"] > 1  # it answered 503 for 1.5 s, and was asked all the time
    quiet(seen, "E1", server="warming")
    quiet(seen, "E3", server="warming")


@pytest.mark.exhaustive
def test_a_server_that_answers_another_body_after_a_while(bench: Bench, tmp_path: Path) -> None:
    needed("wrk")
    load = 'use = "wrk"\nconnections = 8\nduration = "2s"'
    seen = measured(bench, tmp_path, suite(turning("turns"), load))
    fault = "another body, as long, after a second"
    printed = seen.printed("turns", "Requests/sec")
    found = caught(fault, seen, "E3", server="turns", status="warn", printed=printed)
    assert "2 different bodies" in found["message"]
    quiet(seen, "E3", server="healthy")


@pytest.mark.samples(1)
@pytest.mark.parametrize("expect", [f"{{ body = '{'pong' * 64}' }}", "{ same_body = true }"])
def test_an_unexpected_body_fails(bench: Bench, tmp_path: Path, expect: str) -> None:
    needed("wrk")
    load = 'use = "wrk"\nconnections = 8\nduration = "2s"'
    toml = suite({"turns": server("turns", TAKES)}, load, scenario=f"expect = {expect}", top=ONCE)
    seen = measured(bench, tmp_path, toml)
    assert seen.told.code == 4, seen.told.all
    (trial,) = seen.trials("turns")
    assert "after the load: GET /: " in trial["failure"]["message"]


@pytest.mark.exhaustive
def test_servers_that_answer_other_bytes_are_told_apart(bench: Bench, tmp_path: Path) -> None:
    seen = measured(bench, tmp_path, suite(turning("more-headers", "another-body"), PACE))
    fault = "300 bytes of headers more than another's"
    caught(fault, seen, "E4", status="warn")
    found = caught("another body than another's, as long", seen, "E3", status="warn")
    assert "same_body = true" in found["message"]
    healthy = {"healthy": server("none"), "like": server("none")}
    seen = measured(bench, tmp_path, suite(healthy, PACE))
    quiet(seen, "E3")
    quiet(seen, "E4")


@pytest.mark.exhaustive
def test_servers_that_answer_another_type(bench: Bench, tmp_path: Path) -> None:
    seen = measured(bench, tmp_path, suite(turning("other-type"), PACE))
    assert "text/html" in caught("another content type than another's", seen, "E3")["message"]
