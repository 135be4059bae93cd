"""P1 and P2: parts that share CPUs, and preemption of a server."""

from typing import Any

import pytest
from made.quiet_trial import (
    altered,
    asked,
    machine,
    parts,
    trial,
)

from benchforge.model.suite.placement import ActualPlacement
from benchforge.model.trial.check import Check

BUSY = {0: 9.5, 1: 9.0, 2: 9.5, 3: 9.0}


def placed(**cpus: str) -> dict[str, Any]:
    return {"placement": ActualPlacement(cpus=cpus), "machine": machine(busy_by_cpu_s=BUSY)}


@pytest.mark.parametrize(
    ("changed", "status", "value", "says"),
    [
        ({}, "pass", 0, "0-1 for server, backend; 2 for loader"),
        (
            {"placement": None, "machine": machine(busy_by_cpu_s=BUSY)},
            "warn",
            0.925,
            "the load tool and server and backend share CPUs, 92.5 % busy",
        ),
        ({"placement": None, "machine": None}, "warn", None, "not known"),
        (placed(server="0-1", loader="2", backend="3"), "pass", 0, ""),
        # Who places and leaves a part on the load tool's CPUs; who puts both there accepts it.
        (placed(server="0-1", loader="2"), "fail", 0.95, "the load tool and backend share CPUs"),
        (placed(server="0-1", loader="2") | {"machine": machine()}, "warn", 0.5, ""),
        (placed(server="0-1", loader="2") | {"machine": None}, "unknown", None, ""),
        (placed(server="0", loader="0", backend="1"), "warn", 0.95, ""),
    ],
)
def test_p1_of_shared_cpus(changed: dict[str, Any], status: str, value: float, says: str) -> None:
    check = asked(trial(**changed), "P1")
    assert (check.status, check.value, check.subject) == (status, value, "apparatus")
    assert says in check.message


def test_p2_warns_of_preemption_by_the_trials_own_parts() -> None:
    apart = ActualPlacement(cpus={"server": "0-1", "loader": "2", "backend": "3"})
    for changed, says in (
        ({}, "the server shares its CPUs with backend"),
        ({"placement": apart}, "wait for one another"),
    ):
        item = altered("server.involuntary_switches", 76_720, **changed)
        assert asked(item, "P2", "flask").status == "warn"
        assert says in asked(item, "P2", "flask").message


def test_n2_n3_and_p2_pass_parts_that_cannot_be_placed_apart() -> None:
    """Two CPUs and three parts: one is the load tool's, so server and backend share the other."""
    server = parts(server={"involuntary_switches": 12_000, "cpu_wait_s": 2.8})
    apart = ActualPlacement(cpus={"server": "0", "backend": "0", "loader": "1"})

    def check(id_: str, label: str, placement: ActualPlacement | None, **changed: Any) -> Check:
        two = machine(cpus=2, pressure={"cpu.some": 6.5}, **changed)
        return asked(trial(parts=server, machine=two, placement=placement), id_, label)

    for id_, component in (("N2", "flask"), ("N3", "cpu"), ("P2", "flask")):
        actual = check(id_, component, apart)
        assert (actual.status, actual.message.endswith("fewer CPUs than parts")) == ("pass", True)
        assert check(id_, component, None).status == "warn"  # the load tool waits with them
        assert "see foreign-cpu" in check(id_, component, apart, busy_s=19.0).message
