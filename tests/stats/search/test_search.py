"""The search for a rate: where it goes, that it ends, and what trials give to it."""

import math
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made.quiet_trial import LIMITS, reading
from made.quiet_trial import trial as quiet_trial
from made.simulate import search, searched, tried
from present import present

from benchforge.checks import ask
from benchforge.errors import InvalidFile
from benchforge.model.suite.search import Objective, RateSearch, SearchOutcome, SearchTrial
from benchforge.model.trial.answers.answer import Request
from benchforge.model.trial.check import Check
from benchforge.model.trial.histogram import Histogram
from benchforge.model.trial.reading import Load, Schedule
from benchforge.model.trial.stream import Stream, StreamKind
from benchforge.model.trial.trial import Failure, Trial
from benchforge.parts.part import Metric
from benchforge.parts.registry import Registry
from benchforge.stats.search.objective import judged
from benchforge.stats.search.search import Next, capacity_of, next_rate, sustained, where
from benchforge.stats.summary.case import of_search
from benchforge.suite.scenarios.search import objective
from benchforge.suite.toml.bound import NoBound


def sharp(find: RateSearch, start: float, limit: float) -> list[SearchTrial]:
    """Search a server that passes below its limit and fails above it."""
    attempts: list[SearchTrial] = []
    while (rate := next_rate(find, start, attempts).rate) is not None:
        attempts.append(tried(rate, passed=rate <= limit))
    return attempts


@given(st.floats(1, 1e5), st.floats(20, 9e4), st.integers(1, 40))
def test_a_search_ends_near_the_limit(start: float, limit: float, steps: int) -> None:
    find = search(1, 1e5, steps)
    attempts = sharp(find, start, limit)
    assert next_rate(find, start, attempts) == Next("done", None)
    assert len(attempts) <= steps + 17 + 5
    assert math.log(attempts[-1].rate / limit) == pytest.approx(0, abs=0.065)


def test_the_phases_of_a_search() -> None:
    find = search(10, 10_000, 4)
    attempts = sharp(find, 100, 700)
    phases = [next_rate(find, 100, attempts[:n]).phase for n in range(len(attempts) + 1)]
    assert phases == ["bracket"] * 4 + ["bisect"] * 4 + ["staircase"] * 4 + ["done"]
    assert [round(attempt.rate) for attempt in attempts[:5]] == [100, 200, 400, 800, 566]
    upper, below = attempts[-2:]
    assert max(upper.rate / below.rate, below.rate / upper.rate) == pytest.approx(1.03)


@pytest.mark.parametrize(("limit", "phase", "last"), [(5, "too low", 10), (1e6, "too high", 1000)])
def test_a_limit_outside_of_what_can_be_tried(limit: float, phase: str, last: float) -> None:
    find = search(10, 1000)
    attempts = sharp(find, 100, limit)
    assert next_rate(find, 100, attempts).phase == phase
    assert attempts[-1].rate == last
    assert sustained(attempts).rate.why == f"every trial {'passed' if limit > 10 else 'failed'}"


@given(st.lists(st.booleans(), max_size=60), st.floats(10, 1000))
def test_whatever_happens_rates_stay_within_bounds(answers: list[bool], start: float) -> None:
    find = search(10, 1000)
    attempts: list[SearchTrial] = []
    for passed in answers:
        rate = next_rate(find, start, attempts).rate
        if rate is None:
            break
        assert 10 <= rate <= 1000
        attempts.append(tried(rate, passed=passed))


def test_an_attempt_that_nobody_asked_for_is_refused() -> None:
    find = search(10, 1000, 1)
    done = sharp(find, 100, 300)
    for attempts, rate in (([tried(101, passed=True)], "100"), ([*done, done[-1]], "nothing")):
        with pytest.raises(ValueError, match=f"was tried, {rate} was asked for"):
            next_rate(find, 100, attempts)


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.floats(0.01, 1e4))
def test_the_unit_of_the_rate_does_not_count(seed: int, by: float) -> None:
    attempts = searched(Random(seed), 1000, 0.025)
    item = sustained(attempts)
    scaled = [tried(attempt.rate * by, passed=attempt.passed) for attempt in attempts]
    other = sustained(scaled)
    assert other.rate.value == pytest.approx(present(item.rate.value) * by, rel=0.003)
    assert other.safe == pytest.approx(present(item.safe) * by, rel=0.003)
    assert sustained(attempts[::-1]) == item


