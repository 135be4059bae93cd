"""Checks of who shares CPUs, and of how often somebody had to leave one."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made.quiet_trial import APART, LIMITS, asked, at_least_as_bad, machine, parts, trial

from benchforge.checks.machine import sharing
from benchforge.model.suite.placement import ActualPlacement
from benchforge.model.trial.check import Check

NEIGHBOUR = {"busy_s": 15.0 + 0.66 * 40}
BUSY = {0: 9.5, 1: 9.0, 2: 9.5, 3: 9.0}


def placed(**cpus: str) -> dict[str, Any]:
    return {"placement": ActualPlacement(cpus=cpus), "machine": machine(busy_by_cpu_s=BUSY)}


# P1


def test_a_load_tool_with_cpus_of_its_own_shares_none() -> None:
    check = asked(trial(), "P1")
    assert (check.status, check.value) == ("pass", 0)
    assert "0-1 for server, backend; 2 for loader" in check.message


def test_co_location_that_nobody_asked_about_is_declared_and_is_no_failure() -> None:
    check = asked(trial(placement=None, machine=machine(busy_by_cpu_s=BUSY)), "P1")
    assert (check.status, check.value, check.subject) == ("warn", 0.925, "apparatus")
    assert check.message.startswith("the load tool and server and backend share CPUs, 92.5 % busy")
    unknown = asked(trial(placement=None, machine=None), "P1")
    assert (unknown.status, unknown.value) == ("warn", None)
    assert "not known" in unknown.message


def test_who_places_and_leaves_somebody_on_the_load_tools_cpus_is_told() -> None:
    assert asked(trial(**placed(server="0-1", loader="2", backend="3")), "P1").status == "pass"
    shared = placed(server="0-1", loader="2")
    forgotten = asked(trial(**shared), "P1")
    assert (forgotten.status, forgotten.value) == ("fail", 0.95)
    assert "the load tool and backend share CPUs" in forgotten.message
    assert asked(trial(**shared | {"machine": machine()}), "P1").status == "warn"
    assert asked(trial(**shared | {"machine": None}), "P1").status == "unknown"


def test_who_puts_both_on_the_same_cpus_has_accepted_it() -> None:
    assert asked(trial(**placed(server="0", loader="0", backend="1")), "P1").status == "warn"


# P2: 13 to 71 on a core of one's own, 4,237 to 7,672 on the same one


@pytest.mark.parametrize(
    ("switches", "status"), [(13, "pass"), (342, "pass"), (3_700, "warn"), (7_672, "fail")]
)
def test_who_often_has_to_leave_a_cpu_is_told(switches: int, status: str) -> None:
    server = parts(server={"involuntary_switches": switches * 10})
    check = asked(trial(parts=server, machine=machine(**NEIGHBOUR)), "P2", "flask")
    assert (check.status, check.value, check.transient) == (status, switches, True)


def test_preemption_by_the_trials_own_parts_is_a_warning() -> None:
    server = parts(server={"involuntary_switches": 76_720})
    check = asked(trial(parts=server), "P2", "flask")
    assert check.status == "warn"
    assert "the server shares its CPUs with backend" in check.message
    actual_placement = ActualPlacement(cpus={"server": "0-1", "loader": "2", "backend": "3"})
    alone = asked(trial(parts=server, placement=actual_placement), "P2", "flask")
    assert alone.status == "warn"
    assert "wait for one another" in alone.message


def test_parts_that_cannot_be_placed_apart_are_no_warning() -> None:
    """Two CPUs and three parts: one is the load tool's, so server and backend share the other."""
    server = parts(server={"involuntary_switches": 12_000, "cpu_wait_s": 2.8})
    apart = ActualPlacement(cpus={"server": "0", "backend": "0", "loader": "1"})

    def of(id_: str, component: str, placement: ActualPlacement | None, **changed: Any) -> Check:
        two = machine(cpus=2, pressure={"cpu.some": 6.5}, **changed)
        return asked(trial(parts=server, machine=two, placement=placement), id_, component)

    for id_, component in (("N2", "flask"), ("N3", "cpu"), ("P2", "flask")):
        actual = of(id_, component, apart)
        assert (actual.status, actual.message.endswith("fewer CPUs than parts")) == ("pass", True)
        assert of(id_, component, None).status == "warn"  # the load tool waits with them
        assert "see foreign-cpu" in of(id_, component, apart, busy_s=19.0).message


def test_switches_are_counted_for_each_busy_thread_and_of_each_part() -> None:
    item = trial(parts=parts(server={"involuntary_switches": 40_000, "busy_threads": 8}))
    assert asked(item, "P2", "flask").value == 500
    actual = [check for check in sharing.of_trial(item, LIMITS) if check.id == "P2"]
    assert [check.component for check in actual] == ["flask", "agents", "closed"]


def test_switches_that_nobody_counted_are_unknown() -> None:
    server = parts(server={"involuntary_switches": None, "why": "it was running already"})
    check = asked(trial(parts=server, placement=APART), "P2", "flask")
    assert (check.status, check.value) == ("unknown", None)
    assert check.message.endswith("not known: it was running already")


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_more_preemption_is_never_better(item: int, other: int) -> None:
    less, more = sorted((item, other))
    switched = [trial(parts=parts(server={"involuntary_switches": x})) for x in (more, less)]
    assert at_least_as_bad(*(asked(trial_, "P2", "flask") for trial_ in switched))
