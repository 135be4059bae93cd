"""E6: what answers at random moments of a load prove, and how much they find."""

import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made.observed import LIMITS, monitor, probes, reading, right, trial
from made.observed import answer as of_probe
from present import present

from benchforge.checks.answers.alike import otherwise
from benchforge.checks.answers.under_load import answers, of_cases
from benchforge.model.trial.answers.answer import Request
from benchforge.model.trial.answers.good_response import GoodResponse
from benchforge.model.trial.answers.monitor import LoadAnswers, MonitorAnswer, Windows
from benchforge.model.trial.check import Check
from benchforge.model.trial.stream import Stream, StreamKind
from benchforge.model.trial.trial import Failure
from benchforge.run.http.monitor import Record, tallied

WRONG = Failure(stage="read", message="a: wrong answers", broken=True)


def asked(**changed: Any) -> Check:
    fields = changed.pop("monitor", {})
    subject = None if fields is None else monitor(**fields)
    return answers(trial(monitor=subject, **changed), LIMITS)


LOAD = Windows(windows=120, judged=96, answers=388)
AROUND = Windows(windows=300, judged=300, answers=900)


def tapped(load: Any = (), around: Any = (), **fields: Any) -> LoadAnswers:
    """Answers on a load's own connections: of 96 windows in it and 300 around it."""
    like, outside = replace(LOAD, **dict(load)), replace(AROUND, **dict(around))
    return LoadAnswers(load=like, around=outside, **fields)


def mixed(answer: GoodResponse) -> Stream:
    labels = ("list", "buy.add", "buy.pay", "rare")
    same: dict[str, Any] = {"request": Request(), "good_response": answer}
    kinds = {label: StreamKind(share=1, records=1, **same) for label in labels}
    return Stream(records=4, sha256="ab", kinds=kinds)


def kind(**changed: Any) -> MonitorAnswer:
    fields = {"status": 200, "content_type": "text/plain", "length": 1000, "sha256": "bb"}
    fields |= {"answers": 3, "wrong": "expected another"}
    return MonitorAnswer.model_validate(fields | changed)


def test_e6_names_the_kinds_of_a_mix_that_were_wrong_or_not_sent() -> None:
    right = GoodResponse(status=201, shortest=0, longest=None, binding=False)
    observed = (
        kind(kind="buy.pay", status=201),
        kind(kind="buy.add", status=500),
        kind(kind="list", wrong=""),
    )
    read = reading(statuses={"201": 100})
    check = asked(monitor={"wrong": 4, "answers": observed}, reading=read, stream=mixed(right))
    assert check.status == "fail"
    # The load tool counts an answer with another status as an error: the other one is hidden.
    assert "4 of 97 random moments" in check.message
    assert "brought a wrong answer to buy.pay, 1.13 % to 10.2 % of them" in check.message
    assert check.message.endswith("; no answer to rare came then")


OF_LOAD = (
    "0 of 96 random windows of the load (388 answers) held a wrong answer: at most 3.07 % of "
    "them did (95 %), and 0 of 300 windows outside of it"
)
OF_MONITOR = "0 of 97 random moments of the monitor, on connections of its own, brought a wrong"
HELD = "48 of these moments were on a connection that it held open, up to its request 431 and an"
UNREAD = "100 not judged: too large, not decoded, or to no known request; 7 packets lost: their"
LEFT_OUT = {"cut": 12, "unjudged": 100, "lost_packets": 7}


