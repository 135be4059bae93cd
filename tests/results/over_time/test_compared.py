"""A new result against older ones, from summaries made by hand."""

import math
import statistics
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made.plain import NOON
from made.shown import case, line, result
from made.summaries import check

from benchforge.model.summary.summary import CaseSummary, DoubtedTrial, MetricSummary, Summary
from benchforge.model.trial.check import Check
from benchforge.results.over_time import levels
from benchforge.results.over_time.compared import IS_REFERENCE, MetricChange, compared, predicted
from benchforge.results.over_time.series import courses
from benchforge.stats.distributions import t_quantile

OWN = (1.0, 1.004, 0.995, 1.003, 0.998, 1.001)


def day(number: int, item: float, two: float, better: str = "higher") -> Summary:
    """Two servers with 3 blocks each, one hundredth apart."""

    def measured(server: str, value: float) -> CaseSummary:
        mine = line("speed", "x", 0.99 * value, value, 1.01 * value)
        return case(server, mine.model_copy(update={"better": better}))

    created = NOON + timedelta(days=number)
    return result(measured("one", item), measured("two", two)).model_copy(
        update={"created": created}
    )


def past(better: str = "higher") -> list[Summary]:
    return [day(n, 10.0 + n, (10.0 + n) * mine, better) for n, mine in enumerate(OWN)]


def answer(new: Summary, older: list[Summary], reference: str | None = "one") -> MetricChange:
    """Return how server two changed."""
    return of(list(compared(new, older, reference, 0.03)), "two")


def of(rows: Sequence[MetricChange], server: str) -> MetricChange:
    (item,) = [row for row in rows if row.case.server == server]
    return item


@pytest.mark.parametrize(
    ("two", "better", "answer_"),
    [
        *((20.0, "higher", "not shown"), (18.0, "higher", "worse"), (18.0, "lower", "better")),
        *((22.0, "higher", "better"), (22.0, "lower", "worse")),
        (19.5, "higher", "not shown"),  # 2.5 % less: beyond the interval, below what is told
    ],
)
def test_the_direction_is_that_of_the_metric(two: float, better: str, answer_: str) -> None:
    rows = list(compared(day(9, 20.0, two, better), past(better), "one", 0.03))
    assert of(rows, "two").answer == answer_
    assert of(rows, "one").change.change.why == IS_REFERENCE


@given(st.floats(0.01, 100), st.floats(0.5, 2))
def test_a_good_day_of_the_machine_changes_nothing(machine: float, mine: float) -> None:
    entries = answer(day(9, 20.0, 20.0 * mine), past())
    elsewhere = answer(day(9, 20.0 * machine, 20.0 * mine * machine), past())
    assert elsewhere.change.change.value == pytest.approx(entries.change.change.value)
    if abs(mine - 1) > 0.05:
        assert elsewhere.answer == entries.answer == ("better" if mine > 1 else "worse")


@pytest.mark.parametrize(
    ("summarys", "reference", "reason"),
    [
        (past(), None, "no reference server was named"),
        (past()[:4], "one", "4 past sessions: a prediction takes 5"),
        (past(), "three", "three was not measured beside it"),
    ],
)
def test_no_model_no_sentence(summarys: list[Summary], reference: str | None, reason: str) -> None:
    row = answer(day(9, 20, 2), summarys, reference)
    assert row.answer == "no model"
    assert reason in row.change.change.why
    assert row.ratio is not None


def doubts(doubt: Check, *trials: int) -> tuple[DoubtedTrial, ...]:
    same: dict[str, Any] = {"attempt": 1, "checks": (doubt,), "used": True}
    return tuple(DoubtedTrial(trial=n, block=n, **same) for n in trials)


def doubted(case_summary: CaseSummary, *trials: int) -> CaseSummary:
    believed = case_summary.trials - len(trials)
    update = {"doubted": doubts(check("N1", "apparatus", name=""), *trials), "believed": believed}
    return case_summary.model_copy(update=update)


def only(case_summary: CaseSummary) -> tuple[CaseSummary, MetricSummary]:
    return case_summary, levels.lines(case_summary)[next(iter(levels.lines(case_summary)))]


