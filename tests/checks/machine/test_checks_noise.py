"""Checks of what others did to the machine."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made.quiet_trial import (
    LIMITS,
    asked,
    at_least_as_bad,
    header,
    ids,
    machine,
    observation,
    only,
    parts,
    trial,
    usage,
)

from benchforge.checks import ask
from benchforge.model.trial.check import Check
from benchforge.model.trial.observation import Foreign

OWN_S = 15.02  # what the three parts and the sampler used
CPU_S = 40.0


def foreign(share: float, seconds: float = 10.0, **changed: Any) -> Check:
    mine = parts(**{role: {"cpu_s": 0.0} for role in ("server", "backend", "loader")})
    busy = share * 4 * seconds + 0.02
    return asked(trial(parts=mine, seconds=seconds, machine=machine(busy_s=busy, **changed)), "N1")


# N1: 4 % when quiet, 66 % beside a neighbour


@pytest.mark.parametrize(
    ("share", "status"), [(0.0, "pass"), (0.04, "pass"), (0.06, "warn"), (0.66, "fail")]
)
def test_what_others_used_is_busy_without_our_own(share: float, status: str) -> None:
    check = asked(trial(machine=machine(busy_s=OWN_S + share * CPU_S)), "N1")
    assert (check.status, check.subject, check.transient) == (status, "apparatus", True)
    assert check.value == pytest.approx(share)


def test_our_own_parts_are_never_foreign() -> None:
    busy = parts(server={"cpu_s": 20.0}, loader={"cpu_s": 10.0})
    check = asked(trial(parts=busy, machine=machine(busy_s=35.0)), "N1")
    assert (check.status, check.value) == ("pass", 0)


def test_the_others_are_named() -> None:
    neighbours = (Foreign(program="cc1plus", cpu_s=20), Foreign(program="ld", cpu_s=6.4))
    actual = foreign(0.66, foreign=neighbours)
    assert actual.message == (
        "others used 66 % of the 4 CPUs (cc1plus 20 s and ld 6.4 s): stop them, or measure on a "
        "machine of its own"
    )


def test_what_is_not_known_is_unknown() -> None:
    for item, reason in (
        (trial(machine=None), "not what the machine did"),
        (trial(machine=machine(busy_s=None)), "how busy"),
        (trial(parts=parts(server={"cpu_s": None})), "what flask used is not known"),
    ):
        check = asked(item, "N1")
        assert (check.status, check.value) == ("unknown", None)
        assert reason in check.message


def test_a_short_load_cannot_tell_and_says_so() -> None:
    actual = foreign(0.0, seconds=0.5)
    assert actual.status == "unknown"
    assert actual.message == (
        "a load of 500 ms tells CPU time to 7.07 % only, and 5 % matter: load longer"
    )
    assert foreign(0.66, seconds=0.5).status == "fail"
    assert foreign(0.13, seconds=0.5).status == "warn"
    assert foreign(0.0, seconds=1.0).status == "pass"


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0.2, 100))
def test_more_foreign_cpu_is_never_better(item: float, other: float, seconds: float) -> None:
    less, more = sorted((item, other))
    assert at_least_as_bad(foreign(more, seconds), foreign(less, seconds))


@given(st.floats(0, 0.99), st.integers(1, 50))
def test_a_share_is_the_same_in_a_longer_load(share: float, times: int) -> None:
    short, long = foreign(share, 10.0), foreign(share, 10.0 * times)
    assert short.value is not None
    assert long.value == pytest.approx(short.value, abs=1e-5)


# N2: 0.02 to 0.03 when quiet, 0.33 to 0.55 beside a neighbour

NEIGHBOUR = {"busy_s": OWN_S + 0.66 * CPU_S}


@pytest.mark.parametrize(
    ("waited", "neighbour", "alone"),
    [(0.03, "pass", "pass"), (0.33, "fail", "warn"), (0.55, "fail", "warn")],
)
def test_a_server_beside_a_neighbour_waits(waited: float, neighbour: str, alone: str) -> None:
    server = parts(server={"cpu_wait_s": waited * 10})
    noisy = trial(parts=server, machine=machine(**NEIGHBOUR))
    assert asked(noisy, "N2", "flask").status == neighbour
    check = asked(trial(parts=server, placement=None), "N2", "flask")
    assert check.status == alone
    assert ("shares its CPUs with backend and loader" in check.message) == (alone == "warn")
    # In a short load nobody knows what others used.
    short = parts(server={"cpu_wait_s": waited * 0.1})
    quick = trial(parts=short, seconds=0.1, machine=machine(busy_s=0.3), placement=None)
    assert (asked(quick, "N1").status, asked(quick, "N2", "flask").status) == ("unknown", alone)


def test_waiting_is_asked_of_services_and_of_each_busy_thread() -> None:
    item = trial(parts=parts(server={"cpu_wait_s": 0.8, "busy_threads": 4}))
    assert asked(item, "N2", "flask").value == 0.02
    actual = [check.component for check in ask.of_trial(item, LIMITS) if check.id == "N2"]
    assert actual == ["flask", "agents"]


def test_more_workers_than_cpus_wait_by_design() -> None:
    server = parts(server={"cpu_wait_s": 9.0})
    item = trial(parts=server, workers={"flask": 3})  # of CPUs 0-1
    assert [c.component for c in ask.of_trial(item, LIMITS) if c.id == "N2"] == ["agents"]
    assert asked(trial(parts=server, workers={"flask": 2}), "N2", "flask").status == "warn"


def test_waiting_that_nobody_counted_is_unknown() -> None:
    check = asked(trial(parts=parts(server={"cpu_wait_s": None})), "N2", "flask")
    assert (check.status, check.value) == ("unknown", None)


# N3: CPU 4.5 % when quiet, 62 to 98 % when noisy


@pytest.mark.parametrize(
    ("name", "label", "share", "status"),
    [
        ("cpu.some", "cpu", 0.045, "pass"),
        ("cpu.some", "cpu", 0.62, "fail"),
        ("cpu.some", "cpu", 0.98, "fail"),
        ("io.some", "io", 0.02, "warn"),
        ("io.some", "io", 0.05, "fail"),
        ("memory.full", "memory", 0.002, "warn"),
        ("memory.full", "memory", 0.02, "fail"),
    ],
)
def test_pressure(name: str, label: str, share: float, status: str) -> None:
    pressed = machine().pressure | {name: share * 10}
    check = asked(trial(machine=machine(pressure=pressed, **NEIGHBOUR)), "N3", label)
    assert check.status == status
    assert check.value == pytest.approx(share)
    alone = asked(trial(machine=machine(pressure=pressed)), "N3", label)
    assert alone.status == ("warn" if label == "cpu" and status == "fail" else status)


def test_pressure_that_is_not_told_is_unknown() -> None:
    item = trial(machine=machine(pressure={"io.some": 0.0}))
    assert asked(item, "N3", "io").status == "pass"
    assert asked(item, "N3", "cpu").status == asked(item, "N3", "memory").status == "unknown"
    assert "/proc/pressure/cpu" in asked(item, "N3", "cpu").message


# N4, N5, N6


@pytest.mark.parametrize(
    ("stolen", "status"), [(0.0, "pass"), (0.1, "pass"), (0.24, "warn"), (0.8, "fail")]
)
def test_steal(stolen: float, status: str) -> None:
    assert asked(trial(machine=machine(stolen_s=stolen)), "N4").status == status


def test_steal_is_counted_in_ticks() -> None:
    assert asked(trial(machine=machine(stolen_s=0.0), seconds=1.0), "N4").status == "unknown"
    assert asked(trial(machine=machine(stolen_s=0.5), seconds=1.0), "N4").status == "fail"
    assert asked(trial(machine=machine(stolen_s=None)), "N4").status == "unknown"


def test_a_quota_that_stopped_us_fails_and_none_is_not_asked() -> None:
    assert asked(trial(), "N5").status == "pass"
    assert asked(trial(machine=machine(throttled=1)), "N5").status == "fail"
    assert "N5" not in ids(trial(machine=machine(throttled=None)))
    assert asked(trial(machine=None), "N5").status == "unknown"


def test_a_quota_of_the_load_tool_is_a_fault_and_one_of_the_server_is_not() -> None:
    stopped = {"quota_cpus": 0.5, "throttled": 3}
    of_trial = ask.of_trial(trial(parts=parts(loader=stopped)), LIMITS)
    actual = [check for check in of_trial if check.id == "N5"]
    assert [(item.status, item.component) for item in actual] == [("fail", "closed"), ("pass", "")]
    assert asked(trial(parts=parts(server=stopped)), "N5").status == "pass"


def test_what_belongs_to_no_part_is_named_and_not_blamed_on_others() -> None:
    noisy = observation(machine=machine(busy_s=25.0))
    assert asked(trial(observation=noisy), "N1").status == "fail"
    check = asked(trial(observation=noisy.model_copy(update={"unassigned_cpu_s": 9.5})), "N1")
    assert check.status == "pass"
    assert "processes of the trial that belong to no part 9.5 s" in check.message


@pytest.mark.parametrize(
    ("facts", "status"),
    [
        ({"load_average": [0.7, 0, 0]}, "pass"),
        ({"load_average": [1.9, 0, 0]}, "pass"),
        ({"load_average": [2.1, 0, 0]}, "warn"),
        ({"load_average": None}, "unknown"),
        ({"load_average": []}, "unknown"),
        ({"cpus_usable": None}, "unknown"),
    ],
)
def test_the_load_before(facts: dict[str, Any], status: str) -> None:
    sole = only(ask.of_session(header(**facts), (), LIMITS), "N6")
    assert (sole.status, sole.scope, sole.subject) == (status, "result", "apparatus")


def test_a_part_that_runs_elsewhere_leaves_others_unknown() -> None:
    outside = usage("running", "server", cpu_s=None, cpu_wait_s=None, why="it was running already")
    item = trial(parts=(outside, usage("closed", "loader")))
    assert asked(item, "N1").status == asked(item, "N2", "running").status == "unknown"