@pytest.mark.parametrize(
    ("changed", "begins", "says"),
    [
        ({}, f"{OF_MONITOR} answer: at most 3.04 % of them did (95 %)", ""),
        (
            {"monitor": {"held": 48, "streams": 431, "oldest_s": 6.2, "version": "HTTP/2"}},
            "0 of 97 random moments of the monitor over HTTP/2, on connections of its own, brought",
            f"; {HELD} age of 6.2 s: later ones are unknown; ",
        ),
        ({"monitor": None, "load_answers": tapped()}, OF_LOAD, ""),
        ({"load_answers": tapped()}, OF_LOAD, f"; {OF_MONITOR}"),
        (
            {"load_answers": tapped(behind="nginx's TLS")},
            "0 of 96 random windows of the load behind nginx's TLS (388 answers) held a wrong",
            f"; {OF_MONITOR}",
        ),
        (
            {"load_answers": LoadAnswers(why="TLS")},
            OF_MONITOR,
            "; nobody read the load's own connections: TLS",
        ),
        (
            {"monitor": None, "load_answers": tapped(LEFT_OUT)},
            "",
            "0.857 % of the answers that began in windows were cut: they took too long",
        ),
        ({"monitor": None, "load_answers": tapped(LEFT_OUT)}, "", UNREAD),
    ],
)
def test_e6_has_an_upper_bound_for_what_was_never_wrong(
    changed: Any, begins: str, says: str
) -> None:
    check = asked(**changed)
    assert (check.status, check.value) == ("pass", 0)
    assert check.message.startswith(begins)
    assert says in check.message


@pytest.mark.parametrize(
    ("load", "around", "status", "words"),
    [
        # In the load itself; outside of it, as often as in it by chance; and more often.
        ({"wrong": 4}, {}, "fail", "4 of 96 random windows of the load (388 answers) held a wrong"),
        ({}, {"wrong": 3}, "fail", "3 of 300 windows outside of it (pooled: Fisher's exact"),
        ({}, {"wrong": 40}, "warn", "40 of 300 windows outside of it (not pooled: Fisher's"),
        ({"judged": 0}, {"wrong": 40}, "fail", "0 of 0 random windows"),
    ],
)
def test_e6_of_a_wrong_answer_on_the_loads_own_connections(
    load: Any, around: Any, status: str, words: str
) -> None:
    check = asked(load_answers=tapped(load, around, answers=(kind(),)))
    assert check.status == status
    assert words in check.message
    reason = check.message.index(": expected another; ")
    assert reason < check.message.index("of the monitor") < check.message.index("does not tell")
    assert (otherwise([check], "a") is None) == (status == "warn")


def test_e6_has_a_bound_for_each_kind_of_a_mix() -> None:
    windows = {"list": {"judged": 96}, "buy.pay": {"judged": 12, "wrong": 2}, "rare": {}}
    parts = {label: Windows(**window) for label, window in windows.items()}
    read = tapped({"wrong": 2}, kinds=parts, answers=(kind(kind="buy.pay"),))
    check = asked(monitor=None, load_answers=read, stream=mixed(right()))
    assert check.status == "fail"
    assert "held a wrong answer to buy.pay, 0.253 % to 7.32 % of them" in check.message
    assert (
        "; windows with a wrong answer by kind: list 0 of 96: at most 3.07 % of them did (95 %), "
        "buy.pay 2 of 12, 2.09 % to 48.4 % of them (95 %); "
        "no answer to buy.add or rare was judged in them"
    ) in check.message


TOO_FEW = {"windows": 20, "judged": 0, "answers": 0, "cut": 5}


@pytest.mark.parametrize(
    ("fields", "read", "words"),
    [
        (None, None, "judged: nobody read the load's own connections; no monitor ran"),
        (None, LoadAnswers(why="TLS"), "own connections: TLS; no monitor ran"),
        (None, tapped(TOO_FEW), "judged: no answer was judged in 20 windows of the load; 0 of 300"),
        (None, tapped(TOO_FEW), "; 0.552 % of the answers that began in windows were cut"),
        ({"moments": 0, "unanswered": {"no answer within 10 s": 3}}, None, "3 not answered: no"),
        ({"moments": 0, "why": "it ended without a record"}, None, "the monitor failed: it ended"),
        ({"moments": 0}, None, "too short"),
        ({"moments": 0, "unjudged": 4}, None, "4 not judged"),
    ],
)
def test_e6_calls_what_was_not_answered_unknown_and_not_wrong(
    fields: Any, read: LoadAnswers | None, words: str
) -> None:
    check = asked(monitor=fields, load_answers=read)
    assert (check.status, check.value) == ("unknown", None)
    assert check.message.startswith("no answer of the load was judged: ")
    assert words in check.message
    assert otherwise([check], "a") is None