def test_what_is_not_believed_does_not_count() -> None:
    known_values = case("one", line("speed", "x", 10, 20, 1000))
    assert levels.level(*only(doubted(known_values, 3))).value == pytest.approx(200**0.5)
    assert levels.level(*only(doubted(known_values, 1, 2, 3))).why == f"{levels.NO_TRIAL}: N1"
    rest = doubted(case("two", known_values.metrics[0]), 1, 2, 3)
    new = result(case("one", line("speed", "x", 1)), rest)
    assert answer(new, past(), None).answer == "not believed"


def test_what_is_no_number_is_none_and_what_is_zero_is_zero() -> None:
    unknown = levels.level(*only(case("one", line("p99", "s", 1, text="too few"))))
    assert (unknown.value, unknown.why) == (None, "too few")
    bound = levels.level(*only(case("one", line("p99", "s", 1, 2, at_least=True))))
    assert (bound.value, bound.why) == (None, "a value is only a lower bound")
    nothing = levels.level(*only(case("one", line("errors", "1", 0, 0, 0))))
    assert (nothing.value, nothing.low) == (0.0, None)
    empty = levels.level(*only(case("one", line("rate", "1/s", text="no trial has a value"))))
    assert (empty.value, empty.why) == (None, "no trial has a value")


def test_a_reference_is_one_case_where_another_is_compared() -> None:
    few, more = {"loaders.x.connections": 1}, {"loaders.x.connections": 2}
    many = [case("many", vary={**more, "servers.many.workers": n}) for n in (1, 2)]
    others = case("one", vary=few), case("one", vary=more)
    cases = levels.by_key(
        result(*others, case("two", vary={**more, "servers.two.workers": 3}), *many)
    )
    two = next(value.case for value in cases.values() if value.case.server == "two")
    actual = levels.reference_of(two, "one", cases)
    assert actual is not None
    assert actual.case.vary == {"loaders.x.connections": 2}
    assert levels.reference_of(two, "many", cases) is None


def test_a_step_is_told_between_two_results_and_never_across_a_break() -> None:
    days = [(n, 10.0 + n % 3, (1.1 if n >= 15 else 1.0) * OWN[n % 6]) for n in range(30)]
    everything = [day(n, machine, machine * mine) for n, machine, mine in days]
    (_, two) = courses(everything, (), "one")
    assert [(item.before, item.after) for item in two.changed] == [(14, 15)]
    assert two.changed[0].step.ratio == pytest.approx(1.1, rel=0.01)
    (_, two) = courses(everything, (15,), "one")
    assert (two.changed, two.why) == ((), ("15 results have a ratio: changes take 20",))
    (_, two) = courses(everything, (), None)
    assert two.why == ("changes are looked for in the ratio to a reference",)


# Response times that are not to be believed, of trials that are


def times(summary: Summary, server: str, *trials: int) -> Summary:
    """Return a summary of 99th percentiles; too few responses are beyond some of the server's."""
    few = check("S2", "apparatus", name="", invalidates="latency")
    metric = {"measurand": "response time", "of": "p99"}

    def timed(item: CaseSummary) -> CaseSummary:
        update: dict[str, Any] = {"believed": item.trials}
        update["metrics"] = tuple(row.model_copy(update=metric) for row in item.metrics)
        update["latency_doubted"] = doubts(few, *trials) if item.case.server == server else ()
        return item.model_copy(update=update)

    return summary.model_copy(update={"cases": tuple(map(timed, summary.cases))})


@pytest.mark.parametrize("server", ["one", "two"])
def test_response_times_that_are_not_believed_decide_nothing(server: str) -> None:
    known_values = [times(item, "none") for item in past("lower")]
    slower = day(9, 20.0, 30.0, "lower")
    assert answer(times(slower, "none"), known_values).answer == "worse"
    row = answer(times(slower, server, 1, 2, 3), known_values)
    assert row.answer == "no model"
    assert levels.NO_TIMES in row.change.change.why


