"""O1 and O2: what a closed loop does not see, and a timer that is too coarse."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made.quiet_trial import asked, ids, reading, trial
from present import present
from recorded.tools import recorded

from benchforge.checks.load_tool.omission import residual_us
from benchforge.model.trial.histogram import Histogram
from benchforge.model.trial.reading import Reading, Series
from benchforge.model.trial.trial import Load

# 16 connections for 10 s. A stall of 200 ms in each second: 160 requests wait for it, and the
# others share 128 s of the connections' 160.
STALLS = Histogram.of({300: 250_000, 1_190: 2_000, 4_870: 10_200, 200_000: 160})
# One of ten requests sleeps for 100 ms: the others take 0.106 ms.
SLEEPERS = Histogram.of({106: 14_220, 100_000: 1_420, 101_000: 160})


def kappa(histogram: Histogram) -> float:
    return present(residual_us(histogram, 0.99)) / present(histogram.quantile(0.99))


def series(*completed: int) -> Series:
    return Series(bin_s=0.1, completed=completed, errors=())


def closed(histogram: Histogram | None, **changed: object) -> Reading:
    count = 0 if histogram is None else histogram.count
    return reading(responses=count, latency=histogram, **changed)


# The index


def test_the_index_of_a_server_that_stalls_and_of_one_that_sleeps() -> None:
    """39 where an open loop saw p99 of 190 to 218 ms, and 1.0."""
    assert kappa(STALLS) == pytest.approx(39, abs=1)
    assert kappa(STALLS) * 4_870 == pytest.approx(195_000, rel=0.05)
    assert kappa(SLEEPERS) == pytest.approx(1.0, abs=0.03)


def naive(histogram: Histogram, p: float) -> float:
    """Bisect for the t at which a random moment waits longer with the probability 1 - p."""
    values = list(histogram.values())
    total = sum(value * count for value, count in values)
    low, high = 0.0, float(histogram.max_us)
    for _ in range(100):
        t = (low + high) / 2
        if sum(max(value - t, 0) * count for value, count in values) / total > 1 - p:
            low = t
        else:
            high = t
    return low


durations = st.dictionaries(
    st.integers(1, 10_000_000), st.integers(1, 10_000), min_size=1, max_size=20
)


@given(durations, st.sampled_from([0.5, 0.9, 0.99]))
def test_the_index_is_what_bisection_finds(counts: dict[int, int], p: float) -> None:
    histogram = Histogram.of(counts)
    exposure = present(residual_us(histogram, p))
    assert exposure == pytest.approx(naive(histogram, p), rel=1e-6, abs=1e-3)


@given(durations, st.integers(2, 50))
def test_the_index_has_no_unit(counts: dict[int, int], times: int) -> None:
    slower = Histogram.of({value * times: count for value, count in counts.items()})
    assert kappa(slower) == pytest.approx(kappa(Histogram.of(counts)), rel=0.01, abs=0.01)


@given(durations, st.integers(2, 100))
def test_the_index_is_free_of_the_duration(counts: dict[int, int], times: int) -> None:
    longer = Histogram.of({value: count * times for value, count in counts.items()})
    assert kappa(longer) == pytest.approx(kappa(Histogram.of(counts)))


# O1


def test_a_closed_loop_that_misses_stalls_says_nothing_of_users() -> None:
    check = asked(trial(reading=closed(STALLS)), "O1")
    assert (check.status, check.invalidates, check.subject) == ("fail", "latency", "apparatus")
    assert "measure response times at a rate" in check.message
    assert asked(trial(reading=closed(SLEEPERS)), "O1").status == "pass"


def test_a_real_server_that_stalls_is_seen_and_a_healthy_one_passes() -> None:
    stalls, load = recorded("wrk", "stalls")
    assert asked(trial(reading=stalls, load=load), "O1").status == "fail"
    healthy, load = recorded("wrk", "healthy")
    assert asked(trial(reading=healthy, load=load), "O1").status == "pass"


@pytest.mark.parametrize(
    ("completed", "says"),
    [
        ((50, 0, 0, 60, 70), "the whole server stood still, for 200 ms at the longest"),
        ((50, 40, 45, 60, 70), "single requests were slow while others"),
        ((50, 0, 60, 70, 80), "the whole server stood still, for 100 ms at the longest"),
        ((0, 0, 50, 40, 0, 0), "single requests were slow"),  # its start and its end are no gaps
    ],
)
def test_gaps_tell_whether_all_stood_still(completed: tuple[int, ...], says: str) -> None:
    assert says in asked(trial(reading=closed(STALLS, series=series(*completed))), "O1").message


def test_where_no_gap_can_be_seen_nothing_is_said_of_it() -> None:
    coarse = Series(bin_s=1.0, completed=(5, 0, 5), errors=())
    for item in (
        trial(reading=closed(STALLS)),
        trial(reading=closed(STALLS, series=coarse)),
        trial(reading=closed(STALLS, series=series(5, 0, 5)), load=Load(concurrency=1, think_s=1)),
    ):
        assert "stood still" not in asked(item, "O1").message
        assert "single requests" not in asked(item, "O1").message


def test_a_gap_that_is_too_short_explains_nothing() -> None:
    slow = Histogram.of({1_000: 100_000, 500_000: 50})
    check = asked(trial(reading=closed(slow, series=series(90, 0, 90, 90))), "O1")
    assert "while others were answered" in check.message
    stood = asked(trial(reading=closed(slow, series=series(90, 0, 0, 0, 90))), "O1")
    assert "the whole server stood still, for 300 ms" in stood.message


def test_slow_requests_of_few_connections_leave_no_gap() -> None:
    slow = Histogram.of({50_000: 990, 3_000_000: 10})
    check = asked(trial(reading=closed(slow, series=series(2, 0, 0, 0, 2))), "O1")
    assert (check.status, "while others were answered" in check.message) == ("fail", True)


def test_what_was_given_up_is_waited_for_too() -> None:
    fast = Histogram.of({1000: 100_000})
    assert asked(trial(reading=closed(fast)), "O1").status == "pass"
    late = closed(fast, censored=100, censored_from_us=1_000_000)
    check = asked(trial(reading=late), "O1")
    assert check.status == "fail"
    assert "p99 would be more than 980 ms, more than 980 times" in check.message
    assert "records no response time above 1 s" in check.message
    assert "more than" not in asked(trial(reading=closed(STALLS)), "O1").message
    beyond = asked(trial(reading=late.model_copy(update={"censored": 2000})), "O1")
    assert beyond.status == "unknown"
    assert "p99 itself is longer than the 1 s" in beyond.message
    unknown = late.model_copy(update={"censored_from_us": None})
    assert asked(trial(reading=unknown), "O1").status == "unknown"
    young = closed(fast, in_flight=Histogram.of({5_000_000: 16}))
    assert asked(trial(reading=young), "O1").status == "fail"


def test_without_a_histogram_it_is_unknown() -> None:
    for item in (closed(None), closed(Histogram.of({})), closed(Histogram.of({0: 100}))):
        check = asked(trial(reading=item), "O1")
        assert (check.status, check.value) == ("unknown", None)


def test_an_open_loop_misses_nothing() -> None:
    assert "O1" not in ids(trial(reading=closed(STALLS), load=Load(rate=1000)))


# O2: 0.92 to 1.09 ms beside 0.12 to 0.18 ms


@pytest.mark.parametrize(
    ("corrected", "mine", "status"),
    [(1_020, 150, "warn"), (1_090, 120, "warn"), (600, 150, "pass"), (150, 160, "pass")],
)
def test_the_timer_of_wrk2_is_told(corrected: float, mine: float, status: str) -> None:
    printed = {"percentiles_us": {"50": corrected}, "printed": {"uncorrected_p50_us": mine}}
    subject = closed(None, **printed, defects=("wrk2:1ms-timer",))
    check = asked(trial(reading=subject), "O2")
    assert (check.status, check.invalidates) == (status, "latency")
    assert check.value == pytest.approx(max(0, corrected - mine) / 1e6)


def test_wrk2_that_told_no_real_sending_leaves_it_unknown() -> None:
    recording, load = recorded("wrk2", "healthy")
    assert asked(trial(reading=recording, load=load), "O2").status == "unknown"
    assert "O2" not in ids(trial())
