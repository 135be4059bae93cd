"""Work after the answer, and servers that wait for what goes on while they are frozen."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from front_door import PROGRAMS, Bench, needed
from planted.validity import Seen, caught, measured

TRIES = 4
SUITE = """benchforge = 1
scenarios.asked = {{ servers = ["healthy", "faulty"], loaders = ["load"] }}
{servers}
[loaders.load]
use = "{tool}"
connections = {connections}
duration = "1s"
[repeat]
blocks = 1
quiet = "off"
{turns}
"""
TURNS = 'interleave = "100ms"\neach = "1s"'


def suite(healthy: str, faulty: str, *, tool: str = "pace", turns: str = "", **load: int) -> str:
    program = str(PROGRAMS / "faulty_servers/later.py")
    servers = ""
    for label, fault in (("healthy", healthy), ("faulty", faulty)):
        words = json.dumps([sys.executable, program, "{port}", fault])
        servers += f'[servers.{label}]\nuse = "command"\ncommand = {words}\n'
    connections = load.get("connections", 4)
    return SUITE.format(servers=servers, tool=tool, connections=connections, turns=turns)


def statuses(observation: Seen, id_: str, server: str) -> set[Any]:
    return {check["status"] for check in observation.checks(id_) if check["component"] == server}


def until_failed(bench: Bench, folder: Path, text: str, id_: str) -> Seen:
    """Measure until the fault shows: a neighbour may leave it no CPU, or hide it."""
    observation = measured(bench, folder, text)
    for _ in range(1, TRIES):
        if "fail" in statuses(observation, id_, "faulty"):
            break
        observation = measured(bench, folder, text)
    return observation


@pytest.mark.samples(1)
@pytest.mark.parametrize(
    ("fault", "turns", "says"),
    [
        ("daemon", "", "a daemon in a session of its own that works after the answers"),
        ("thread", "", "a thread of the lowest priority that works after the answers"),
        ("child", "", "a child that is forked after the load, and works"),
        ("tail:0.05", TURNS, "work after the load, of a server in turns"),
    ],
)
def test_work_after_the_answers_is_found(
    bench: Bench, tmp_path: Path, fault: str, turns: str, says: str
) -> None:
    observation = until_failed(bench, tmp_path, suite("none", fault, turns=turns), "W5")
    check = caught(says, observation, "W5")
    assert check["component"] == "faulty"
    assert statuses(observation, "W5", "healthy") == {"pass"}
    (comparison,) = observation.summary["comparisons"]
    assert not comparison["verdict"]["cpu"]
    lines = {line["of"]: line for case in observation.summary["cases"] for line in case["metrics"]}
    assert lines["after the load"]["median"] > 0


@pytest.mark.exhaustive
def test_a_timer_beyond_the_watch_is_said_to_be_unseen(bench: Bench, tmp_path: Path) -> None:
    observation = measured(bench, tmp_path, suite("none", "tail:5"))
    (check,) = [check for check in observation.checks("W5") if check["component"] == "faulty"]
    assert check["status"] == "pass"
    assert "later work, and what backends and programs outside" in check["message"]


@pytest.mark.samples(1)
@pytest.mark.parametrize(
    ("fault", "connections", "says"),
    [
        ("bucket:400", 16, "a token bucket in turns, by wrk"),
        ("sleep:50", 64, "a server that sleeps in turns, by wrk"),
    ],
)
def test_timers_that_run_on_are_found(
    bench: Bench, tmp_path: Path, fault: str, connections: int, says: str
) -> None:
    needed("wrk")
    text = suite("none", fault, tool="wrk", turns=TURNS, connections=connections)
    observation = until_failed(bench, tmp_path, text, "I9")
    assert caught(says, observation, "I9")["component"] == "faulty"
    (comparison,) = observation.summary["comparisons"]
    assert comparison["verdict"]["state"] == "not comparable"
    assert "fail" not in statuses(observation, "I9", "healthy")


@pytest.mark.exhaustive
def test_a_server_of_64_connections_that_computes_passes(bench: Bench, tmp_path: Path) -> None:
    needed("wrk")
    observation = measured(
        bench, tmp_path, suite("none", "none", tool="wrk", turns=TURNS, connections=64)
    )
    assert "fail" not in statuses(observation, "I9", "healthy") | statuses(
        observation, "I9", "faulty"
    )
