"""Work after the answer, and servers that wait for what goes on while they are frozen."""

from pathlib import Path
from typing import Any

import pytest
from front_door import Bench
from planted import turning
from planted.beside import program
from planted.validity import Seen, caught, measured, measured_until

TURNS = 'interleave = "100ms"\neach = "1s"'
UNSEEN = "later work, and what backends and programs outside of the trial do for it, is not seen"
WORKS = ("daemon", "thread", "child", "tail:0.05")
UNWATCHED = ("tail:5", "pipe")
"Work beyond the watch: the answer says so. In turns, I2 finds who works outside of the trial."
WAITS = {"bucket:400": 400, "lock:2": 500}
WAITS |= dict.fromkeys(("sleep:10", "sleep:20", "sleep:33", "sleep:45"), 0)
"Servers that wait, and their rates alone; 0 for one that all connections share."
MANY, MORE = 16, 64  # connections
HTTP_1 = 'protocol = "http/1.1"'
BOUND = 0.07
"Share by which a ratio in turns may differ: each report of turns states it."


def suite(
    healthy: str, faulty: str, *, tool: str = "pace", turns: str = "", connections: int = 4
) -> str:
    labels = {"healthy": healthy, "faulty": faulty}.items()
    servers = {
        label: program("faulty_servers/later.py", "{port}", fault) for label, fault in labels
    }
    load = f'use = "{tool}"\nconnections = {connections}\nduration = "1s"\n'
    return turning.suite(servers, load + HTTP_1 * (tool == "h2load"), more=turns)


def statuses(observation: Seen, id_: str, server: str) -> set[Any]:
    return {check["status"] for check in observation.checks(id_) if check["component"] == server}


def until_failed(bench: Bench, folder: Path, text: str, id_: str) -> Seen:
    """Measure until the fault shows: a neighbour may leave it no CPU, or hide it."""

    def failed(item: Seen) -> bool:
        return "fail" in statuses(item, id_, "faulty")

    observation = measured_until(bench, folder, text, failed)
    assert failed(observation), observation.told.all
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
    text = suite("none", fault, tool="wrk", turns=TURNS, connections=connections)
    observation = until_failed(bench, tmp_path, text, "I9")
    assert caught(says, observation, "I9")["component"] == "faulty"
    (comparison,) = observation.summary["comparisons"]
    assert comparison["verdict"]["state"] == "not comparable"
    assert "fail" not in statuses(observation, "I9", "healthy")


@pytest.mark.exhaustive
def test_a_server_of_64_connections_that_computes_passes(bench: Bench, tmp_path: Path) -> None:
    text = suite("none", "none", tool="wrk", turns=TURNS, connections=64)
    observation = measured(bench, tmp_path, text)
    for server in ("healthy", "faulty"):
        assert "fail" not in statuses(observation, "I9", server)


# --- each kind, by each load tool -----------------------------------------------------------------


ALONE = [("pace", ""), ("wrk", ""), ("h2load", "")]
IN_TURNS = [("pace", TURNS), ("wrk", TURNS)]
CELLS = [
    *((kind, *way) for kind in (*WORKS, "tail:5", "statuses") for way in (*ALONE, *IN_TURNS)),
    *(("pipe", *way) for way in ALONE),
    *((kind, *way) for kind in WAITS for way in IN_TURNS),
]


@pytest.mark.exhaustive
@pytest.mark.parametrize(("kind", "tool", "turns"), CELLS)
def test_no_kind_is_silent_by_any_tool(
    bench: Bench, tmp_path: Path, neighbour: Path, kind: str, tool: str, turns: str
) -> None:
    fault = f"pipe:{neighbour}" if kind == "pipe" else kind
    connections = 4 if kind not in WAITS else MANY if WAITS[kind] else MORE
    text = suite("none", fault, tool=tool, turns=turns, connections=connections)
    if kind in WORKS:
        until_failed(bench, tmp_path, text, "W5")
        return
    observation = measured(bench, tmp_path, text)
    if kind in UNWATCHED:
        says = any(UNSEEN in check["message"] for check in observation.checks("W5"))
        others = [*observation.checks("N1", "faulty"), *observation.checks("I2")]
        assert says or "fail" in {check["status"] for check in others}, observation.told.all
    elif kind == "statuses":
        judged = {check["status"] for check in observation.checks("E6", "faulty")}
        failures = {bool(trial["failure"]) for trial in observation.trials("faulty")}
        assert "fail" in judged or failures == {True}, observation.told.all
    else:
        assert_rate_or_finding(observation, kind, connections)


def assert_rate_or_finding(observation: Seen, kind: str, connections: int) -> None:
    """A rate in turns is right within the bound, or the answer says that it may not be."""
    (trial,) = {item["attempt"]: item for item in observation.trials("faulty")}.values()
    judged = {check["status"] for check in observation.checks("I3", "faulty")}
    if not (judged | statuses(observation, "I9", "faulty")) & {"fail", "unknown", "warn"}:
        slices = trial["turns"]["slices"]
        seconds = sum(item["end_s"] - item["start_s"] for item in slices)
        rate = sum(item["responses"] for item in slices) / seconds
        alone = WAITS[kind] or connections * 1000 / float(kind.partition(":")[2])
        assert rate / alone < 1 + BOUND, (rate, alone)
