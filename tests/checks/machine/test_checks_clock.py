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
        *(("arch_sys_counter", "pass"), ("hpet", "fail"), ("acpi_pm", "fail")),
        *(("refined-jiffies", "fail"), (None, "unknown"), ("", "unknown")),
    ],
)
def test_a_slow_clock_spoils_response_times(source: str | None, status: str) -> None:
    (of_session,) = clock.of_session(header(clocksource=source), (), LIMITS)
    assert (of_session.id, of_session.status, of_session.invalidates) == ("T1", status, "latency")
    assert (of_session.scope, of_session.subject) == ("result", "apparatus")


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    ("step_s", "status"),
    [(0.0, "pass"), (0.0009, "pass"), (0.001, "warn"), (0.049, "warn"), (0.05, "fail")],
)
def test_a_clock_that_was_set_meanwhile(step_s: float, status: str, sign: int) -> None:
    check = asked(trial(machine=machine(clock_step_s=step_s * sign)), "T2")
    assert (check.status, check.value, check.transient) == (status, step_s, True)


def test_clocks_that_nobody_compared_are_unknown() -> None:
    for item in (machine(clock_step_s=None), None):
        check = asked(trial(machine=item), "T2")
        assert (check.status, check.value) == ("unknown", None)
        assert check.message.startswith("whether the clock was set: ")


def test_time_in_which_nobody_looked_is_told_but_for_what_looking_took() -> None:
    for unseen_s, status in ((0.3, "pass"), (0.9, "warn"), (1.6, "fail"), (None, "unknown")):
        assert asked(trial(machine=machine(longest_gap_s=unseen_s)), "T3").status == status
    assert asked(trial(machine=None), "T3").status == "unknown"
