"""Servers that stand still, fail, or answer otherwise: each is caught, and a healthy one is not."""

from pathlib import Path

import pytest
from front_door import Bench
from planted.turning import PACE, TAKES, WRK, server, suite, turning
from planted.validity import ONCE, RATE, apart, caught, measured, quiet

LONGER = WRK.replace('"1s"', '"2s"')


@pytest.mark.exhaustive
def test_a_server_that_stands_still_for_half_of_the_load(bench: Bench, tmp_path: Path) -> None:
    load = 'use = "wrk"\nconnections = 16\nduration = "8s"'
    servers = {"healthy": server("slow"), "frozen": server("frozen")}
    result = measured(bench, tmp_path, suite(servers, load))
    fault = "a server that stands still for 4 of 8 seconds"
    printed = result.printed("frozen", "99%")
    apart(result, fault, "O1", "frozen", "times that of the closed loop", printed=printed)
    caught(fault, result, "S1", server="frozen", status="warn", printed=printed)
    # The 16 requests of those seconds are far fewer than 1 % of all: the tool prints a fine p99.
    assert float(printed.split()[1].removesuffix("ms")) < 1000


@pytest.mark.exhaustive
def test_errors_under_load(bench: Bench, tmp_path: Path) -> None:
    result = measured(bench, tmp_path, suite(turning("some-500", "load-503", "flapping"), PACE))
    error = caught("500 to 1 % of the requests", result, "E1", server="some-500")
    assert "errors are usually faster than answers" in error["message"]
    caught("503 in the first second of the load", result, "E1", server="load-503")
    caught("503 to each third request", result, "E1", server="flapping")
    says = "expected status 200, got 503"
    apart(result, "503 to each third request", "E3", "flapping", says)
    caught("errors of one of several servers", result, "E1")
    quiet(result, "E1", server="healthy")


def test_errors_that_wrk_counts_as_requests(bench: Bench, tmp_path: Path) -> None:
    result = measured(bench, tmp_path, suite(turning("some-500", takes="0.003"), WRK, top=ONCE))
    fault = "500 to 1 % of the requests, by wrk"
    error = caught(fault, result, "E1", server="some-500", word=RATE)
    assert error["value"] == pytest.approx(0.01, rel=0.2)
    quiet(result, "E1", server="healthy")


@pytest.mark.exhaustive
def test_a_server_is_not_loaded_before_it_answers_rightly(bench: Bench, tmp_path: Path) -> None:
    result = measured(bench, tmp_path, suite(turning("warming"), PACE))
    assert result.told.code == 0, result.told.all
    (trial,) = result.trials("warming")
    assert trial["phases"]["ask"] > 1  # it answered 503 for 1.5 s, and was asked all the time
    quiet(result, "E1", server="warming")
    quiet(result, "E3", server="warming")


@pytest.mark.exhaustive
def test_a_server_that_answers_another_body_after_a_while(bench: Bench, tmp_path: Path) -> None:
    result = measured(bench, tmp_path, suite(turning("turns"), LONGER))
    fault = "another body, as long, after a second"
    apart(result, fault, "E3", "turns", "2 different bodies", status="warn", word=RATE)


@pytest.mark.samples(1)
@pytest.mark.parametrize("expect", [f"{{ body = '{'pong' * 64}' }}", "{ same_body = true }"])
def test_an_unexpected_body_fails(bench: Bench, tmp_path: Path, expect: str) -> None:
    servers = {"turns": server("turns", TAKES)}
    toml = suite(servers, LONGER, scenario=f"expect = {expect}", top=ONCE)
    result = measured(bench, tmp_path, toml)
    assert result.told.code == 4, result.told.all
    (trial,) = result.trials("turns")
    assert "after the load: GET /: " in trial["failure"]["message"]


@pytest.mark.exhaustive
def test_servers_that_answer_other_bytes_are_told_apart(bench: Bench, tmp_path: Path) -> None:
    result = measured(bench, tmp_path, suite(turning("more-headers", "another-body"), PACE))
    caught("300 bytes of headers more than another's", result, "E4", status="warn")
    error = caught("another body than another's, as long", result, "E3", status="warn")
    assert "same_body = true" in error["message"]
    healthy = {"healthy": server("none"), "like": server("none")}
    result = measured(bench, tmp_path, suite(healthy, PACE))
    quiet(result, "E3")
    quiet(result, "E4")


@pytest.mark.exhaustive
def test_servers_that_answer_another_type(bench: Bench, tmp_path: Path) -> None:
    result = measured(bench, tmp_path, suite(turning("other-type"), PACE))
    assert "text/html" in caught("another content type than another's", result, "E3")["message"]
