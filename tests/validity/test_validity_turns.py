"""Servers that turns would measure wrongly: a check finds each, or no launch is kept."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from front_door import PROGRAMS, Bench, needed
from planted.validity import Seen, caught, measured

FROZEN = PROGRAMS / "faulty_servers/frozen.py"
TRIES = 4
SUITE = """benchforge = 1
{servers}
[loaders.load]
use = "{tool}"
connections = {connections}
duration = "1s"
[scenarios.asked]
servers = ["healthy", "faulty"]
loaders = ["load"]
[metrics.throughput]
use = "throughput"
[repeat]
blocks = {blocks}
interleave = "100ms"
each = "2s"
quiet = "off"
{more}
[claims.slower]
scenario = "asked"
metric = "throughput"
a = {{ server = "faulty" }}
b = {{ server = "healthy" }}
holds = "a < b"
"""


def suite(
    fault: str, *, tool: str = "pace", connections: int = 8, blocks: int = 1, more: str = ""
) -> str:
    servers = ""
    for label, behaves in (("healthy", "none"), ("faulty", fault)):
        words = json.dumps([sys.executable, str(FROZEN), "{port}", behaves])
        servers += f'[servers.{label}]\nuse = "command"\ncommand = {words}\n'
    return SUITE.format(
        servers=servers, tool=tool, connections=connections, blocks=blocks, more=more
    )


def found(seen: Seen, id_: str) -> set[str]:
    checks = [*seen.checks(id_, "faulty"), *seen.checks(id_)]
    return {str(check["status"]) for check in checks if check["status"] in {"warn", "fail"}}


@pytest.mark.samples(1)
@pytest.mark.parametrize(
    ("fault", "id_", "status", "more", "says"),
    [
        ("late", "I3", "warn", {"connections": 64}, "responses that outlast their slice"),
        ("cold", "I4", "warn", {"blocks": 3}, "a server that is slow after a rest"),
        ("grows", "I5", "warn", {"blocks": 3}, "a server that needs more for each response"),
        ("stands", "I6", "fail", {"tool": "wrk"}, "a server that stands still for whole slices"),
        ("timer", "I8", "fail", {"blocks": 4, "more": "bridge = 4"}, "a timer in wall time"),
    ],
)
def test_a_fault_of_turns_is_found(
    bench: Bench, tmp_path: Path, fault: str, id_: str, status: str, more: dict[str, Any], says: str
) -> None:
    if more.get("tool") == "wrk":
        needed("wrk")
    seen = measured(bench, tmp_path, suite(fault, **more))
    for _ in range(TRIES):  # a neighbour may hide a difference
        if status in found(seen, id_):
            break
        seen = measured(bench, tmp_path, suite(fault, **more))
    assert status in found(seen, id_), seen.told.all
    if status == "fail":
        assert {one["state"] for one in seen.summary["verdicts"]} == {"invalid"}
    caught(says, seen, id_, server="" if list(seen.checks(id_)) else "faulty", status=status)


@pytest.mark.exhaustive
def test_a_server_that_is_too_slow_for_slices_is_not_measured(bench: Bench, tmp_path: Path) -> None:
    seen = measured(bench, tmp_path, suite("slow"))
    (trial,) = seen.trials("faulty")
    assert "are too few for turns of 2 servers" in trial["failure"]["message"]
