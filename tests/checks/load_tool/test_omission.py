"""O1 and O2: what a closed loop does not see, and a timer that is too coarse."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made.quiet_trial import Row, asked, ids, reading, trial
from present import present
from recorded.tools import recorded

from benchforge.checks.load_tool.loader import residual_us
from benchforge.model.trial.histogram import Histogram
from benchforge.model.trial.reading import Load, Reading, Series
from benchforge.model.trial.trial import Trial

# 16 connections for 10 s. A stall of 200 ms in each second: 160 requests wait for it, and the
# others share 128 s of the connections' 160.
STALLS = Histogram.of({300: 250_000, 1_190: 2_000, 4_870: 10_200, 200_000: 160})
# One of ten requests sleeps for 100 ms: the others take 0.106 ms.
SLEEPERS = Histogram.of({106: 14_220, 100_000: 1_420, 101_000: 160})


def kappa(histogram: Histogram) -> float:
    return present(residual_us(histogram, 0.99)) / present(histogram.quantile(0.99))


def closed(histogram: Histogram | None, **changed: object) -> Reading:
    count = 0 if histogram is None else histogram.count
    return reading(responses=count, latency=histogram, **changed)


# The index


def test_o1_has_an_index_of_a_server_that_stalls_and_of_one_that_sleeps() -> None:
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
def test_o1_has_the_index_that_bisection_finds(counts: dict[int, int], p: float) -> None:
    histogram = Histogram.of(counts)
    exposure = present(residual_us(histogram, p))
    assert exposure == pytest.approx(naive(histogram, p), rel=1e-6, abs=1e-3)


@given(durations, st.integers(2, 50))
def test_o1_has_an_index_without_a_unit(counts: dict[int, int], times: int) -> None:
    slower = Histogram.of({value * times: count for value, count in counts.items()})
    assert kappa(slower) == pytest.approx(kappa(Histogram.of(counts)), rel=0.01, abs=0.01)


@given(durations, st.integers(2, 100))
def test_o1_has_an_index_free_of_the_duration(counts: dict[int, int], times: int) -> None:
    longer = Histogram.of({value: count * times for value, count in counts.items()})
    assert kappa(longer) == pytest.approx(kappa(Histogram.of(counts)))


# O1, and O2: 0.92 to 1.09 ms beside 0.12 to 0.18 ms


def loop(histogram: Histogram | None, *completed: int, **changed: Any) -> Trial:
    series = Series(bin_s=0.1, completed=completed, errors=()) if completed else None
    return trial(reading=closed(histogram, **{"series": series} | changed))


def timer(corrected: float, mine: float) -> Trial:
    printed = {"percentiles_us": {"50": corrected}, "printed": {"uncorrected_p50_us": mine}}
    return loop(None, **printed, defects=("wrk2:1ms-timer",))


FAST = Histogram.of({1000: 100_000})
SLOW = Histogram.of({1_000: 100_000, 500_000: 50})
FEW = Histogram.of({50_000: 990, 3_000_000: 10})
YOUNG = Histogram.of({5_000_000: 16})
LATE = {"censored": 100, "censored_from_us": 1_000_000}
STOOD, SINGLE = "the whole server stood still, for", "single requests were slow while others were"
UNKNOWN = (None, Histogram.of({}), Histogram.of({0: 100}))

ROWS = [
    Row("O1", loop(STALLS), "fail", says="times that of the closed loop: measure response times"),
    Row("O1", loop(SLEEPERS), "pass"),
    Row("O1", loop(STALLS, 50, 0, 0, 60, 70), "fail", says=f"{STOOD} 200 ms at the longest"),
    Row("O1", loop(STALLS, 50, 40, 45, 60, 70), "fail", says=SINGLE),
    Row("O1", loop(STALLS, 50, 0, 60, 70, 80), "fail", says=f"{STOOD} 100 ms at the longest"),
    Row("O1", loop(STALLS, 0, 0, 50, 40, 0, 0), "fail", says=SINGLE),  # start and end are no gaps
    # A gap that is too short explains nothing, and slow requests of few connections leave none.
    Row("O1", loop(SLOW, 90, 0, 90, 90), "fail", says=SINGLE),
    Row("O1", loop(SLOW, 90, 0, 0, 0, 90), "fail", says=f"{STOOD} 300 ms"),
    Row("O1", loop(FEW, 2, 0, 0, 0, 2), "fail", says=SINGLE),
    # What was given up is waited for too.
    Row("O1", loop(FAST), "pass"),
    Row("O1", loop(FAST, **LATE), "fail", says="would be more than 980 ms, more than 980 times"),
    Row("O1", loop(FAST, **LATE), "fail", says="records no response time above 1 s"),
    Row("O1", loop(FAST, **LATE | {"censored": 2000}), "unknown", says="longer than the 1 s"),
    Row("O1", loop(FAST, censored=100), "unknown"),
    Row("O1", loop(FAST, in_flight=YOUNG), "fail"),
    *(Row("O1", loop(histogram), "unknown") for histogram in UNKNOWN),
    Row("O2", timer(1_020, 150), "warn", 0.00087),
    Row("O2", timer(1_090, 120), "warn", 0.00097),
    Row("O2", timer(600, 150), "pass", 0.00045),
    Row("O2", timer(150, 160), "pass", 0),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.check}-{row.outcome}")
def test_omissions(row: Row) -> None:
    row.holds()
    assert asked(row.trial, row.check).invalidates == "latency"


def test_o1_sees_a_real_server_that_stalls_and_passes_a_healthy_one() -> None:
    stalls, load = recorded("wrk", "stalls")
    assert asked(trial(reading=stalls, load=load), "O1").status == "fail"
    healthy, load = recorded("wrk", "healthy")
    assert asked(trial(reading=healthy, load=load), "O1").status == "pass"


def test_o1_says_nothing_where_no_gap_can_be_seen() -> None:
    thinks = Load(concurrency=1, think_s=1)
    coarse = Series(bin_s=1.0, completed=(5, 0, 5), errors=())
    for item in (
        loop(STALLS),
        loop(STALLS, series=coarse),
        loop(STALLS, 5, 0, 5).model_copy(update={"load": thinks}),
    ):
        message = asked(item, "O1").message
        assert not [words for words in ("stood still", "single", "more than") if words in message]


def test_o1_passes_an_open_loop() -> None:
    assert "O1" not in ids(trial(reading=closed(STALLS), load=Load(rate=1000)))


def test_o2_is_unknown_of_wrk2_without_real_sending() -> None:
    recording, load = recorded("wrk2", "healthy")
    assert asked(trial(reading=recording, load=load), "O2").status == "unknown"
    assert "O2" not in ids(trial())
