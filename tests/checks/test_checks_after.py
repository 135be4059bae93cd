"""W5 and I9: work after the load, and waiting that goes on while a server is frozen."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made.quiet_trial import LIMITS, only, parts, trial
from made.turns import other_slices, probed_slices, turns

from benchforge.checks.causes import audience
from benchforge.checks.server import after
from benchforge.checks.statistics.turns import waits
from benchforge.model.summary.doubts import speaks_of
from benchforge.model.trial.check import Check
from benchforge.model.trial.observation import WorkAfter
from benchforge.model.trial.trial import Trial
from benchforge.model.trial.turns import ProbedSlice, Turns
from benchforge.stats.turns import excesses, probe_lengths, waiting_s

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
    return only(waits({"flask": [trial(turns=took)]}, LIMITS), "I9")


def probed(*bursts: float, rate: float = 500) -> Turns:
    return IDLE.model_copy(update={"probed": probed_slices(*bursts, rate=rate)})


SHORT = [probe for probe in probed_slices(0.001, 0.0, 0.001) if probe.slice_s < 0.4]
SURE, BOUNDED = "turns add at most 1.80 % of its responses (99 %)", "(99 %), but may add less"


@pytest.mark.parametrize(
    ("took", "status", "says"),
    [
        # A timer that runs on is due when its server goes on.
        (probed(0.02, 0.025, 0.018), "fail", "31.0 % of a slice"),
        (probed(0.02, 0.025, 0.018), "fail", "turns add 17.5 % of its responses: its timers go on"),
        (probed(*[0.001, 0] * 2, rate=5000), "pass", SURE),
        # Noise may explain what it explains, and the bound limits the answer.
        (probed(0.06, -0.02, 0.06, -0.02), "unknown", f"of its responses {BOUNDED}"),
        # Other slices tell nothing.
        (IDLE, "unknown", "was not measured"),
        (IDLE.model_copy(update={"probed": tuple(SHORT)}), "unknown", ""),
        # Of 16 connections 15 wait for their turn or for a CPU, which is no timer.
        (other_slices(turns(*[50] * 20), cpu_s=0.07, loader_cpu_s=0.03), "pass", ""),
        (other_slices(IDLE, cpu_s=0.02).model_copy(update={"cpu_wait_s": 1.9}), "pass", ""),
    ],
)
def test_waits_that_turns_flatter(took: Turns, status: str, says: str) -> None:
    check = waiting(took)
    assert (check.status, check.subject) == (status, "apparatus")
    assert says in check.message
    assert status != "unknown" or audience(check, LIMITS) == "limits"


@given(st.integers(1, 512), st.floats(1, 1e6), st.floats(0, 2))
def test_waiting_is_never_longer_than_a_request(count: int, rate: float, busy: float) -> None:
    assert 0 <= waiting_s(count, rate, busy) <= count / rate


def probe(length_s: float, responses: int) -> ProbedSlice:
    return ProbedSlice(slice_s=length_s, seconds=length_s, responses=responses)


def sleeping(takes_s: float, slice_s: float = 0.1) -> list[ProbedSlice]:
    """64 requests at once, each of which takes so long: all are due when a slice begins."""
    lengths = [*probe_lengths(slice_s)][1:]
    return [probe(length_s, 64 * (1 + math.floor(length_s / takes_s))) for length_s in lengths]


@given(st.floats(0.002, 0.3))
def test_no_sleep_passes_that_turns_flatter_beyond_the_bound(takes_s: float) -> None:
    took = IDLE.model_copy(update={"probed": tuple(sleeping(takes_s))})
    flattered = ((1 + math.floor(took.slice_s / takes_s)) / took.slice_s) * takes_s - 1
    assert waiting(took).status == "fail" or flattered < 0.075


@given(st.floats(50, 10_000), st.floats(0, 1), st.sampled_from([0.02, 0.1, 0.5, 1.0]))
def test_what_a_slice_has_too_many_is_a_share_of_its_rate(
    rate: float, burst: float, slice_s: float
) -> None:
    lengths = [*probe_lengths(slice_s)][1:]
    probed = [probe(item, round(1e6 * rate * (item + burst))) for item in lengths]
    for result in excesses(slice_s, probed):
        assert result.mean == pytest.approx(burst / (slice_s + burst), abs=1e-3)


@given(st.lists(st.integers(1, 10_000), min_size=2, max_size=10))
def test_turns_add_nothing_to_equal_rates_and_no_interval_excludes_it(counts: list[int]) -> None:
    slices = [
        ProbedSlice(slice_s=0.1 * times, seconds=0.1, responses=count)
        for count in counts
        for times in (0.25, 1, 4)
    ]
    for result in excesses(0.1, slices):
        assert result.least == result.mean == result.most == 0
