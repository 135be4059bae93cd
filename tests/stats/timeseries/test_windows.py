"""What of a load counts: bins of a trial, the end of a warm-up, and one cut for all."""

import math
import random
from collections.abc import Callable, Sequence
from itertools import pairwise
from statistics import fmean, median
from typing import Any

import pytest
from benchforge_metrics.cpu import Cpu
from benchforge_metrics.errors import ErrorRate, Errors
from benchforge_metrics.latency import Latency
from benchforge_metrics.memory import Memory
from benchforge_metrics.throughput import Throughput
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from made import plain
from present import present

from benchforge.checks.limits import limits
from benchforge.checks.statistics.repetitions import steady, steady_cases
from benchforge.model.trial.observation import NetworkFlow
from benchforge.model.trial.reading import Reading, Series
from benchforge.model.trial.trial import Trial
from benchforge.model.trial.window import WHOLE, Bins, SteadyState, Window, after_cut, bins_of
from benchforge.model.values.case_name import CaseName
from benchforge.plugin import Histogram, Metric, Sample
from benchforge.stats.summary.summarize import summarize
from benchforge.stats.timeseries.trend import mann_kendall, partition
from benchforge.stats.timeseries.windows import (
    LEAST,
    TOLERANCE,
    WarmUpFit,
    ensemble,
    examine,
    mser,
    settled,
    together,
    window_of,
)

WARM = (10,) * 8 + (100,) * 32  # 2 s of warm-up in 10 s


def case(server: str = "django") -> CaseName:
    return plain.named(server, scenario="s", driver="closed")


def trial(reading: Reading | None, flow: NetworkFlow | None = None, **changed: Any) -> Trial:
    usage = plain.usage(label="django", cpu_s=9.9, peak_pss_bytes=1000)
    observation = plain.observation(usage, seconds=11, flow=flow)
    return plain.trial(reading=reading, observation=observation, **changed)


def reading(seconds: float = 10, **changed: Any) -> Reading:
    fields = {"seconds": seconds, "errors": {"read": 0}, "unanswered": 0}
    return plain.reading(1000, **fields | changed)


def told(completed: tuple[int, ...], errors: tuple[int, ...] = (), bin_s: float = 0.25) -> Reading:
    """A reading with a series, whose totals are those of the series."""
    errors = errors or (0,) * len(completed)
    fields: dict[str, Any] = {"unanswered": sum(errors), "errors": {"read": sum(errors)}}
    fields |= dict.fromkeys(("responses", "good_at_least", "good_at_most"), sum(completed))
    series = Series(bin_s=bin_s, completed=completed, errors=errors)
    return reading(len(completed) * bin_s, series=series, **fields)


def flow(sent: tuple[int, ...]) -> NetworkFlow:
    return NetworkFlow(bin_s=0.25, sent=sent, counter="TcpOutSegs")


def only(metric: Metric, trial: Trial, window: Window) -> Sample:
    return next(iter(metric.of_trial(trial, "label", window)))


def test_a_short_last_bin_is_no_bin() -> None:
    series = Series(bin_s=0.25, completed=(5, 6, 7, 1), errors=(0, 0, 0, 0))
    bins, _ = bins_of(trial(reading(0.8, series=series)))
    assert bins == Bins(0.25, (5, 6, 7), 1)


def test_a_flow_has_no_bins_before_and_after_the_load() -> None:
    # The tool starts in two bins; the load begins within the third and takes 1 s.
    bins, _ = bins_of(trial(reading(1.0), flow((0, 0, 3, 9, 9, 9, 4, 0, 0))))
    assert bins == Bins(0.25, (9, 9, 9), 7, "TcpOutSegs")


def test_a_server_that_hangs_has_empty_bins_not_fewer() -> None:
    bins, _ = bins_of(trial(reading(1.5), flow((3, 9, 9, 0, 0, 0, 0))))
    assert present(bins).counts == (9, 9, 0, 0, 0)


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (trial(None), "no measurement"),
        (trial(reading()), "not watched"),
        (trial(reading(), flow((0,) * 40)), "never moved"),
    ],
)
def test_what_has_no_bins_says_why(item: Trial, reason: str) -> None:
    bins, output = bins_of(item)
    assert bins is None
    assert reason in output


