"""What is asked one by one around a load, with real servers, and what the checks make of it."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from front_door import PROGRAMS, Bench, answering
from planted.beside import program
from suite_texts.files import suite_text


def measured(
    bench: Bench,
    folder: Path,
    server: str,
    expect: str = "status = 200",
    loader: str = "",
    *,
    duration: str = "300ms",
    stage: str | None = None,
) -> dict[str, Any]:
    """Measure one trial and return its trial.json; `stage` is where it has to fail.

    Where a loud machine does not answer all probes within their second, or ends the trial
    elsewhere, it is measured again.
    """
    holes = {"server": server, "expect": expect, "loader": loader, "duration": duration}
    (folder / "suite.toml").write_text(suite_text("run/http/probes", **holes))
    for attempt in range(30):
        call = bench("run", "suite.toml", "-o", f"out-{attempt}")
        (glob,) = folder.glob(f"out-{attempt}/*/trials/*/trial.json")
        trial: dict[str, Any] = json.loads(glob.read_text())
        assert call.code == (4 if trial["failure"] else 0), call.all
        probes = trial["probes"]
        sent = probes["before"] + probes["after"] + sum(probes["unanswered"].values())
        failed = trial["failure"] and trial["failure"]["stage"]
        # 15 before a load and 5 after it are as many as the 20 of a trial that failed before it.
        only_before = bool(failed) and not probes["after"] and sent == 20
        full = sent == 20 + 5 or only_before or "0.33" in server
        if full and failed == stage:
            break
    assert failed == stage, call.all
    return trial


def statuses(trial: dict[str, Any], id_: str) -> list[str]:
    return [check["status"] for check in trial["checks"] if check["id"] == id_]


def test_a_server_that_always_answers_the_same(bench: Bench, tmp_path: Path) -> None:
    trial = measured(bench, tmp_path, answering(), duration="1s")
    probes = trial["probes"]
    assert (probes["before"], probes["after"], probes["distinct"]) == (20, 5, 1)
    (alike,) = probes["most_frequent"]
    assert (alike["before"], alike["after"]) == (20, 5)
    assert alike["answer"]["version"] == "HTTP/1.1"
    assert not probes["wrong"]
    assert not probes["unanswered"]
    assert trial["listener"]["is_server"] is True
    assert trial["exhaustions"] == []
    each = trial["reading"]["received_bytes"] / trial["reading"]["responses"]
    assert each == pytest.approx(alike["answer"]["header_bytes"] + 4, rel=0.01)
    assert statuses(trial, "E3") == ["pass", "pass"]
    for id_ in ("K1", "K2", "K7", "E1", "S7", "D1", "D2", "D3"):
        assert statuses(trial, id_) == ["pass"], id_


def test_a_body_that_grows_is_told(bench: Bench, tmp_path: Path) -> None:
    grows = program("servers/counts.py", "--port", "{port}", "--way", "grows")
    trial = measured(bench, tmp_path, grows)
    assert trial["probes"]["distinct"] == 25
    assert len(trial["probes"]["most_frequent"]) == 8
    assert statuses(trial, "E3") == ["warn", "unknown"]


def test_what_is_wrong_with_some_answers_is_counted(bench: Bench, tmp_path: Path) -> None:
    grows = program("servers/counts.py", "--port", "{port}", "--way", "grows", "--every", "7")
    trial = measured(bench, tmp_path, grows, "same_body = true")
    assert sum(trial["probes"]["wrong"].values()) >= 2  # of the 20 before the load
    assert statuses(trial, "E3")[0] == "fail"


def test_a_server_that_falls_silent_fails(bench: Bench, tmp_path: Path) -> None:
    closes = program(
        "faulty_servers/misbehaves.py", "--port", "{port}", "--way", "close", "--after", "11"
    )
    trial = measured(bench, tmp_path, closes, stage="ask")
    assert trial["probes"]["before"] == 9  # the tenth was the first of all
    assert sum(trial["probes"]["unanswered"].values()) == 11


def test_a_slow_server_is_asked_for_a_second(bench: Bench, tmp_path: Path) -> None:
    slow = answering("--wait", "0.33")
    trial = measured(bench, tmp_path, slow, duration="1s")
    assert 1 <= trial["probes"]["before"] <= 4
    assert 1 <= trial["probes"]["after"] <= 4


def test_logs_are_searched_for_what_ran_out(bench: Bench, tmp_path: Path) -> None:
    line = "accept: [Errno 24] Too many open files"
    serve = f'{sys.executable} {PROGRAMS / "servers/answers.py"} --port "$0"'
    script = f"echo '{line}' >&2; exec {serve}"
    server = f'use = "command"\ncommand = {json.dumps(["sh", "-c", script, "{port}"])}\n'
    trial = measured(bench, tmp_path, server)
    assert trial["exhaustions"] == [{"label": "server-a", "resource": "descriptors", "line": line}]
    assert "fail" in statuses(trial, "K6")


def test_connections_that_are_to_be_closed_are_asked_so(bench: Bench, tmp_path: Path) -> None:
    trial = measured(bench, tmp_path, answering(), loader="keep_alive = false")
    assert trial["load"]["keep_alive"] is False
    assert statuses(trial, "K1") == ["pass"]
    assert statuses(trial, "E3") == ["pass", "pass"]


def test_a_server_that_closes_each_connection_is_found_out(bench: Bench, tmp_path: Path) -> None:
    closes = program("servers/counts.py", "--port", "{port}", "--way", "close-told")
    assert statuses(measured(bench, tmp_path, closes), "K1") == ["fail"]