def test_e6_proves_more_by_all_trials_of_a_case_than_by_each() -> None:
    quiet = [trial(monitor=None, load_answers=tapped()) for _ in range(8)]
    silent = [trial(server="b", monitor=None) for _ in range(2)]
    first, second = of_cases([[*quiet, trial(monitor=None)], silent], LIMITS)
    assert (first.scope, first.component, first.status) == ("comparison", "a", "pass")
    assert first.message == (
        "0 of 768 random windows of the load (3,104 answers) held a wrong answer: at most 0.389 % "
        "of them did (95 %), and 0 of 2,400 windows outside of it"
    )
    assert (second.component, second.status) == ("b", "unknown")
    assert second.may_hide_wrong_answers
    assert not first.may_hide_wrong_answers
    # A trial that has no value since answers were wrong is one of them.
    broken = trial(load_answers=tapped({"wrong": 3}), failure=WRONG, reading=None)
    (item,) = of_cases([[*quiet, broken]], LIMITS)
    assert "3 of 864 random windows of the load" in item.message
    (item,) = of_cases([[trial(monitor=monitor(longest_s=0.02)) for _ in range(5)]], LIMITS)
    assert "0 of 485 random moments" in item.message
    assert "a new connection was answered in 1 ms (median), 20 ms at most" in item.message
    assert not list(of_cases([[trial(failure=WRONG, reading=None, monitor=None)]], LIMITS))


COUNTS = st.integers(0, 400)


@given(COUNTS, COUNTS, COUNTS, COUNTS)
def test_e6_never_passes_what_was_wrong_on_the_loads_connections(
    judged: int, wrong: int, outside: int, wrong_outside: int
) -> None:
    load = {"judged": judged, "wrong": min(wrong, judged)}
    around = {"judged": outside, "wrong": min(wrong_outside, outside)}
    either: tuple[dict[str, Any] | None, ...] = (None, {})
    for fields in either:
        check = asked(monitor=fields, load_answers=tapped(load, around, answers=(kind(),)))
        if load["wrong"]:
            assert check.status == "fail"
        elif around["wrong"]:
            assert check.status in {"fail", "warn"}
        else:
            assert check.status == ("pass" if judged or fields is not None else "unknown")


def test_e6_ends_a_measurement_whose_wrong_answer_looks_right_to_the_tool() -> None:
    check = asked(monitor={"wrong": 2, "answers": (kind(),)})
    assert (check.status, check.subject) == ("fail", "behaviour")
    assert "brought a wrong answer, 0.251 % to 7.25 % of them (95 %): expected" in check.message
    assert "expected another; the load tool does not tell" in check.message
    assert present(otherwise([check], "a")).stage == "read"


BODIES = ({"status": 200, "length": 1000, "responses": 20_000},)
RANGES = {"statuses": {"100-399": 20_000, "400-999": 0}}
OF_200 = {"statuses": {"200": 20_000}}


@pytest.mark.parametrize(
    ("kinds", "expected", "status"),
    [
        # The tool tells errors from 400 on; each status; each length of a body.
        ({"status": 503}, RANGES, "warn"),
        ({"status": 302}, OF_200, "warn"),
        ({"status": 302}, {"statuses": {"200": 19_000, "302": 1000}}, "warn"),
        ({"length": 999}, OF_200 | {"bodies": BODIES}, "warn"),
        # It cannot tell these from right answers.
        ({"status": 302}, RANGES, "fail"),
        ({"status": 204}, {"statuses": {"2xx": 20_000}}, "fail"),
        ({"status": 302}, {"statuses": {}}, "fail"),
        ({"length": 999}, OF_200, "fail"),
        ({}, OF_200 | {"bodies": BODIES}, "fail"),
    ],
)
def test_e6_of_what_the_load_tool_counts_as_an_error(
    kinds: Any, expected: Any, status: str
) -> None:
    """A new connection may be turned away where those of the load are served: the tool knows."""
    check = asked(monitor={"wrong": 5, "answers": (kind(**kinds),)}, reading=reading(**expected))
    assert check.status == status
    assert ("see E1" in check.message) == (otherwise([check], "a") is None) == (status == "warn")