@given(st.lists(st.integers(0, 99), max_size=60), st.floats(0.01, 3), st.floats(0.01, 5))
def test_joined_bins_lose_nothing(counts: list[int], bin_s: float, width: float) -> None:
    bins = Bins(bin_s, tuple(counts), 3).joined(width)
    assert sum(bins.counts) + bins.beside == sum(counts) + 3
    assert bins.seconds >= width * (1 - 1e-5)
    assert bins.seconds < width + bin_s


def test_a_warm_up_is_found_in_bins_of_250_ms_and_in_bins_of_a_second() -> None:
    short = settled([trial(told(WARM))])
    assert (short.classification, short.warm_up_s) == ("warm-up", 2.0)
    assert (short.bin_s, short.bins) == (0.25, 40)
    long = settled([trial(told((10,) * 20 + (100,) * 80))])
    assert (long.classification, long.warm_up_s, long.bin_s, long.bins) == ("warm-up", 5.0, 1.0, 25)


def test_a_load_of_an_hour_has_no_more_bins_than_can_be_looked_at() -> None:
    steady = settled([trial(told((10,) * 3600, bin_s=1.0))])
    assert (steady.classification, steady.bin_s, steady.bins) == ("flat", 6.0, 600)


@pytest.mark.parametrize(
    ("trials", "reason"),
    [
        ([], "no trial"),
        ([trial(reading())], "not watched"),
        ([trial(told(WARM)), trial(reading())], "not watched"),
        ([trial(told((10,) * 19))], "19 bins of 0.25 s are too few"),
        ([trial(told((0, 0, 5) * 10))], "too little"),
        ([trial(told(WARM)), trial(told((90,) * 40, bin_s=0.4))], "different length"),
    ],
)
def test_what_cannot_be_known_is_unknown(trials: list[Trial], reason: str) -> None:
    steady = settled(trials)
    assert steady.steady is None
    assert steady.warm_up_s is None
    assert reason in steady.message


def one(course: Any, cut_s: float | None, bins: int = 40) -> SteadyState:
    return SteadyState(
        classification=course, warm_up_s=cut_s, bin_s=0.25, bins=bins, message="as it is"
    )


def test_all_that_are_compared_are_cut_by_the_longest_warm_up() -> None:
    assert together([one("flat", 0), one("warm-up", 2), one("warm-up", 1)]).cut_s == 2


@pytest.mark.parametrize(
    ("cases", "reason"),
    [
        ([one("flat", 0)], "from the start"),
        ([one("unknown", None), one("warm-up", 2)], "unknown: as it is"),
        ([one("late", None)], "nothing settled"),
        ([one("warm-up", 2), one("flat", 0, bins=15)], "more than half"),
    ],
)
def test_where_nothing_is_cut_it_says_why(cases: list[SteadyState], reason: str) -> None:
    window = together(cases)
    assert window.cut_s == 0
    assert reason in window.why


def test_who_never_settled_keeps_the_whole_load_and_cuts_nobody() -> None:
    never = one("step", None)
    window = together([never, one("warm-up", 1)])
    assert window.cut_s == 1
    assert window_of(never, window).cut_s == 0


def test_throughput_is_that_after_the_warm_up() -> None:
    sample = only(Throughput(), trial(told(WARM)), Window(cut_s=2))
    assert sample.value == pytest.approx(400)  # 100 in each 250 ms
    assert sample.estimator == "without the first 2 s"
    assert only(Throughput(), trial(told(WARM)), WHOLE).value == pytest.approx(328)


def test_throughput_of_a_tool_without_series_goes_by_the_share_of_the_flow() -> None:
    # 10 segments a response: 0.1 s before the load, then 2 s at a tenth, then 8 s.
    sent = (0, 60, *(100,) * 8, *(1000,) * 31, 400, 0)
    count = sum(sent) // 10
    full = reading(10, responses=count, good_at_least=count, good_at_most=count)
    sample = only(Throughput(), trial(full, flow(sent)), Window(cut_s=2))
    assert sample.value == pytest.approx(400)
    assert "share of TcpOutSegs" in present(sample.estimator)


