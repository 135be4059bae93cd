"""What of a load counts: bins of a trial, one cut for all that are compared, and who uses it."""

from typing import Any

import pytest
from benchforge_metrics.cpu import Cpu
from benchforge_metrics.errors import ErrorRate, Errors
from benchforge_metrics.latency import Latency
from benchforge_metrics.memory import Memory
from benchforge_metrics.throughput import Throughput
from hypothesis import given
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
from benchforge.stats.timeseries.windows import settled, together, window_of

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
