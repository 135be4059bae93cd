"""Four cases that a driver of load tools lets pass: here each is 4, with a reason and no number."""

import shlex
import socket
from pathlib import Path
from typing import Any

import pytest
from front_door import Bench, program_words
from planted.turning import TAKES, WRK, server, suite
from planted.validity import ONCE, Seen, measured

pytestmark = pytest.mark.timeout(1000)

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


def test_all_answers_to_the_load_tool_are_500(bench: Bench, tmp_path: Path) -> None:
    result = measured(bench, tmp_path, suite({"broken": server("tools-500", TAKES)}, WRK, top=ONCE))
    refused(result, "broken", "responses was good")
    assert "Requests/sec" in result.printed("broken", "Requests/sec")  # wrk itself has a number


@pytest.mark.samples(1)
@pytest.mark.parametrize(
    ("tool", "load", "says"),
    [
        ("wrk", WRK, "the load was answered otherwise"),
        ("ab", AB, "was answered with 128 bytes of body, right are 256 bytes"),
    ],
)
def test_another_document_to_the_load_tool(
    bench: Bench, tmp_path: Path, tool: str, load: str, says: str
) -> None:
    text = suite({"other": server("tools-shorter", TAKES)}, load, top=ONCE)
    refused(measured(bench, tmp_path, text), "other", says)


@pytest.mark.samples(1)
@pytest.mark.parametrize(
    "damage", ["head -n 15", "sed s/200/2x0/", "sed '/^Failed/d'", "head -c 0"]
)
def test_a_load_tool_whose_output_is_damaged(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    (tmp_path / "bin").mkdir()
    fake = tmp_path / "bin/ab"
    real = shlex.join(program_words("ab"))
    fake.write_text(f'#!/bin/sh\n[ "$1" = -V ] && exec {real} -V\n{real} "$@" | {damage}\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(fake.parent), prepend=":")
    result = measured(bench, tmp_path, suite({"healthy": server("none")}, AB))
    trials = refused(result, "healthy", "ab")
    assert len(trials) == 3
    assert {trial["failure"]["subject"] for trial in trials} == {"apparatus"}
