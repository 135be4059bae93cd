"""A new result against older ones, from summaries made by hand."""

from collections.abc import Sequence
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made.plain import NOON
from made.shown import case, line, result

from benchforge.model.summary.summary import CaseSummary, DoubtedTrial, MetricSummary, Summary
from benchforge.model.trial.check import Check
from benchforge.results.over_time.compared import IS_REFERENCE, MetricChange, compared
from benchforge.results.over_time.levels import (
    NO_TIMES,
    NO_TRIAL,
    by_key,
    level,
    lines,
    reference_of,
)
from benchforge.results.over_time.series import courses

OWN = (1.0, 1.004, 0.995, 1.003, 0.998, 1.001)


def day(number: int, one: float, two: float, better: str = "higher") -> Summary:
    """Two servers with 3 blocks each, one hundredth apart."""
    blocks = (0.99, 1.0, 1.01)
    known = [line("speed", "x", *(value * by for by in blocks)) for value in (one, two)]
    mine = [one.model_copy(update={"better": better}) for one in known]
    both = [case(name, own) for name, own in zip(("one", "two"), mine, strict=True)]
    return result(*both).model_copy(update={"created": NOON + timedelta(days=number)})


def past(better: str = "higher") -> list[Summary]:
    return [day(at, 10.0 + at, (10.0 + at) * own, better) for at, own in enumerate(OWN)]


def of(rows: Sequence[MetricChange], server: str) -> MetricChange:
    (one,) = [row for row in rows if row.case.server == server]
    return one


@pytest.mark.parametrize(
    ("two", "better", "answer"),
    [
        (20.0, "higher", "not shown"),
        (18.0, "higher", "worse"),
        (18.0, "lower", "better"),
        (22.0, "higher", "better"),
        (22.0, "lower", "worse"),
        (19.5, "higher", "not shown"),  # 2.5 % less: beyond the interval, below what is told
    ],
)
def test_the_direction_is_that_of_the_metric(two: float, better: str, answer: str) -> None:
    rows = list(compared(day(9, 20.0, two, better), past(better), "one", 0.03))
    assert of(rows, "two").answer == answer
    assert of(rows, "one").change.change.why == IS_REFERENCE


@given(st.floats(0.01, 100), st.floats(0.5, 2))
def test_a_good_day_of_the_machine_changes_nothing(machine: float, own: float) -> None:
    there = of(list(compared(day(9, 20.0, 20.0 * own), past(), "one", 0.03)), "two")
    other = day(9, 20.0 * machine, 20.0 * own * machine)
    elsewhere = of(list(compared(other, past(), "one", 0.03)), "two")
    assert elsewhere.change.change.value == pytest.approx(there.change.change.value)
    if abs(own - 1) > 0.05:
        assert elsewhere.answer == there.answer == ("better" if own > 1 else "worse")


@pytest.mark.parametrize(
    ("known", "reference", "why"),
    [
        (past(), None, "no reference server was named"),
        (past()[:4], "one", "4 past sessions: a prediction takes 5"),
        (past(), "three", "three was not measured beside it"),
    ],
)
def test_no_model_no_sentence(known: list[Summary], reference: str | None, why: str) -> None:
    row = of(list(compared(day(9, 20, 2), known, reference, 0.03)), "two")
    assert row.answer == "no model"
    assert why in row.change.change.why
    assert row.ratio is not None


def doubted(one: CaseSummary, *trials: int) -> CaseSummary:
    check = Check(id="N1", scope="trial", subject="apparatus", status="fail", message="no")
    doubts = tuple(
        DoubtedTrial(trial=number, block=number, attempt=1, checks=(check,), used=True)
        for number in trials
    )
    return one.model_copy(update={"doubted": doubts, "believed": one.trials - len(trials)})


def only(one: CaseSummary) -> tuple[CaseSummary, MetricSummary]:
    return one, lines(one)[next(iter(lines(one)))]


def test_what_is_not_believed_does_not_count() -> None:
    known = case("one", line("speed", "x", 10, 20, 1000))
    assert level(*only(doubted(known, 3))).value == pytest.approx(200**0.5)
    assert level(*only(doubted(known, 1, 2, 3))).why == f"{NO_TRIAL}: N1"
    new = result(
        case("one", line("speed", "x", 1)), doubted(case("two", known.metrics[0]), 1, 2, 3)
    )
    assert of(list(compared(new, past(), None, 0.03)), "two").answer == "not believed"