def test_what_is_left_of_response_times_is_compared() -> None:
    new = times(day(9, 20.0, 30.0, "lower"), "two", 1)
    known_values = [times(item, "none") for item in past("lower")]
    row = answer(new, known_values)
    assert (row.answer, row.new.n) == ("worse", 2)


def test_a_past_whose_response_times_are_not_believed_is_no_model() -> None:
    known_values = [times(item, "two", 1, 2, 3) for item in past("lower")]
    new = times(day(9, 20.0, 30.0, "lower"), "none")
    assert answer(new, known_values).answer == "no model"
    series = courses([*known_values, new], (), "one")
    (course,) = [course for course in series if course.case.server == "two"]
    assert {point.value.why for point in course.points[:-1]} == {f"{levels.NO_TIMES}: S2"}


SESSIONS = st.lists(
    st.tuples(st.floats(90, 110), st.floats(45, 55)), min_size=5, max_size=20, unique=True
)


@given(SESSIONS, st.floats(50, 150), st.sampled_from(["higher", "lower"]))
def test_the_naive_prediction(past: list[tuple[float, float]], new: float, better: str) -> None:
    zs = [math.log(value / reference) for value, reference in past]
    if statistics.stdev(zs) < 1e-9:
        return
    m = len(zs)
    half = t_quantile(0.975, m - 1) * statistics.stdev(zs) * math.sqrt(1 + 1 / m)
    effect = math.log(new / 50) - statistics.mean(zs)
    got = predicted(past, (new, 50), better="higher" if better == "higher" else "lower")
    assert got.change.value == pytest.approx(math.exp(effect))
    assert got.change.interval == pytest.approx((math.exp(effect - half), math.exp(effect + half)))
    if abs(effect) <= half or abs(effect) <= math.log(1.03):
        assert got.state == "not shown"
    else:
        assert got.state == ("better" if (effect > 0) == (better == "higher") else "worse")


PAST = [(100.0, 50.0), (101.0, 50.4), (99.0, 49.4), (100.5, 50.3), (99.6, 49.9)]


def test_a_bad_day_of_the_machine_is_no_change() -> None:
    assert predicted(PAST, (90.0, 45.0)).state == "not shown"
    assert predicted(PAST, (90.0, 50.0)).state == "worse"
    assert predicted(PAST, (90.0, 50.0), better="lower").state == "better"
    assert predicted(PAST, (110.0, 50.0)).state == "better"


def test_a_small_change_is_not_told() -> None:
    new = (97.8, 50.0)
    assert predicted(PAST, new).state == "not shown"
    assert predicted(PAST, new, least=0.01).state == "worse"


@pytest.mark.parametrize(
    ("past", "new", "reason"),
    [
        ([], (1.0, 1.0), "0 past sessions: a prediction takes 5"),
        (PAST[:1], (1.0, 1.0), "1 past session: a prediction takes 5"),
        (PAST[:4], (50.0, 50.0), "4 past sessions: a prediction takes 5"),
        ([(2.0, 1.0)] * 6, (3.0, 1.0), "all 6 are equal: how they spread is not known"),
        (PAST, (0.0, 50.0), "a value is not above 0: it has no ratio to the reference"),
        ([*PAST, (1.0, -1.0)], (50.0, 5.0), "a value is not above 0: it has no ratio"),
    ],
)
def test_what_is_no_model(
    past: list[tuple[float, float]], new: tuple[float, float], reason: str
) -> None:
    got = predicted(past, new)
    assert got.state == "no model"
    assert got.change.interval is None
    assert reason in got.change.why


@pytest.mark.parametrize("wrong", [math.nan, math.inf])
def test_what_is_no_number_is_refused(wrong: float) -> None:
    with pytest.raises(ValueError, match="not finite"):
        predicted(PAST, (wrong, 1.0))
    with pytest.raises(ValueError, match="not finite"):
        predicted([*PAST, (1.0, wrong)], (1.0, 1.0))
    with pytest.raises(ValueError, match="least change"):
        predicted(PAST, (1.0, 1.0), least=wrong)
    with pytest.raises(ValueError, match="least change"):
        predicted(PAST, (1.0, 1.0), least=-1)