def test_the_posterior_is_the_naive_one() -> None:
    attempts = searched(Random(4), 1000, 0.025)
    points = []
    for middle in (math.log(1000) + k / 2000 for k in range(-400, 401)):
        for z in (k / 10 for k in range(-30, 31)):
            width = 0.025 * math.exp(z / 2)
            weight = math.exp(-z * z / 2)
            for each in attempts:
                passing = 1 / (1 + math.exp((math.log(each.rate) - middle) / width))
                weight *= passing if each.passed else 1 - passing
            points.append((middle, weight))
    total = sum(weight for _, weight in points)

    def naive(share: float) -> float:
        below = 0.0
        for middle, weight in points:
            below += weight / total
            if below >= share:
                return math.exp(middle)
        raise AssertionError

    got = sustained(attempts).rate
    assert got.value == pytest.approx(naive(0.5), rel=0.002)
    assert got.interval == pytest.approx((naive(0.025), naive(0.975)), rel=0.003)


def test_a_passage_that_is_wide_is_told() -> None:
    narrow = [tried(rate, passed=rate < 1000) for rate in range(900, 1100, 10)]
    wide = [tried(rate, passed=rate % 3 > 0) for rate in range(500, 1500, 25)]
    for attempts, upper, below in ((narrow, 0, 0.025), (wide, 0.05, 1)):
        got = sustained(attempts)
        assert upper < present(got.width) < below
        assert present(got.safe) < (got.rate.value or 0)


def test_without_any_trial_there_is_no_rate() -> None:
    got = sustained([])
    assert (got.rate.value, got.rate.why, got.safe) == (None, "there was no trial", None)


OBJECTIVE = Objective(
    text="latency p99 < 50ms", metric="latency", of="p99", relation="<", bound=0.05
)
FIND = RateSearch(lowest=100, highest=3200, steps=4, objectives=(OBJECTIVE,))
DRIVER = "closed"
CASE = quiet_trial().case.model_copy(update={"driver": DRIVER})


def metric(name: str) -> Metric:
    part = Registry().part("metric", name)()
    assert isinstance(part, Metric)
    return part


METRICS = {"latency": metric("latency")}


def good(number: int, responses: int | None = None) -> dict[str, Any]:
    """Return the counts of a reading."""
    fields = {"good_at_least": number, "good_at_most": number}
    return fields | {"responses": number if responses is None else responses}


def trial(rate: float = 1000, seconds: float = 10, **changed: Any) -> Trial:
    """A trial at a rate that was kept, each answer after 2 ms; `changed` is of its reading."""
    due = round(rate * seconds)
    times = {"lateness": Histogram.of({10: due}), "queueing": Histogram.of({})}
    schedule = Schedule(rate=rate, intended=due, sent=due, **times)
    fields: dict[str, Any] = {"seconds": seconds, "schedule": schedule, **good(due)}
    fields["latency"] = Histogram.of({2000: due})
    load = Load(connections=500, concurrency=500, declared_s=seconds, rate=rate)
    item = quiet_trial(reading=reading(**fields | changed), load=load)
    return item.model_copy(update={"checks": ask.of_trial(item, LIMITS)})


def sought(trial: Trial, *, smoke: bool = False, find: RateSearch = FIND) -> SearchOutcome:
    return present(judged(trial, {"s": find}, METRICS, smoke=smoke))


def test_a_trial_that_keeps_all_passes() -> None:
    capacity = sought(trial())
    assert (capacity.passed, capacity.why) == (True, "")
    assert (capacity.transient, capacity.rate) == (False, 1000)
    values = {outcome.objective: outcome.value for outcome in capacity.outcomes}
    objectives = {"rate answered >= 99%": 1, "errors < 0.1%": 0, "latency p99 < 50ms": 0.002}
    assert list(values.items()) == list(objectives.items())
    assert judged(quiet_trial(), {"s": FIND}, METRICS, smoke=False) is None  # a closed loop


LATE = Schedule(rate=1000, intended=10_000, sent=10_000, lateness=Histogram.of({300: 10_000}))
UNTOLD = LATE.model_copy(update={"lateness": None})
# 40 ms at 1000/s: 40 are always under way, of 1000 that were due in a second.
UNDER_WAY = {"latency": Histogram.of({40_000: 960}), "in_flight": Histogram.of({20_000: 40})}
# As many in flight after answers of 2 ms are a queue.
QUEUE = {"latency": Histogram.of({2_000: 960}), "in_flight": Histogram.of({9: 40})}


