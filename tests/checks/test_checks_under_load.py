"""E6: what answers at random moments of a load prove, and how much they find."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made.observed import LIMITS, monitor, probes, reading, trial
from made.observed import answer as of_probe

from benchforge.checks.answers.alike import otherwise
from benchforge.checks.answers.under_load import answers
from benchforge.model.trial.answers.answer import Request
from benchforge.model.trial.answers.good_response import GoodResponse
from benchforge.model.trial.answers.monitor import MonitorAnswer
from benchforge.model.trial.check import Check
from benchforge.model.trial.stream import Stream, StreamKind
from benchforge.run.http.monitor import Record, tallied


def asked(**changed: Any) -> Check:
    of_monitor = changed.pop("monitor", {})
    return answers(trial(monitor=monitor(**of_monitor), **changed), LIMITS)


def kind(**changed: Any) -> MonitorAnswer:
    fields = {"status": 200, "content_type": "text/plain", "length": 1000, "sha256": "bb"}
    fields |= {"answers": 3, "wrong": "expected another"}
    return MonitorAnswer.model_validate(fields | changed)


def test_of_a_mix_it_names_the_kinds_that_were_wrong_or_not_sent() -> None:
    right = GoodResponse(status=201, shortest=0, longest=None, binding=False)
    kinds = {
        label: StreamKind(share=1, records=1, request=Request(), good_response=right)
        for label in ("list", "buy.add", "buy.pay", "rare")
    }
    mix = Stream(records=4, sha256="ab", kinds=kinds)
    seen = (
        kind(kind="buy.pay", status=201),
        kind(kind="buy.add", status=500),
        kind(kind="list", wrong=""),
    )
    of = trial(monitor=monitor(wrong=4, answers=seen), reading=reading(statuses={"201": 100}))
    check = answers(of.model_copy(update={"stream": mix}), LIMITS)
    assert check.status == "fail"
    # The load tool counts an answer with another status as an error: the other one is hidden.
    assert "at 4 of 97 random moments an answer to buy.pay was wrong, 1.1" in check.message
    assert "; no answer to rare came then; " in check.message


def test_what_was_never_wrong_has_an_upper_bound() -> None:
    check = asked()
    assert (check.status, check.value) == ("pass", 0)
    assert "at 0 of 97 random moments an answer was wrong" in check.message
    assert "at most 3.04 % of the answers were wrong (95 %)" in check.message
    assert "a new connection was answered in 1 ms (median), 3 ms (p90)" in check.message


@pytest.mark.parametrize(
    ("given_", "words"),
    [
        (None, "the scenario has no monitor"),
        ({"moments": 0, "unanswered": {"no answer within 10 s": 3}}, "3 not answered: no answer"),
        ({"moments": 0, "why": "it ended without a record"}, "the monitor failed: it ended"),
        ({"moments": 0}, "too short"),
        ({"moments": 0, "unjudged": 4}, "4 not judged"),
    ],
)
def test_what_was_not_answered_is_unknown_and_not_wrong(given_: Any, words: str) -> None:
    of = None if given_ is None else monitor(**given_)
    check = answers(trial(monitor=of), LIMITS)
    assert (check.status, check.value) == ("unknown", None)
    assert words in check.message
    assert otherwise([check], "a") is None


def test_a_wrong_answer_that_looks_right_to_the_tool_is_no_measurement() -> None:
    check = asked(monitor={"wrong": 2, "answers": (kind(),)})
    assert (check.status, check.subject) == ("fail", "behaviour")
    assert (
        "at 2 of 97 random moments an answer was wrong, 0.251 % to 7.25 % of them" in check.message
    )
    assert "expected another; the load tool does not tell" in check.message
    failure = otherwise([check], "a")
    assert failure is not None
    assert failure.stage == "read"


BODIES = ({"status": 200, "length": 1000, "responses": 20_000},)


@pytest.mark.parametrize(
    ("kinds", "told"),
    [
        # The tool tells errors from 400 on; each status; each length of a body.
        ({"status": 503}, {"statuses": {"100-399": 20_000, "400-999": 0}}),
        ({"status": 302}, {"statuses": {"200": 20_000}}),
        ({"status": 302}, {"statuses": {"200": 19_000, "302": 1000}}),
        ({"length": 999}, {"statuses": {"200": 20_000}, "bodies": BODIES}),
    ],
)
def test_what_the_load_tool_counts_as_an_error_is_told_by_e1(kinds: Any, told: Any) -> None:
    """A new connection may be turned away where those of the load are served: the tool knows."""
    check = asked(monitor={"wrong": 5, "answers": (kind(**kinds),)}, reading=reading(**told))
    assert check.status == "warn"
    assert "see E1" in check.message
    assert otherwise([check], "a") is None


@pytest.mark.parametrize(
    ("kinds", "told"),
    [
        ({"status": 302}, {"statuses": {"100-399": 20_000, "400-999": 0}}),
        ({"status": 204}, {"statuses": {"2xx": 20_000}}),
        ({"status": 302}, {"statuses": {}}),
        ({"length": 999}, {"statuses": {"200": 20_000}}),
        ({}, {"statuses": {"200": 20_000}, "bodies": BODIES}),
    ],
)
def test_what_the_load_tool_cannot_tell_is_found(kinds: Any, told: Any) -> None:
    check = asked(monitor={"wrong": 5, "answers": (kind(**kinds),)}, reading=reading(**told))
    assert check.status == "fail"


def test_another_body_is_for_the_suite_to_judge() -> None:
    changed = {"other_bodies": 90}
    check = asked(monitor=changed)
    assert check.status == "warn"
    assert "at 90 moments a body was another" in check.message
    # Where questions get several bodies, another one is no surprise.
    several = probes(of_probe(), of_probe(sha256="bb"))
    assert asked(monitor=changed, probes=several).status == "pass"


# --- counting, and what it finds ------------------------------------------------------------------


def record(moments: list[list[int]], kinds: int = 2) -> Record:
    one = {"status": 200, "content_type": "", "encoding": "", "length": 1, "sha256": "a"}
    return Record.model_validate(
        {
            "requests": sum(map(len, moments)),
            "connections": len(moments),
            "cpu_s": 0.1,
            "kinds": [{**one, "kept": True}] * kinds,
            "moments": [
                (number / 10, [(of, 0.001) for of in seen], "" if seen else "reset")
                for number, seen in enumerate(moments)
            ],
        }
    )


KINDS = [kind(wrong=""), kind(), kind(wrong="", other_body=True)]
UNJUDGED = kind(wrong="", judged=False)


@given(st.lists(st.lists(st.integers(0, 3), max_size=4), max_size=30))
def test_each_moment_is_counted_once(moments: list[list[int]]) -> None:
    seen = tallied(record(moments, 4), [*KINDS, UNJUDGED])
    assert seen.moments + seen.unjudged + sum(seen.unanswered.values()) == len(moments)
    assert seen.wrong == sum(1 in of for of in moments)
    assert seen.unjudged == sum(3 in of and 1 not in of for of in moments)
    assert sum(of.answers for of in seen.answers) == sum(map(len, moments))
    assert seen.wrong + seen.other_bodies <= seen.moments
    firsts = [of for of in moments if of]
    assert (seen.median_s is None) == (not firsts)


@pytest.mark.parametrize(
    ("share", "moments", "least"), [(0.1, 50, 0.99), (0.01, 200, 0.85), (0.01, 50, 0.35)]
)
def test_the_power_is_that_of_the_moments(share: float, moments: int, least: float) -> None:
    """One wrong answer in ten, and in a hundred: how many of 400 loads the monitor finds."""
    draw = random.Random(7)
    found = 0
    for _ in range(400):
        wrong = [[int(draw.random() < share)] for _ in range(moments)]
        seen = tallied(record(wrong), KINDS[:2])
        found += asked(monitor=seen.model_dump()).status == "fail"
    exact = 1 - (1 - share) ** moments
    assert found / 400 == pytest.approx(exact, abs=0.06)
    assert found / 400 >= least


def test_the_bound_holds_as_often_as_it_says() -> None:
    """Of loads without a wrong answer among n, the true share is above the bound in 5 %."""
    n = 97
    above = 1 - 0.05 ** (1 / n)  # the bound of 0 of n
    assert (1 - above) ** n == pytest.approx(0.05)
    assert f"at most {above:.2%}".replace("%", " %") in asked().message
