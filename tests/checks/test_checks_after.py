"""W5 and I9: work after the load, and waiting that goes on while a server is frozen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made.quiet_trial import LIMITS, only, parts, trial
from made.turns import other_slices, probed_slices, turns

from benchforge.checks.server import after
from benchforge.checks.statistics import waits
from benchforge.model.summary.doubts import speaks_of
from benchforge.model.trial.check import Check
from benchforge.model.trial.observation import WorkAfter
from benchforge.model.trial.trial import Trial
from benchforge.model.trial.turns import ProbedSlice, Turns
from benchforge.stats.turns import SHORTER, rise_of_rate, waiting_s

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
def test_work_after_the_load_above_a_tenth(cpu_s: float, status: str) -> None:
    check = of_server(watched(cpu_s))
    assert (check.status, check.invalidates, check.scope) == (status, "cost", "comparison")
    assert "it idled then" in check.message
    assert "outside of the trial" in check.message


def test_the_trial_that_was_watched_speaks_for_all() -> None:
    check = of_server(watched(None), watched(5.0, idle=False), watched(None))
    assert check.status == "fail"
    assert "spent 9.33 µs of CPU time per response after the load, and 9.33 µs" in check.message
    assert "it went on" in check.message


def test_requests_that_are_under_way_at_the_end_are_no_work_after_it() -> None:
    """16 requests of 536,000, each 9.33 us."""
    assert of_server(watched(16 * 5.0 / RESPONSES)).value == 0


@pytest.mark.parametrize("one_trial", [watched(None), watched(1.0, cpu_s=None)])
def test_work_after_the_load_that_nobody_saw(one_trial: Trial) -> None:
    check = of_server(one_trial)
    assert check.status == "unknown"
    assert "is not known" in check.message


def test_work_after_the_load_is_about_cpu_time_alone() -> None:
    assert not speaks_of(of_server(watched(5.0)), None)


# --- I9 ------------------------------------------------------------------------------------------


IDLE = other_slices(turns(*[50] * 20), cpu_s=0.002, loader_cpu_s=0.001)
"16 connections, 500 responses/s: a request waits 31 ms of a slice of 100."


def waiting(took: Turns) -> Check:
    return only(waits.of_comparison({"flask": [trial(turns=took)]}, LIMITS), "I9")


def test_a_timer_that_runs_on_is_due_when_its_server_goes_on() -> None:
    took = IDLE.model_copy(update={"probed": probed_slices(0.02, 0.025, 0.018)})
    check = waiting(took)
    assert (check.status, check.subject) == ("fail", "apparatus")
    assert "31.0 % of a slice" in check.message
    assert "its timers go on while it is frozen" in check.message


def test_a_rate_that_slices_do_not_change() -> None:
    took = IDLE.model_copy(update={"probed": probed_slices(0.001, 0.0, 0.001)})
    assert waiting(took).status == "pass"


def test_noise_may_explain_what_it_explains() -> None:
    took = IDLE.model_copy(update={"probed": probed_slices(0.06, -0.02, 0.06, -0.02)})
    assert waiting(took).status == "unknown"


def test_waiting_of_which_shorter_slices_tell_nothing() -> None:
    assert waiting(IDLE).status == "unknown"


@pytest.mark.parametrize(
    "took",
    [
        other_slices(turns(*[50] * 20), cpu_s=0.07, loader_cpu_s=0.03),
        other_slices(IDLE, cpu_s=0.02).model_copy(update={"cpu_wait_s": 1.9}),
    ],
    ids=["bound by its CPU", "waits for a CPU"],
)
def test_a_server_that_is_bound_by_its_cpu_waits_for_nothing_else(took: Turns) -> None:
    """Of 16 connections 15 wait for their turn, which is no timer."""
    assert waiting(took).status == "pass"


@given(st.integers(1, 512), st.floats(1, 1e6), st.floats(0, 2))
def test_waiting_is_never_longer_than_a_request(count: int, rate: float, busy: float) -> None:
    assert 0 <= waiting_s(count, rate, busy) <= count / rate


@given(st.lists(st.integers(1, 10_000), min_size=2, max_size=10))
def test_equal_rates_rise_by_nothing_and_no_interval_excludes_it(counts: list[int]) -> None:
    slices = [
        ProbedSlice(slice_s=0.1 / number, seconds=0.1, responses=count)
        for count in counts
        for number in (1, SHORTER)
    ]
    rise = rise_of_rate(slices)
    assert rise is not None
    assert rise.least == rise.mean == 0
