"""Checks of swap, of kills for want of memory, and of memory that grows."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made.quiet_trial import LIMITS, asked, at_least_as_bad, machine, parts, trial

from benchforge.checks.machine import memory

NONE = {"pswpin": 0, "pswpout": 0, "oom_kill": 0}


@pytest.mark.parametrize(
    ("paging", "status"), [({}, "pass"), ({"pswpin": 1}, "fail"), ({"pswpout": 1}, "fail")]
)
def test_any_page_of_swap_fails(paging: dict[str, int], status: str) -> None:
    check = asked(trial(machine=machine(paging=NONE | paging)), "M1", "")
    assert (check.status, check.subject, check.transient) == (status, "apparatus", True)


def test_swap_that_is_not_told_is_unknown() -> None:
    for item in (machine(paging={}), machine(paging={"pswpin": 0}), None):
        check = asked(trial(machine=item), "M1", "")
        assert (check.status, check.value) == ("unknown", None)
        assert asked(trial(machine=None), "M2").status == "unknown"


@pytest.mark.parametrize(
    ("faults", "status"), [(0, "pass"), (9, "pass"), (10, "warn"), (10**6, "warn")]
)
def test_pages_from_a_disk_warn(faults: int, status: str) -> None:
    check = asked(trial(parts=parts(server={"major_faults": faults})), "M1", "flask")
    assert (check.status, check.value) == (status, faults)
    assert check.threshold == "warn at 10 pages read from a disk"


def test_a_kill_for_want_of_memory_fails() -> None:
    assert asked(trial(), "M2").status == "pass"
    check = asked(trial(machine=machine(paging=NONE | {"oom_kill": 1})), "M2")
    assert (check.status, check.subject) == ("fail", "apparatus")


@pytest.mark.parametrize(
    ("growth", "status"), [(-0.3, "pass"), (0.09, "pass"), (0.1, "warn"), (2.0, "warn")]
)
def test_a_server_that_grows_is_a_finding(growth: float, status: str) -> None:
    check = asked(trial(parts=parts(server={"memory_growth": growth})), "M3", "flask")
    assert (check.status, check.subject) == (status, "behaviour")


@pytest.mark.parametrize(("field", "id_"), [("major_faults", "M1"), ("memory_growth", "M3")])
def test_what_is_not_known_of_a_part_is_unknown(field: str, id_: str) -> None:
    changed: dict[str, Any] = {field: None, "why": "it was running already"}
    check = asked(trial(parts=parts(server=changed)), id_, "flask")
    assert (check.status, check.value) == ("unknown", None)
    assert check.message.endswith(": it was running already")


def test_the_load_tool_may_grow() -> None:
    item = trial(parts=parts(loader={"memory_growth": 5.0, "major_faults": 5}))
    assert {check.component for check in memory.of_trial(item, LIMITS)} == {"", "flask", "agents"}


@given(st.floats(-1, 10), st.floats(-1, 10))
def test_more_growth_is_never_better(item: float, other: float) -> None:
    less, more = sorted((item, other))
    grown = [trial(parts=parts(server={"memory_growth": x})) for x in (more, less)]
    assert at_least_as_bad(*(asked(item, "M3", "flask") for item in grown))