@pytest.mark.parametrize(
    ("changed", "passed", "reason"),
    [
        ({"latency": Histogram.of({60_000: 10_000})}, False, "latency p99 < 50ms: 60 ms"),
        (good(9_980, 10_000), False, "errors < 0.1%: 0.2 %"),
        (good(9_700), False, "rate answered >= 99%: 97.01 %"),
        ({"seconds": 1} | good(960) | UNDER_WAY, True, ""),
        ({"seconds": 1} | good(960) | QUEUE, False, "rate answered >= 99%: 96.3 %"),
        (
            {"rate": 100, "seconds": 5},
            None,
            "latency p99 < 50ms: only 500 responses: p99 needs 1000",
        ),
        ({"schedule": LATE}, True, ""),  # kept with the tool's lateness, so also without it
        ({"schedule": UNTOLD}, None, "not believed: L4 rate-achieved"),
    ],
)
def test_all_objectives_decide(changed: dict[str, Any], passed: bool | None, reason: str) -> None:
    """One that is missed is enough; what is under way counts as answered, and a queue does not."""
    capacity = sought(trial(**changed))
    tried_again = reason.startswith("not believed")
    assert (capacity.passed, capacity.why, capacity.transient) == (passed, reason, tried_again)


def test_a_percentile_that_is_only_a_lower_bound_does_not_pass() -> None:
    """Two in a hundred were given up after 10 ms: p99 is that or more, which may be 50 ms."""
    given_up = good(9_800) | {"latency": Histogram.of({2_000: 9_800}), "unanswered": 200}
    given_up |= {"censored": 200, "censored_from_us": 10_000}
    find = FIND.model_copy(update={"errors_below": None})
    capacity = sought(trial(**given_up), find=find)
    assert capacity.passed is None
    assert capacity.why == "latency p99 < 50ms: only known to be 10 ms or more"
    assert sought(trial(**given_up | {"censored_from_us": 90_000}), find=find).passed is False


def test_a_tool_that_was_late_says_nothing_of_a_bound_that_is_missed_and_is_tried_again() -> None:
    later = LATE.model_copy(update={"lateness": Histogram.of({20_000: 10_000})})
    item = trial(latency=Histogram.of({60_000: 10_000}), schedule=later)
    capacity = sought(item)
    assert (capacity.passed, capacity.transient) == (None, True)
    assert capacity.why == "not believed: L4 rate-achieved"
    assert item.model_copy(update={"search_outcome": capacity}).worth_repeating
    assert sought(item, smoke=True).passed is False


def noisy(number: int, rate: float, *, slow: bool = False) -> Trial:
    """A trial of its own round beside other processes; a slow one misses its bound."""
    latency = Histogram.of({60_000 if slow else 2_000: 10 * round(rate)})
    item = trial(rate, latency=latency)
    fields = {"id": "N1", "name": "foreign-cpu", "topic": "others", "scope": "trial"}
    fields |= {"message": "others used 90 %", "status": "fail", "subject": "apparatus"}
    loud = fields | {"value": 0.9, "threshold": "", "source": "", "transient": True}
    item = item.model_copy(update={"checks": (*item.checks, Check.model_validate(loud))})
    update = {"number": number, "block": number, "case": CASE, "search_outcome": sought(item)}
    return item.model_copy(update=update)


def test_a_disturbed_trial_that_kept_its_bound_proves_at_least_its_rate() -> None:
    """The search goes on from it until a rate fails; one that missed its bound says nothing."""
    trials = [noisy(1, 100), noisy(2, 200)]
    assert [present(trial.search_outcome).at_least for trial in trials] == [True] * 2
    assert where(FIND, CASE, trials).rate == 400
    trials += [noisy(number, 400, slow=True) for number in (3, 4, 5, 6)]
    actual = capacity_of(FIND, CASE, trials)
    assert (actual.phase, actual.highest_passed, actual.rate.value) == ("unanswered", 200, None)
    assert actual.message.startswith("at least 200/s: trials that say nothing of the server: not")
    quiet = trial(400, latency=Histogram.of({60_000: 4000}))
    update = {"number": 3, "block": 3, "case": CASE, "search_outcome": sought(quiet)}
    trials = [*trials[:2], quiet.model_copy(update=update)]
    asked_rate = present(where(FIND, CASE, trials).rate)
    trials.append(noisy(4, asked_rate))
    assert where(FIND, CASE, trials).rate == asked_rate  # after a failure it does not count


