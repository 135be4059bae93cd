"""W2: what others did is no resource that the trial used up."""

from typing import Any

import pytest
from made.quiet_trial import LIMITS, machine, parts, reading, trial

from benchforge.checks.server.resources import limiter
from benchforge.model.trial.check import Check
from benchforge.model.trial.trial import Load


def asked(busy_s: float, waited_s: float, **used: Any) -> Check:
    mine = {"cpu_s": 1.0, "busiest_thread_cpu_s": 0.5, "cpu_wait_s": waited_s, **used}
    same = parts(server=mine, backend=mine, loader=mine)
    (actual,) = limiter(trial(machine=machine(busy_s=busy_s), parts=same), LIMITS)
    return actual


@pytest.mark.parametrize(
    ("busy_s", "waited_s", "status"),
    [
        (4.0, 0.1, "warn"),
        (39.9, 0.1, "warn"),  # others filled the CPUs, and the trial had one whenever it wanted
        (39.9, 0.5, "unknown"),
        (4.0, 0.5, "warn"),
    ],
)
def test_others_at_work_explain_no_limit(busy_s: float, waited_s: float, status: str) -> None:
    check = asked(busy_s, waited_s)
    assert check.status == status
    assert ("give it a quiet machine" in check.message) == (status == "unknown")


def test_what_the_trial_itself_used_of_all_cpus_does() -> None:
    check = asked(39.9, 0.1, cpu_s=12.5)
    assert check.status == "pass"
    assert "all CPUs together" in check.message.partition("(")[0]


def test_a_load_that_is_not_to_be_faster_has_no_unexplained_limit() -> None:
    """Users who think, and programs that are timed one after the other, use up nothing."""
    mine = {"cpu_s": 1.0, "busiest_thread_cpu_s": 0.5}
    idle = {"machine": machine(busy_s=4.0), "parts": parts(server=mine, backend=mine, loader=mine)}
    load = Load(connections=16, concurrency=16, declared_s=10, think_s=0.1)
    assert not list(limiter(trial(load=load, **idle), LIMITS))
    timed = trial(reading=reading(process_s=(0.1, 0.1)), **idle)
    assert [check.status for check in limiter(timed, LIMITS)] == ["pass"]