def test_throughput_that_cannot_be_cut_says_so() -> None:
    sample = only(Throughput(), trial(reading()), Window(cut_s=2))
    assert (sample.value, sample.estimator) == (100, "of the whole load: it cannot be cut")


@given(st.lists(st.integers(1, 99), min_size=4, max_size=40), st.integers(0, 3))
def test_what_is_cut_and_what_is_left_make_the_whole(counts: list[int], bins: int) -> None:
    programs = present(after_cut(trial(told(tuple(counts))), Window(cut_s=bins * 0.25)))
    assert programs.share * sum(counts) == pytest.approx(sum(counts[bins:]))
    assert programs.seconds == pytest.approx((len(counts) - bins) * 0.25)


def test_errors_are_counted_after_the_warm_up_and_all_are_told() -> None:
    subject = trial(told(WARM, errors=(5, *(0,) * 38, 1)))
    total, read = Errors().of_trial(subject, "label", Window(cut_s=2))
    assert (total.value, total.estimator) == (1, "without the first 2 s; 6 in the whole load")
    assert (read.value, read.estimator) == (6, "of the whole load, its first 2 s too")
    assert only(ErrorRate(), subject, Window(cut_s=2)).value == pytest.approx(1 / 3201)


def test_errors_of_which_nobody_tells_when_are_of_the_whole_load() -> None:
    bad = told(WARM).model_copy(update={"good_at_least": 3270, "good_at_most": 3270})
    for metric, value in ((Errors(), 10), (ErrorRate(), 10 / 3280)):
        sample = only(metric, trial(bad), Window(cut_s=2))
        assert sample.value == pytest.approx(value)
        assert sample.estimator == "of the whole load, its first 2 s too"


def test_what_is_never_cut_says_so() -> None:
    subject = trial(told(WARM).model_copy(update={"latency": Histogram.of({10: 5000})}))
    for metric in (Latency(), Cpu(), Memory()):
        samples = list(metric.of_trial(subject, "label", Window(cut_s=2)))
        texts = [present(item.estimator) for item in samples if item.value is not None]
        assert all(text.endswith("its first 2 s too") for text in texts)


def result(*readings: tuple[str, Reading]) -> Any:
    header = plain.header(*(case(server) for server in dict(readings)), blocks=1)
    trials = [
        trial(subject, number=n, position=n, case=case(server))
        for n, (server, subject) in enumerate(readings, 1)
    ]
    return summarize(header, trials, {"throughput": Throughput()})


def test_a_result_has_the_cut_and_each_case_s_verdict() -> None:
    step = told((100,) * 30 + (60,) * 10)
    summary = result(("warm", told(WARM)), ("flat", told((50,) * 40)), ("step", step))
    (comparison,) = summary.comparisons
    assert comparison.window.cut_s == 2
    classes = [steady_state.classification for steady_state in comparison.steady_states]
    assert classes == ["warm-up", "flat", "step"]
    warm, flat, stepped = summary.cases
    assert (warm.steady, flat.steady, stepped.steady) == (True, True, False)
    assert warm.metrics[0].median == pytest.approx(400)
    assert flat.metrics[0].median == pytest.approx(200)
    assert flat.metrics[0].estimator == "without the first 2 s"
    assert stepped.metrics[0].median == pytest.approx(360)  # of the whole load
    assert "not steady" in stepped.notes[0]


def test_a_trial_that_does_not_settle_is_flagged_and_believed() -> None:
    flags = {
        "pass": told((100,) * 40),
        "warn": told((100,) * 30 + (60,) * 10),
        "unknown": told((100,) * 10),
    }
    for status, flag in flags.items():
        (check,) = steady(trial(flag), limits())
        assert (check.id, check.status, check.subject) == ("S1", status, "behaviour")


@pytest.mark.parametrize(
    ("second", "says"),
    [
        (50, "its level changed by -50 % while it was measured"),
        (200, "its level changed by +100 % while it was measured"),
        (0, "for a part of what was measured nothing was answered"),
    ],
)
def test_a_step_is_told_in_shares_of_what_was_before(second: int, says: str) -> None:
    (check,) = steady(trial(told((100,) * 30 + (second,) * 10)), limits())
    assert (check.status, check.value) == ("warn", second / 100 - 1)
    assert check.message.startswith(says)