@pytest.mark.parametrize(
    ("stage", "about", "passed"),
    [
        ("drive", "behaviour", False),
        ("read", "behaviour", False),
        ("start", "behaviour", None),
        ("read", "apparatus", None),
    ],
)
def test_a_failing_server_misses_the_rate(stage: str, about: Any, passed: bool | None) -> None:
    failure = Failure(stage=stage, message="flask: gone", subject=about)
    capacity = sought(trial().model_copy(update={"failure": failure, "reading": None}))
    assert capacity.passed is passed
    assert "flask: gone" in capacity.why


def said(rate: float, passed: bool | None, block: int, attempt: int = 1) -> Trial:
    """A trial that gave this to its search."""
    text = "" if passed else "p99 is late" if passed is False else "not believed: N1"
    fields: dict[str, Any] = {"number": block * 10 + attempt, "block": block, "attempt": attempt}
    fields["search_outcome"] = SearchOutcome(rate=rate, passed=passed, why=text)
    return quiet_trial().model_copy(update=fields)


def walked(answers: list[bool | None], find: RateSearch = FIND) -> list[Trial]:
    """Return the trials of a search that is answered so."""
    trials: list[Trial] = []
    for block, passed in enumerate(answers, 1):
        rate = where(find, CASE, trials).rate
        if rate is None:
            break
        trials.append(said(rate, passed, block))
    return trials


@settings(max_examples=40)
@given(st.lists(st.booleans(), min_size=60, max_size=60), st.integers(1, 40), st.floats(100, 3200))
def test_no_search_takes_more_than_its_plan(answers: list[bool], steps: int, start: float) -> None:
    find = FIND.model_copy(update={"steps": steps, "first_rates": {DRIVER: start}})
    trials = walked([*answers], find)
    assert where(find, CASE, []).rate == start, "it begins at the tool's own rate"
    if len(trials) < len(answers):
        assert len(trials) <= find.rounds
        assert where(find, CASE, trials).phase in {"done", "too low", "too high"}


@settings(max_examples=40)
@given(st.lists(st.sampled_from([True, False, None]), max_size=40))
def test_what_says_nothing_is_no_attempt(answers: list[bool | None]) -> None:
    trials = walked(answers)
    actual = capacity_of(FIND, CASE, trials)
    answered = [item for item in trials if present(item.search_outcome).passed is not None]
    assert [attempt.trial for attempt in actual.attempts] == [item.number for item in answered]
    if actual.phase != "unanswered":
        assert where(FIND, CASE, answered) == where(FIND, CASE, trials)
    passed = [attempt.rate for attempt in actual.attempts if attempt.passed]
    assert actual.highest_passed == max(passed, default=None)
    assert capacity_of(FIND, CASE, trials[::-1]) == actual, "their order does not count"
    assert where(FIND, CASE, trials[::-1]) == where(FIND, CASE, trials)


def test_two_rounds_that_say_nothing_end_a_search() -> None:
    trials = walked([True, None, True, None, None])
    actual = capacity_of(FIND, CASE, trials)
    assert [attempt.rate for attempt in actual.attempts] == [100, 200]
    assert (actual.phase, actual.rate.value, actual.highest_passed) == ("unanswered", None, 200)
    says = "at least 200/s: trials that say nothing of the server: not believed: N1"
    assert actual.message == says
    assert not actual.answered


def test_a_round_that_may_be_tried_again_is_not_in_vain_yet() -> None:
    again = SearchOutcome(rate=100, passed=None, why="late", transient=True)
    rounds = [said(100, None, n).model_copy(update={"search_outcome": again}) for n in range(1, 5)]
    assert where(FIND, CASE, rounds).rate == 100
    last = [trial.model_copy(update={"attempt": 3}) for trial in rounds]
    assert where(FIND, CASE, last[:3]).rate == 100
    assert where(FIND, CASE, last).phase == "unanswered"


def test_a_trial_at_a_rate_that_nobody_asked_for_is_refused() -> None:
    with pytest.raises(InvalidFile, match=r"150\.0 was tried, 100\.0 was asked for"):
        where(FIND, CASE, [said(150, True, 1)])


