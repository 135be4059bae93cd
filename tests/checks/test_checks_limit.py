"""W2: what others did is no resource that the trial used up."""

from typing import Any

import pytest
from made.quiet_trial import LIMITS, machine, parts, trial

from benchforge.checks.server.bottleneck import limiter
from benchforge.model.trial.check import Check


def asked(busy_s: float, waited_s: float, **used: Any) -> Check:
    own = {"cpu_s": 1.0, "busiest_thread_cpu_s": 0.5, "cpu_wait_s": waited_s, **used}
    seen = trial(machine=machine(busy_s=busy_s), parts=parts(server=own, backend=own, loader=own))
    (found,) = limiter(seen, LIMITS)
    return found


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
    found = asked(busy_s, waited_s)
    assert found.status == status
    assert ("give it a quiet machine" in found.message) == (status == "unknown")


def test_what_the_trial_itself_used_of_all_cpus_does() -> None:
    found = asked(39.9, 0.1, cpu_s=12.5)
    assert found.status == "pass"
    assert "all CPUs together" in found.message.partition("(")[0]
