"""Servers that turns would measure wrongly: a check finds each, or no launch is kept."""

from pathlib import Path
from typing import Any

import pytest
from front_door import Bench, needed
from planted.beside import program
from planted.validity import ONCE, Seen, caught, measured, measured_until
from suite_texts.files import suite_text

BUSY = 0.3
"Share of the CPUs that others use, from which on a neighbour finds too few of them."
USUAL = {"tool": "pace", "connections": 8, "load": "", "blocks": 1, "each": "2s"}
USUAL |= {"top": "", "more": ""}


def suite(fault: str, **changed: object) -> str:
    healthy, faulty = (program("faulty_servers/frozen.py", "{port}", f) for f in ("none", fault))
    servers = f"[servers.healthy]\n{healthy}[servers.faulty]\n{faulty}"
    return suite_text("validity/validity_turns", **USUAL | changed | {"servers": servers})


MANY = {"connections": 64, "each": "500ms", "top": ONCE}


def found(observed: Seen, id_: str) -> set[str]:
    checks = [*observed.checks(id_, "faulty"), *observed.checks(id_)]
    return {str(check["status"]) for check in checks if check["status"] in {"warn", "fail"}}


@pytest.mark.samples(1)
@pytest.mark.parametrize(
    ("fault", "id_", "status", "more", "says"),
    [
        ("late", "I3", "warn", MANY, "responses that outlast their slice"),
        ("cold", "I4", "warn", {"blocks": 3}, "a server that is slow after a rest"),
        ("grows", "I5", "warn", {"blocks": 3}, "a server that needs more for each response"),
        ("stands", "I6", "fail", {"tool": "wrk"}, "a server that stands still for whole slices"),
        ("timer", "I8", "fail", {"blocks": 4, "more": "bridge = 4"}, "a timer in wall time"),
        ("wakes", "I1", "fail", {}, "a server that goes on by itself while it is stopped"),
    ],
)
def test_a_fault_of_turns_is_found(
    bench: Bench, tmp_path: Path, fault: str, id_: str, status: str, more: dict[str, Any], says: str
) -> None:
    if more.get("tool") == "wrk":
        needed("wrk")
    text = suite(fault, **more)
    result = measured_until(bench, tmp_path, text, lambda item: status in found(item, id_), 5)
    assert status in found(result, id_), result.told.all
    if status == "fail":
        assert {verdict["state"] for verdict in result.summary["verdicts"]} == {"invalid"}
    caught(says, result, id_, server="" if list(result.checks(id_)) else "faulty", status=status)


@pytest.mark.exhaustive
def test_a_tool_is_frozen_while_it_connects(bench: Bench, tmp_path: Path) -> None:
    """A full queue keeps connections outside while all stand still; the tool goes on after it."""
    needed("ab")
    text = suite("queue", tool="ab", connections=16, load="keep_alive = false")

    def without_failure(item: Seen) -> bool:
        return all(trial["failure"] is None for trial in item.trials("faulty"))

    result = measured_until(bench, tmp_path, text, without_failure, 5)
    (trial,) = [trial for trial in result.trials("faulty") if trial["failure"] is None]
    assert trial["reading"]["errors"]["connect"] == trial["reading"]["errors"]["exceptions"] == 0
    caught("ab that is frozen while it connects to a full queue", result, "K2", server="faulty")
    assert {verdict["state"] for verdict in result.summary["verdicts"]} == {"invalid"}


@pytest.mark.exhaustive
def test_work_outside_the_trial_is_found(bench: Bench, tmp_path: Path, neighbour: Path) -> None:
    text = suite(str(neighbour))
    result = measured_until(bench, tmp_path, text, lambda item: "fail" in found(item, "I2"), 5)
    if "fail" not in found(result, "I2") and _others_used(result, "healthy") > BUSY:
        pytest.skip("other programs leave no CPU that the neighbour could take")
    says = "a process outside of the trial that works for one of the servers"
    caught(says, result, "I2")
    assert {verdict["state"] for verdict in result.summary["verdicts"]} == {"invalid"}


def _others_used(observed: Seen, server: str) -> float:
    """The share of the CPUs that others used in the slices of a server."""
    turns = [trial["turns"] for trial in observed.trials(server) if trial["turns"] is not None]
    slices = [slice_ for turn in turns for slice_ in turn["slices"]]
    cpus_s = sum((slice_["end_s"] - slice_["start_s"]) * turns[0]["cpus"] for slice_ in slices)
    return float(sum(slice_["foreign_cpu_s"] for slice_ in slices) / cpus_s) if cpus_s else 0.0


@pytest.mark.exhaustive
def test_a_server_that_is_too_slow_for_slices_is_not_measured(bench: Bench, tmp_path: Path) -> None:
    attempts = measured(bench, tmp_path, suite("slow")).trials("faulty")
    assert [attempt["attempt"] for attempt in attempts] == [1, 2, 3]
    for trial in attempts:
        assert "are too few for turns of 2 servers" in trial["failure"]["message"]