def test_a_comparison_with_what_never_settles_fails() -> None:
    steady, step = told((100,) * 40), told((100,) * 30 + (60,) * 10)
    items = list(steady_cases([[trial(steady)], [trial(step)], []], limits()))
    assert [check.status for check in items] == ["pass", "fail", "unknown"]
    assert items[1].value == pytest.approx(-0.4)


def test_latencies_that_hold_a_warm_up_are_told() -> None:
    items = list(steady_cases([[trial(told(WARM))]], limits()))
    assert [check.status for check in items] == ["pass", "warn"]
    assert [check.invalidates for check in items] == ["all", "latency"]
    assert "lengthen repeat.warmup by 2 s" in items[1].message


Shape = Callable[[float], float]

POINTS = 5.0
SIMULATED = 500
SHAPES: dict[str, Shape] = {
    "flat": lambda _: 1.0,
    "late": lambda share: 1.0 if share < 0.75 else 0.88,
    "falling": lambda share: 1 - share / 10,
}
FLAT = SHAPES["flat"]


def run(rng: random.Random, shape: Shape, bins: int) -> list[float]:
    error, gauss = rng.gauss(0, 0.03), []
    for number in range(bins):
        gauss.append((1 + error) * shape((number + 0.5) / bins))
        error = 0.3 * error + math.sqrt(1 - 0.3**2) * rng.gauss(0, 0.03)
    return gauss


def unsteady(shape: Shape, bins: int, runs: int) -> float:
    """How often a course of that shape is called unsteady, in percent."""
    rng = random.Random(11)
    courses = (ensemble([run(rng, shape, bins) for _ in range(runs)]) for _ in range(SIMULATED))
    return 100 * fmean(examine(course).course in {"late", "step", "trend"} for course in courses)


@pytest.mark.parametrize(
    ("shape", "bins", "runs", "lowest", "highest"),
    [
        *(("flat", 20, 1, 3, 5), ("flat", 20, 5, 3, 5), ("flat", 30, 3, 1, 3)),
        ("flat", 60, 3, 0, 2),
        *(("late", 20, 1, 48, 48), ("late", 20, 3, 95, 100), ("late", 30, 3, 95, 100)),
        # The table does not say for how many bins; of 54, which are 13.5 s, it holds.
        *(("falling", 54, 1, 32, 46), ("falling", 54, 5, 80, 95), ("falling", 54, 10, 80, 95)),
    ],
)
def test_unsteady_rate(shape: str, bins: int, runs: int, lowest: float, highest: float) -> None:
    assert lowest - POINTS <= unsteady(SHAPES[shape], bins, runs) <= highest + POINTS


@pytest.mark.parametrize(
    ("shape", "bias"),
    [
        (lambda bin_: 1 - 0.3 * math.exp(-bin_ / 3), -0.003),
        (lambda bin_: 0.8 if bin_ < 8 else 1.0, 0.0),
        (lambda bin_: 0.3 if bin_ == 0 else 1.0, 0.0),
    ],
)
def test_the_level_after_the_warm_up(shape: Callable[[int], float], bias: float) -> None:
    rng, levels, bins = random.Random(3), [], 40
    for _ in range(100):
        runs = [
            [value * shape(number) for number, value in enumerate(run(rng, FLAT, bins))]
            for _ in range(5)
        ]
        cut = examine(ensemble(runs)).cut
        levels += [fmean(run[cut:]) for run in runs]
    assert fmean(levels) - 1 == pytest.approx(bias, abs=0.004)


def test_a_warm_up_is_cut_where_it_ends() -> None:
    assert examine([0.0] * 5 + [25.0] * 35) == WarmUpFit("warm-up", 5, -1.0)
    assert examine([25.0] * 40) == WarmUpFit("flat", 0)


def test_a_level_that_comes_in_the_middle_is_no_warm_up() -> None:
    assert examine([25.0] * 20 + [30.0] * 20).course == "late"