def test_e6_leaves_another_body_to_the_suite() -> None:
    changed = {"answers": (kind(wrong="", other_body=True, begin="<h1>Log in", answers=90),)}
    for check in (asked(monitor=changed), asked(monitor=None, load_answers=tapped(**changed))):
        assert check.status == "warn"
        assert "90 answers had a body unlike all that single requests got" in check.message
        assert "1,000 bytes of text/plain, '<h1>Log in': whether it is right" in check.message
        assert otherwise([check], "a") is None
    # Where questions get several bodies, another one is no surprise, but another type is.
    several = probes(of_probe(), of_probe(sha256="bb"))
    assert asked(monitor=changed, probes=several).status == "pass"
    page = kind(wrong="", other_body=True, content_type="text/html; charset=utf-8")
    assert asked(monitor={"answers": (page,)}, probes=several).status == "warn"
    other_status = page.model_copy(update={"status": 404})
    assert asked(monitor={"answers": (other_status,)}, probes=several).status == "pass"


# --- counting, and what it finds ------------------------------------------------------------------


def record(moments: list[list[int]], kinds: int = 2) -> Record:
    item = {"status": 200, "content_type": "", "encoding": "", "length": 1, "sha256": "a"}
    fields: dict[str, Any] = {"connections": len(moments), "cpu_s": 0.1}
    rows = [
        (number / 10, [(subject, 0.001) for subject in moment], "" if moment else "reset")
        for number, moment in enumerate(moments)
    ]
    fields |= {"kinds": [{**item, "kept": True}] * kinds, "moments": rows}
    fields["requests"] = sum(map(len, moments))
    return Record.model_validate(fields)


KINDS = [kind(wrong=""), kind(), kind(wrong="", other_body=True)]
UNJUDGED = kind(wrong="", judged=False)


@given(st.lists(st.lists(st.integers(0, 3), max_size=4), max_size=30))
def test_e6_counts_each_moment_once(moments: list[list[int]]) -> None:
    observed = tallied(record(moments, 4), [*KINDS, UNJUDGED])
    assert observed.moments + observed.unjudged + sum(observed.unanswered.values()) == len(moments)
    assert observed.wrong == sum(1 in moment for moment in moments)
    assert observed.unjudged == sum(3 in moment and 1 not in moment for moment in moments)
    assert sum(answer.answers for answer in observed.answers) == sum(map(len, moments))
    assert observed.wrong + observed.other_bodies <= observed.moments
    assert (observed.median_s is None) == (not [moment for moment in moments if moment])
    # Over HTTP/2 each second one was on the connection that was held open, which is not new.
    held = tallied(record(moments, 4).model_copy(update={"streams": 9}), [*KINDS, UNJUDGED])
    assert held.held == sum(map(bool, moments[1::2]))
    assert (held.median_s is None) == (not any(moments[::2]))
    assert (held.moments, held.wrong) == (observed.moments, observed.wrong)


@pytest.mark.parametrize(
    ("share", "moments", "least"), [(0.1, 50, 0.99), (0.01, 200, 0.85), (0.01, 50, 0.35)]
)
def test_e6_has_the_power_of_its_moments(share: float, moments: int, least: float) -> None:
    """One wrong answer in ten, and in a hundred: how many of 400 loads the monitor finds."""
    draw = random.Random(7)
    actual = 0
    for _ in range(400):
        wrong = [[int(draw.random() < share)] for _ in range(moments)]
        observed = tallied(record(wrong), KINDS[:2])
        actual += asked(monitor=observed.model_dump()).status == "fail"
    exact = 1 - (1 - share) ** moments
    assert actual / 400 == pytest.approx(exact, abs=0.06)
    assert actual / 400 >= least


def test_e6_has_a_bound_that_holds_as_often_as_it_says() -> None:
    """Of loads without a wrong answer among n, the true share is above the bound in 5 %."""
    n = 97
    upper = 1 - 0.05 ** (1 / n)  # the bound of 0 of n
    assert (1 - upper) ** n == pytest.approx(0.05)
    assert f"at most {upper:.2%}".replace("%", " %") in asked().message
