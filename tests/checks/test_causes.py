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
    same: dict[str, Any] = {"block": 1, "attempt": 1, "checks": ()}
    numbers = [trial.number for trial in trials]
    doubted = [DoubtedTrial(trial=n, used=n not in aside, **same) for n in numbers]
    case = plain.case(plain.named("flask"), doubted=tuple(doubted))
    return plain.summary(case, checks=tuple(of_result))


def causes(trials: list[Trial], of_result: list[Check], aside: set[int]) -> tuple[Cause, ...]:
    return with_causes(summary(trials, of_result, aside), trials, LIMITS).causes


def test_the_possible_causes_are_checks_and_no_check_explains_itself() -> None:
    of_ids = {id_: limit.causes for id_, limit in LIMITS.by_id.items()}
    assert {cause for value in of_ids.values() for cause in value} <= LIMITS.by_id.keys()
    TopologicalSorter({id_: of_id for id_, of_id in of_ids.items() if "." not in id_}).prepare()


@given(st.lists(CHECKS, max_size=4), CHECKS, st.sets(st.integers(1, 4)))
def test_each_finding_is_in_exactly_one_cause_and_an_invalid_one_is_in_none_that_is_less(
    of_trials: list[list[Check]], of_result: list[Check], aside: set[int]
) -> None:
    trials = [measured(number, checks) for number, checks in enumerate(of_trials, 1)]
    actual = causes(trials, of_result, aside)
    checks = [*of_result, *(check for trial in trials for check in trial.checks)]
    counter = Counter((check.id, check.status) for check in checks if check.status != "pass")
    folded: Counter[tuple[str, str]] = Counter()
    for cause in actual:
        assert cause.count == sum(finding.count for finding in cause.findings)
        for finding in cause.findings:
            folded[finding.check.id, finding.check.status] += finding.count
    assert folded == counter
    for trial in [trial for trial in trials if trial.number not in aside]:
        for item in trial.checks:
            if audience(item, LIMITS) == "invalid":
                subject = root(item, spoken(trial.checks), LIMITS)
                (cause,) = [each for each in actual if (each.id, each.state) == (subject, "open")]
                assert cause.audience == "invalid"


@given(CHECKS)
def test_the_cause_of_a_finding_is_there_and_has_none_but_itself(checks: list[Check]) -> None:
    spoke = {check.id for check in checks if check.status in {"warn", "fail"}}
    for check in checks:
        assert root(check, spoken(checks), LIMITS) in spoke | {check.id}


def test_what_a_check_computes_goes_before_what_is_listed() -> None:
    waits = check("N2", because="P1")
    neighbour = [waits, check("N1"), check("P1")]
    assert root(waits, spoken(neighbour), LIMITS) == "P1"
    assert root(check("N2"), spoken(neighbour), LIMITS) == "N1"
    assert root(waits, spoken([waits, check("P1", "pass")]), LIMITS) == "N2"


def test_a_cause_that_is_only_not_known_explains_nothing() -> None:
    lost = check("K5")
    assert root(lost, spoken([lost, check("K1", "unknown")]), LIMITS) == "K5"
    assert root(lost, spoken([lost, check("K1")]), LIMITS) == "K1"


def test_what_set_a_trial_aside_is_dealt_with_and_the_rest_of_it_is_not() -> None:
    noise = [check("N1", "fail"), check("N2", "fail", because="N1")]
    server = check("E1", "warn", subject="behaviour")
    first, again = measured(1, [*noise, server]), measured(2, [server])
    actual = {(cause.id, cause.state): cause for cause in causes([first, again], [], {1})}
    assert actual.keys() == {("N1", "dealt with"), ("E1", "open")}
    assert actual["N1", "dealt with"].trials == (1,)
    assert (actual["E1", "open"].trials, actual["E1", "open"].audience) == ((1, 2), "limits")


def test_whom_a_finding_of_x1_to_x3_concerns() -> None:
    actual = {"name": "x", "unit": "", "source": "y"}
    part = {
        "X2": Limit.model_validate({**actual, "audience": "setup"}),
        "X3": Limit.model_validate({**actual, "warned": "expert"}),
        "X3.cpu": Limit.model_validate({**actual, "audience": "expert"}),
    }
    thresholds = Thresholds(version="", by_id=part)
    assert audience(check("X1", "fail"), thresholds) == "invalid"
    assert audience(check("X1", "fail", subject="behaviour"), thresholds) == "limits"
    assert audience(check("X1", "warn"), thresholds) == "limits"
    assert audience(check("X1", "unknown"), thresholds) == "expert"
    assert {audience(check("X2", status), thresholds) for status in ("fail", "warn")} == {"setup"}
    assert audience(check("X3", "fail"), thresholds) == "invalid"
    assert audience(check("X3"), thresholds) == "expert"
    assert audience(check("X3", "fail", component="cpu"), thresholds) == "expert"