def test_most_trials_of_a_search() -> None:
    for highest, steps, rounds in ((3200, 4, 5 + 4), (20_000, 20, 8 + 20), (101, 1, 1 + 1)):
        find = RateSearch(lowest=100, highest=highest, steps=steps, objectives=(OBJECTIVE,))
        assert find.rounds == 1 + 4 + rounds


def test_a_search_that_is_none_is_refused() -> None:
    wrong: list[dict[str, Any]] = [{"lowest": 3200}, {"highest": 100}, {"first_rates": {"x": 50}}]
    for changed in (*wrong, {"lowest": math.inf}, {"steps": 0}):
        with pytest.raises(ValueError, match=r"no rates|greater|finite"):
            RateSearch.model_validate(FIND.model_dump() | changed)


@given(st.text(max_size=40) | st.from_regex(r"latency p?[0-9.]* ?[<>]=? ?[0-9.]+ ?[a-z%/]*"))
def test_any_text_is_an_objective_or_is_refused(text: str) -> None:
    try:
        actual = objective(text, METRICS)
    except NoBound:
        return
    assert actual.relation in {"<", "<="}
    assert math.isfinite(actual.bound)
    assert objective(actual.text, METRICS) == actual


def test_an_objective_may_be_about_a_kind_and_has_a_finite_bound() -> None:
    of_kind = objective("latency p99 slow < 50ms", METRICS, ["slow", "item"])
    assert (of_kind.of, of_kind.kind) == ("p99", "slow")
    full = objective("errors slow < 1%", {"errors": metric("error_rate")}, ["slow"])
    assert (full.of, full.kind) == (None, "slow")
    with pytest.raises(NoBound, match="has no 'p99 slow'"):
        objective("latency p99 slow < 50ms", METRICS)
    with pytest.raises(NoBound, match="of all kinds together"):
        objective("cpu server slow < 5ms", {"cpu": metric("cpu")}, ["slow"])
    with pytest.raises(NoBound, match="beyond all numbers"):
        objective(f"it < {'9' * 400}", {"it": metric("error_rate")})


def stream_of(*labels: str) -> Stream:
    kind = StreamKind(share=1, records=4, request=Request(path="/"))
    return Stream(records=9, sha256="", kinds=dict.fromkeys(labels, kind))


def test_a_kind_that_the_tool_does_not_tell_says_nothing() -> None:
    about = objective("latency p99 slow < 50ms", METRICS, ["item", "slow"])
    untold = trial().model_copy(update={"stream": stream_of("item", "slow")})
    find = FIND.model_copy(update={"objectives": (about,)})
    assert sought(untold, find=find).passed is None


def test_the_kinds_of_a_search_are_those_of_trials_that_passed_near_the_rate() -> None:
    items = present(trial().reading)
    stream = stream_of("item")
    update = {"reading": items.model_copy(update={"kinds": {"item": items}}), "stream": stream}
    walk = walked([True, True, False, True, False, True, False])
    trials = [item.model_copy(update=update) for item in walk]
    case = of_search(CASE, trials, len(trials), METRICS, FIND)
    assert case.capacity is not None
    rates = {attempt.trial: attempt.rate for attempt in case.capacity.attempts if attempt.passed}
    (line, *_) = case.kinds["item"]
    used = {sample.trial for sample in line.samples}
    least = 0.9 * (case.capacity.rate.value or 0.0)
    assert used == {number for number, rate in rates.items() if rate >= least}
    assert 0 < len(used) < len(rates)
    (failed,) = walked([False])
    none = of_search(CASE, [failed.model_copy(update={"stream": stream})], 1, METRICS, FIND)
    assert none.kinds == {}


@pytest.mark.parametrize(
    ("name", "text", "bound"),
    [
        ("latency", "it p99 < 50ms", 0.05),
        ("latency", "it  p99<= 2s", 2),
        ("error_rate", "it < 0.1%", 0.001),
        ("error_rate", "it < 0.01", 0.01),
        ("throughput", "it > 2k/s", 2000),
        ("throughput", "it >= 900", 900),
        ("memory", "it server < 64MiB", 2**26),
        ("transfer", "it > 5B/s", 5),
    ],
)
def test_a_bound_is_in_the_unit_of_its_metric(name: str, text: str, bound: float) -> None:
    part = metric(name)
    actual = objective(text, {"it": part})
    assert actual.bound == pytest.approx(bound)
    assert actual.keeps(bound) is ("=" in text)
    assert actual.keeps(bound * 2) is (part.better == "higher")