def test_what_is_no_number_is_none_and_what_is_zero_is_zero() -> None:
    unknown = level(*only(case("one", line("p99", "s", 1, why="too few"))))
    assert (unknown.value, unknown.why) == (None, "too few")
    bound = level(*only(case("one", line("p99", "s", 1, 2, at_least=True))))
    assert (bound.value, bound.why) == (None, "a value is only a lower bound")
    nothing = level(*only(case("one", line("errors", "1", 0, 0, 0))))
    assert (nothing.value, nothing.low) == (0.0, None)
    empty = level(*only(case("one", line("rate", "1/s", why="no trial has a value"))))
    assert (empty.value, empty.why) == (None, "no trial has a value")


def test_a_reference_is_one_case_where_another_is_compared() -> None:
    cases = by_key(
        result(
            case("one", vary={"loaders.x.connections": 1}),
            case("one", vary={"loaders.x.connections": 2}),
            case("two", vary={"loaders.x.connections": 2, "servers.two.workers": 3}),
            case("many", vary={"loaders.x.connections": 2, "servers.many.workers": 1}),
            case("many", vary={"loaders.x.connections": 2, "servers.many.workers": 2}),
        )
    )
    two = next(one.case for one in cases.values() if one.case.server == "two")
    found = reference_of(two, "one", cases)
    assert found is not None
    assert found.case.vary == {"loaders.x.connections": 2}
    assert reference_of(two, "many", cases) is None


# Over time


def test_a_step_is_told_between_two_results_and_never_across_a_break() -> None:
    every = [
        day(at, 10.0 + at % 3, (10.0 + at % 3) * (1.1 if at >= 15 else 1.0) * OWN[at % 6])
        for at in range(30)
    ]
    (_, two) = courses(every, (), "one")
    assert [(one.before, one.after) for one in two.changed] == [(14, 15)]
    assert two.changed[0].step.ratio == pytest.approx(1.1, rel=0.01)
    (_, two) = courses(every, (15,), "one")
    assert (two.changed, two.why) == ((), ("15 results have a ratio: changes take 20",))
    (_, two) = courses(every, (), None)
    assert two.why == ("changes are looked for in the ratio to a reference",)


# Response times that are not to be believed, of trials that are


def times(summary: Summary, server: str, *trials: int) -> Summary:
    """Return a summary of 99th percentiles; too few responses are beyond some of the server's."""
    few = Check(
        id="S2",
        scope="trial",
        subject="apparatus",
        status="fail",
        message="few",
        invalidates="latency",
    )
    few = few.model_copy(update={"of": "p99"})
    doubts = tuple(
        DoubtedTrial(trial=number, block=number, attempt=1, checks=(few,), used=True)
        for number in trials
    )
    cases = tuple(
        one.model_copy(
            update={
                "metrics": tuple(
                    line_.model_copy(update={"measurand": "response time", "of": "p99"})
                    for line_ in one.metrics
                ),
                "latency_doubted": doubts if one.case.server == server else (),
                "believed": one.trials,
            }
        )
        for one in summary.cases
    )
    return summary.model_copy(update={"cases": cases})


@pytest.mark.parametrize("server", ["one", "two"])
def test_response_times_that_are_not_believed_decide_nothing(server: str) -> None:
    known = [times(one, "none") for one in past("lower")]
    slower = day(9, 20.0, 30.0, "lower")
    assert of(list(compared(times(slower, "none"), known, "one", 0.03)), "two").answer == "worse"
    row = of(list(compared(times(slower, server, 1, 2, 3), known, "one", 0.03)), "two")
    assert row.answer == "no model"
    assert NO_TIMES in row.change.change.why


def test_what_is_left_of_response_times_is_compared() -> None:
    new = times(day(9, 20.0, 30.0, "lower"), "two", 1)
    known = [times(one, "none") for one in past("lower")]
    row = of(list(compared(new, known, "one", 0.03)), "two")
    assert (row.answer, row.new.n) == ("worse", 2)


def test_a_past_whose_response_times_are_not_believed_is_no_model() -> None:
    known = [times(one, "two", 1, 2, 3) for one in past("lower")]
    new = times(day(9, 20.0, 30.0, "lower"), "none")
    assert of(list(compared(new, known, "one", 0.03)), "two").answer == "no model"
    (course,) = [one for one in courses([*known, new], (), "one") if one.case.server == "two"]
    assert [point.value.why for point in course.points[:-1]] == [f"{NO_TIMES}: S2"] * len(known)
