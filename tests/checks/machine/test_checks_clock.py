"""Checks of the clock: its source, and whether it was set meanwhile."""

import pytest
from made.quiet_trial import LIMITS, asked, header, machine, trial

from benchforge.checks.machine import clock


@pytest.mark.parametrize(
    ("source", "status"),
    [
        ("tsc", "pass"),
        ("kvm-clock", "pass"),
        ("hyperv_clocksource_tsc_page", "pass"),
        ("arch_sys_counter", "pass"),
        ("hpet", "fail"),
        ("acpi_pm", "fail"),
        ("refined-jiffies", "fail"),
        (None, "unknown"),
        ("", "unknown"),
    ],
)
def test_a_slow_clock_spoils_response_times(source: str | None, status: str) -> None:
    (found,) = clock.of_session(header(clocksource=source), (), LIMITS)
    assert (found.id, found.status, found.invalidates) == ("T1", status, "latency")
    assert (found.scope, found.subject) == ("result", "apparatus")


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    ("step_s", "status"),
    [(0.0, "pass"), (0.0009, "pass"), (0.001, "warn"), (0.049, "warn"), (0.05, "fail")],
)
def test_a_clock_that_was_set_meanwhile(step_s: float, status: str, sign: int) -> None:
    found = asked(trial(machine=machine(clock_step_s=step_s * sign)), "T2")
    assert (found.status, found.value, found.transient) == (status, step_s, True)


def test_clocks_that_nobody_compared_are_unknown() -> None:
    for one in (machine(clock_step_s=None), None):
        found = asked(trial(machine=one), "T2")
        assert (found.status, found.value) == ("unknown", None)
        assert found.message.startswith("whether the clock was set: ")


def test_time_in_which_nobody_looked_is_told_but_for_what_looking_took() -> None:
    for unseen_s, status in ((0.3, "pass"), (0.9, "warn"), (1.6, "fail"), (None, "unknown")):
        assert asked(trial(machine=machine(longest_gap_s=unseen_s)), "T3").status == status
    assert asked(trial(machine=None), "T3").status == "unknown"