def test_a_step_and_a_trend_say_their_size() -> None:
    rng = random.Random(5)
    step = examine([value * (1.0 if n < 45 else 0.8) for n, value in enumerate(run(rng, FLAT, 60))])
    assert step.course == "step"
    assert step.change == pytest.approx(-0.2, abs=0.03)  # of the level before
    trend = examine(ensemble([run(rng, lambda index: 1 + 0.06 * index, 60) for _ in range(20)]))
    assert trend.course in {"trend", "step", "late"}


def test_a_rate_that_is_kept_exactly_but_for_a_spike_is_steady() -> None:
    assert examine([25.0] * 30 + [60.0] + [25.0] * 29).course == "flat"


def test_a_server_that_stands_still_for_most_of_what_is_kept_made_a_step() -> None:
    course = [*[8.0] * 8, 1.0, *[0.0] * 14, *[6.0] * 8]
    assert median(course[mser(course) :]) == 0
    assert examine(course) == WarmUpFit("step", 8, -1.0)
    assert examine(course[::-1]).change == -1.0


@given(st.lists(st.sampled_from([0, 0, 0, 1, 10, 11]), min_size=LEAST, max_size=3 * LEAST))
def test_a_course_in_which_much_stands_still_is_told_all_the_same(counts: list[int]) -> None:
    assume(median(counts) > 0)
    assert examine(ensemble([counts])).course in {"flat", "warm-up", "late", "step", "trend"}


def test_runs_are_averaged_in_units_of_their_own_level() -> None:
    assert ensemble([[1, 2, 2, 2, 9], [20, 10, 10, 10]]) == [1.25, 1.0, 1.0, 1.0]


def test_the_threshold_that_is_shown_is_the_one_that_is_used() -> None:
    assert limits()["S1"].fail == TOLERANCE


courses = st.lists(st.floats(0.5, 2.0), min_size=4, max_size=40)


@given(courses)
def test_mser_is_the_smallest_standard_error_of_what_is_left(course: list[float]) -> None:
    def error(cut: int) -> float:
        rest = course[cut:]
        return sum((x - fmean(rest)) ** 2 for x in rest) / len(rest) ** 2

    cut = mser(course)
    assert cut <= len(course) // 2
    other_cuts = range(len(course) // 2 + 1)
    assert all(error(cut) <= error(other) * (1 + 1e-6) + 1e-15 for other in other_cuts)


@given(courses, st.floats(0.01, 1000))
@settings(max_examples=50)
def test_the_unit_of_a_course_does_not_matter(course: list[float], unit: float) -> None:
    course = course * 5
    examination, other = examine(course), examine([value * unit for value in course])
    assert (examination.course, examination.cut) == (other.course, other.cut)


def cost(values: Sequence[float], edges: Sequence[int], penalty: float) -> float:
    pieces = [values[a:b] for a, b in pairwise(edges)]
    return sum(sum((x - fmean(p)) ** 2 for x in p) for p in pieces) + penalty * (len(pieces) - 1)


@given(st.lists(st.integers(-8, 8), min_size=1, max_size=9), st.integers(1, 3), st.floats(0.1, 60))
def test_a_partition_is_the_cheapest_of_all(values: list[int], least: int, penalty: float) -> None:
    size = len(values)
    actual = partition(values, penalty, least)
    ways = [
        [0, *(index for index in range(1, size) if chosen >> index & 1), size]
        for chosen in range(1 << size)
    ]
    allowed = [way for way in ways if all(b - a >= least for a, b in pairwise(way))] or [[0, size]]
    best = min(cost(values, way, penalty) for way in allowed)
    assert cost(values, [0, *actual, size], penalty) == pytest.approx(best, abs=1e-6)
    assert [0, *actual, size] in allowed


def test_a_trend_has_the_p_of_the_literature() -> None:
    assert mann_kendall([1, 1, 1, 1]) == 1
    rising = mann_kendall(list(range(10)))
    z = 44 / math.sqrt(10 * 9 * 25 / 18)
    assert rising == pytest.approx(math.erfc(z / math.sqrt(2)), rel=1e-6)
    inflated = math.erfc(z / 2 / math.sqrt(2))
    assert mann_kendall(list(range(10)), inflation=4) == pytest.approx(inflated, rel=1e-6)
    assert mann_kendall(list(range(10, 0, -1))) == rising
