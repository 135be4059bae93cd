"""W5: work after the load."""

import pytest
from made.quiet_trial import LIMITS, only, parts, trial

from benchforge.checks.server import after
from benchforge.model.summary.doubts import speaks_of
from benchforge.model.trial.check import Check
from benchforge.model.trial.observation import WorkAfter
from benchforge.model.trial.trial import Trial

RESPONSES = 536_000
"Of the trial; its server used 5 s of CPU time for them."


def watched(later_s: float | None, *, idle: bool = True, **changed: float | None) -> Trial:
    plain = trial()
    assert plain.observation is not None
    work = None if later_s is None else WorkAfter(cpu_s=later_s, seconds=0.5, idle=idle)
    update = {"after": work, "usage": parts(server=changed)}
    return trial(observation=plain.observation.model_copy(update=update))


def of_server(*trials: Trial) -> Check:
    return only(after.of_cases([trials], LIMITS), "W5")


@pytest.mark.parametrize(("cpu_s", "status"), [(0.0, "pass"), (0.49, "pass"), (0.51, "fail")])
def test_w5_fails_for_work_after_the_load_above_a_tenth(cpu_s: float, status: str) -> None:
    check = of_server(watched(cpu_s))
    assert (check.status, check.invalidates, check.scope) == (status, "cost", "comparison")
    assert "it idled then" in check.message
    assert "outside of the trial" in check.message


def test_w5_takes_the_trial_that_was_watched_for_all() -> None:
    check = of_server(watched(None), watched(5.0, idle=False), watched(None))
    assert check.status == "fail"
    assert "spent 9.33 µs of CPU time per response after the load, and 9.33 µs" in check.message
    assert "it went on" in check.message


def test_w5_counts_no_requests_that_are_under_way_at_the_end() -> None:
    """16 requests of 536,000, each 9.33 us."""
    assert of_server(watched(16 * 5.0 / RESPONSES)).value == 0


@pytest.mark.parametrize("one_trial", [watched(None), watched(1.0, cpu_s=None)])
def test_w5_is_unknown_of_work_after_the_load_that_nobody_saw(one_trial: Trial) -> None:
    check = of_server(one_trial)
    assert check.status == "unknown"
    assert "is not known" in check.message


def test_w5_is_about_cpu_time_alone() -> None:
    assert not speaks_of(of_server(watched(5.0)), None)
