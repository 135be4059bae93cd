"""Four cases that a driver of load tools lets pass: here each is 4, with a reason and no number."""

import socket
from pathlib import Path
from typing import Any

import pytest
from front_door import Bench
from planted.turning import TAKES, WRK, server, suite
from planted.validity import ONCE, Seen, measured

AB = 'use = "ab"\nconnections = 4\nrequests = 200\nkeep_alive = false'


def refused(observed: Seen, label: str, says: str) -> list[dict[str, Any]]:
    """All trials of a server that has no number, for this reason."""
    assert observed.told.code == 4, observed.told.all
    trials = observed.trials(label)
    assert trials
    for trial in trials:
        assert says in trial["failure"]["message"], trial["failure"]
    (case,) = observed.summary["cases"]
    assert case["trials"] == 0
    assert all(line["median"] is None for line in case["metrics"])
    assert "good responses/s" not in observed.told.all
    return trials


def test_a_closed_port(bench: Bench, tmp_path: Path) -> None:
    with socket.socket() as bound:  # it never listens, and nobody else gets it meanwhile
        bound.bind(("127.0.0.1", 0))
        url = f'use = "url"\nurl = "http://127.0.0.1:{bound.getsockname()[1]}"\n'
        toml = suite({"closed": f'{url}ready_within = "1s"\n'}, WRK)
        (trial,) = refused(measured(bench, tmp_path, toml), "closed", "nothing listens on its port")
    assert trial["failure"]["stage"] == "start"
    assert trial["load"] is not None
    assert "load" not in trial["phases"]  # it was refused before


@pytest.mark.samples(3)
@pytest.mark.parametrize(
    ("fault", "within", "expect", "says"),
    [
        ("deaf", "1s", "{}", "not ready within 1 s"),
        ("all-500", "60s", "{}", "expected status 200, got 500"),
        ("none", "5s", "{ body = 'pong' }", "GET /: "),
        ("none", "5s", "{ length = 4 }", "GET /: "),
    ],
)
def test_no_load_begins_before_a_right_answer(
    bench: Bench, tmp_path: Path, fault: str, within: str, expect: str, says: str
) -> None:
    mine = server(fault).replace('"5s"', f'"{within}"')
    toml = suite({"faulty": mine}, WRK, scenario=f"expect = {expect}")
    (trial,) = refused(measured(bench, tmp_path, toml), "faulty", says)
    assert "load" not in trial["phases"]


@pytest.mark.samples(2)
@pytest.mark.parametrize(
    ("fault", "load", "says"),
    [
        ("tools-500", WRK, "responses was good"),
        ("tools-shorter", WRK, "the load was answered otherwise"),
        ("tools-shorter", AB, "was answered with 128 bytes of body, right are 256 bytes"),
    ],
)
def test_wrong_answers_to_the_load_tool_alone(
    bench: Bench, tmp_path: Path, fault: str, load: str, says: str
) -> None:
    result = measured(bench, tmp_path, suite({"broken": server(fault, TAKES)}, load, top=ONCE))
    refused(result, "broken", says)
    assert result.printed("broken", "Requests")  # the tool itself has a number
