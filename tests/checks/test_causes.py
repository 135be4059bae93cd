"""Which finding follows from which: each stands below exactly one cause, and none is lost."""

from collections import Counter
from graphlib import TopologicalSorter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from made import plain
from made.quiet_trial import trial as quiet_trial

from benchforge.checks.causes import audience, root, spoken, with_causes
from benchforge.checks.limits import Limit, Thresholds, limits
from benchforge.model.summary.cause import Cause
from benchforge.model.summary.summary import DoubtedTrial, Summary
from benchforge.model.trial.check import Check
from benchforge.model.trial.trial import Trial

LIMITS = limits()
IDS = sorted({id_.partition(".")[0] for id_ in LIMITS.by_id} | {"X1"})


def check(id_: str, status: str = "warn", **changed: Any) -> Check:
    fields = {"scope": "trial", "subject": "apparatus", "message": f"{id_} speaks"}
    return Check.model_validate({"id": id_, "status": status} | fields | changed)


CHECKS = st.lists(
    st.builds(
        check,
        st.sampled_from(IDS),
        st.sampled_from(["pass", "warn", "fail", "unknown"]),
        subject=st.sampled_from(["behaviour", "apparatus"]),
        because=st.sampled_from(["", "", "", "N1", "P1", "X2"]),
        value=st.none() | st.floats(0, 10),
    ),
    max_size=8,
)


def measured(number: int, checks: list[Check]) -> Trial:
    name = plain.named("flask")
    return quiet_trial(number=number, block=number, case=name, checks=tuple(checks))


def summary(trials: list[Trial], of_result: list[Check], aside: set[int]) -> Summary:
    doubted = tuple(
        DoubtedTrial(trial=one.number, block=1, attempt=1, checks=(), used=one.number not in aside)
        for one in trials
    )
    case = plain.case(plain.named("flask"), doubted=doubted)
    return plain.summary(case).model_copy(update={"checks": tuple(of_result)})


def causes(trials: list[Trial], of_result: list[Check], aside: set[int]) -> tuple[Cause, ...]:
    return with_causes(summary(trials, of_result, aside), trials, LIMITS).causes


def test_the_possible_causes_are_checks_and_no_check_explains_itself() -> None:
    of_ids = {id_: limit.causes for id_, limit in LIMITS.by_id.items()}
    assert {cause for of in of_ids.values() for cause in of} <= LIMITS.by_id.keys()
    TopologicalSorter({id_: of for id_, of in of_ids.items() if "." not in id_}).prepare()


@given(st.lists(CHECKS, max_size=4), CHECKS, st.sets(st.integers(1, 4)))
def test_each_finding_is_in_exactly_one_cause_and_an_invalid_one_is_in_none_that_is_less(
    of_trials: list[list[Check]], of_result: list[Check], aside: set[int]
) -> None:
    trials = [measured(number, checks) for number, checks in enumerate(of_trials, 1)]
    found = causes(trials, of_result, aside)
    there = Counter(
        (one.id, one.status)
        for one in (*of_result, *(one for trial in trials for one in trial.checks))
        if one.status != "pass"
    )
    folded: Counter[tuple[str, str]] = Counter()
    for cause in found:
        assert cause.count == sum(one.count for one in cause.findings)
        for finding in cause.findings:
            folded[finding.check.id, finding.check.status] += finding.count
    assert folded == there
    used = [one for one in trials if one.number not in aside]
    for trial in used:
        for one in trial.checks:
            if audience(one, LIMITS) == "invalid":
                of = root(one, spoken(trial.checks), LIMITS)
                (cause,) = [each for each in found if (each.id, each.state) == (of, "open")]
                assert cause.audience == "invalid"


@given(CHECKS)
def test_the_cause_of_a_finding_is_there_and_has_none_but_itself(checks: list[Check]) -> None:
    spoke = {one.id for one in checks if one.status in {"warn", "fail"}}
    for one in checks:
        assert root(one, spoken(checks), LIMITS) in spoke | {one.id}


def test_what_a_check_computes_goes_before_what_is_listed() -> None:
    waits = check("N2", because="P1")
    beside = [waits, check("N1"), check("P1")]
    assert root(waits, spoken(beside), LIMITS) == "P1"
    assert root(check("N2"), spoken(beside), LIMITS) == "N1"
    assert root(waits, spoken([waits, check("P1", "pass")]), LIMITS) == "N2"


def test_a_cause_that_is_only_not_known_explains_nothing() -> None:
    lost = check("K5")
    assert root(lost, spoken([lost, check("K1", "unknown")]), LIMITS) == "K5"
    assert root(lost, spoken([lost, check("K1")]), LIMITS) == "K1"


def test_what_set_a_trial_aside_is_dealt_with_and_the_rest_of_it_is_not() -> None:
    noise = [check("N1", "fail"), check("N2", "fail", because="N1")]
    server = check("E1", "warn", subject="behaviour")
    first, again = measured(1, [*noise, server]), measured(2, [server])
    found = {(cause.id, cause.state): cause for cause in causes([first, again], [], {1})}
    assert found.keys() == {("N1", "dealt with"), ("E1", "open")}
    assert found["N1", "dealt with"].trials == (1,)
    assert (found["E1", "open"].trials, found["E1", "open"].audience) == ((1, 2), "limits")


def test_whom_a_finding_concerns() -> None:
    told = {"name": "x", "unit": "", "source": "y"}
    some = {
        "X2": Limit.model_validate({**told, "audience": "setup"}),
        "X3": Limit.model_validate({**told, "warned": "expert"}),
        "X3.cpu": Limit.model_validate({**told, "audience": "expert"}),
    }
    of = Thresholds(version="", by_id=some)
    assert audience(check("X1", "fail"), of) == "invalid"
    assert audience(check("X1", "fail", subject="behaviour"), of) == "limits"
    assert audience(check("X1", "warn"), of) == "limits"
    assert audience(check("X1", "unknown"), of) == "expert"
    assert [audience(check("X2", status), of) for status in ("fail", "warn")] == ["setup"] * 2
    assert audience(check("X3", "fail"), of) == "invalid"
    assert audience(check("X3"), of) == "expert"
    assert audience(check("X3", "fail", component="cpu"), of) == "expert"
