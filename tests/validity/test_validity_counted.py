"""What is counted as good: what the suite expects, as far as a tool tells it."""

from pathlib import Path
from typing import Any

import pytest
from front_door import Bench
from hypothesis import given
from hypothesis import strategies as st
from made.observed import LIMITS, reading, right, trial
from planted.lies import liars
from planted.turning import suite
from planted.validity import ONCE, Seen, caught, measured

from benchforge.checks.answers.counted import counted
from benchforge.model.trial.reading import Reading, span

PACE = 'use = "pace"\nconnections = 4\nthink = "1ms"\nduration = "300ms"'
FAULTS = ["302", "203-same", "error"]
# What another check than the failure of the trial shows, and what the tool printed of it.
REDIRECTED = ("302 to a load where questions are answered 200", "s302")
RENAMED = ("203 with the same body to a load where questions are answered 200", "s203-same")
TROUBLED = ("an error of 59 bytes to a load where questions are answered with 18", "serror")
ROWS = {
    "wrk": [(*item, "Requests/sec") for item in (REDIRECTED, RENAMED, TROUBLED)],
    "h2load": [(*TROUBLED, "status codes")],
    "hey": [(*TROUBLED, "responses")],
    "ab": [(*RENAMED, "Failed requests")],
}


def loading(tool: str) -> str:
    return f'use = "{tool}"\nconnections = 4\nduration = "1s"'


def good(observed: Seen, server: str) -> tuple[int, int]:
    (actual,) = {item["attempt"]: item for item in observed.trials(server)}.values()
    return actual["reading"]["good_at_least"], actual["reading"]["good_at_most"]


def failure(observed: Seen, server: str) -> str:
    trials = observed.trials(server)[-1]["failure"]
    return "" if trials is None else str(trials["message"])


# --- real tools, against servers that answer questions rightly and a load otherwise ---------------


@pytest.mark.samples(1)
@pytest.mark.parametrize("tool", ["pace", "wrk", "h2load", "hey", "ab"])
def test_what_is_not_expected_is_not_good(bench: Bench, tmp_path: Path, tool: str) -> None:
    load = PACE if tool == "pace" else loading(tool)
    result = measured(bench, tmp_path, suite(liars("right", *FAULTS), load, top=ONCE))
    assert result.told.code == 4, result.told.all
    for fault in FAULTS:
        assert failure(result, f"s{fault}"), (tool, fault)
        assert good(result, f"s{fault}")[0] == 0, (tool, fault)
    least, most = good(result, "sright")
    assert least == most > 0
    assert failure(result, "sright") == ""
    for fault, server, word in ROWS.get(tool, ()):
        caught(f"{fault}, by {tool}", result, "E3", server=server, word=word)
    if tool in {"pace", "h2load", "hey"}:
        assert "of status 302" in failure(result, "s302")
        assert "of status 203" in failure(result, "s203-same")


@pytest.mark.exhaustive
def test_siege_tells_too_little_to_know(bench: Bench, tmp_path: Path) -> None:
    result = measured(bench, tmp_path, suite(liars("right", "302"), loading("siege")))
    least, most = good(result, "sright")
    assert least == 0 < most
    (trials,) = result.trials("sright")
    assert "does not tell which responses were 200" in trials["reading"]["doubt"]
    assert "0 bytes of body in the load, 18 in a right answer" in failure(result, "s302")


@pytest.mark.exhaustive
@pytest.mark.parametrize("user", ["fast", "http"])
def test_locust_counts_by_status(bench: Bench, tmp_path: Path, user: str) -> None:
    load = f'use = "locust"\nusers = 2\nuser = "{user}"\nduration = "3s"'
    result = measured(bench, tmp_path, suite(liars("right", "203-same"), load))
    (trials,) = result.trials("sright")
    assert set(trials["reading"]["statuses"]) == {"200"}, trials["failure"]
    assert trials["reading"]["body_bytes"] == 18 * trials["reading"]["responses"]
    assert "of status 203" in failure(result, "s203-same")


@pytest.mark.exhaustive
def test_one_answer_in_a_thousand_of_another_length(bench: Bench, tmp_path: Path) -> None:
    load = 'use = "pace"\nconnections = 4\nrequests = 5000\nduration = "60s"'
    result = measured(bench, tmp_path, suite(liars("rare", "few-302"), load))
    fault = "an error text in place of one answer in a thousand"
    error = caught(fault, result, "E3", server="srare", status="warn")
    assert "were not of 18 bytes: they are not good" in error["message"]
    for server, name in (("srare", "length"), ("sfew-302", "status")):
        (trials,) = result.trials(server)
        assert trials["reading"]["errors"][name] in {4, 5, 6}
        assert trials["reading"]["good_at_most"] == 5000 - trials["reading"]["errors"][name]


@pytest.mark.exhaustive
def test_an_answer_that_grows(bench: Bench, tmp_path: Path) -> None:
    """From 9 bytes to 12: what is free, or within a range, is no error; an exact length is."""
    for load in (PACE, loading("ab")):
        for length in ("", "length = 'any'", "length = { min = 9, max = 14 }"):
            expect = f"expect = {{ {length} }}"
            result = measured(bench, tmp_path, suite(liars("grows"), load, scenario=expect))
            least, most = good(result, "sgrows")
            assert failure(result, "sgrows") == ""
            assert most > 0
            if load == PACE or "min" in length:
                assert least == most, (load, length)


@pytest.mark.exhaustive
def test_a_length_out_of_its_range_is_told(bench: Bench, tmp_path: Path) -> None:
    for length, words in (
        ("{ min = 19 }", "expected a body of 19 bytes or more, got 18"),
        ("{ min = 1, max = 17 }", "expected a body of 1 to 17 bytes, got 18"),
        ("17", "expected a body of 17 bytes, got 18"),
    ):
        toml = suite(liars("right"), PACE, scenario=f"expect = {{ length = {length} }}")
        assert words in failure(measured(bench, tmp_path, toml), "sright")


@pytest.mark.parametrize(
    ("length", "words"),
    [
        ("{ min = 9, max = 3 }", "expect.length: max is 3, less than min, which is 9"),
        ("{ max = 'x' }", "expect.length.max: expected a whole number, got 'x'"),
        ("{ mni = 3 }", "expect.length.mni: unknown key"),
        ("'some'", "expect.length: expected a whole number, a table or 'any', got 'some'"),
    ],
)
def test_a_wrong_content_length(bench: Bench, tmp_path: Path, length: str, words: str) -> None:
    toml = suite(liars("right"), PACE, scenario=f"expect = {{ length = {length} }}")
    (tmp_path / "s.toml").write_text(toml)
    call = bench("check", "s.toml", code=2)
    assert words in call.err
    assert call.err.count("error: ") == 1, call.err


def test_an_error_that_is_expected_is_good(bench: Bench, tmp_path: Path) -> None:
    for load in (PACE, loading("wrk")):
        toml = suite(liars("500"), load, scenario="expect = { status = 500 }", top=ONCE)
        result = measured(bench, tmp_path, toml)
        assert result.told.code == 0, result.told.all
        least, most = good(result, "s500")
        assert least == most > 0
        bench("verify", result.result, code=0)


def test_chunks_are_as_long_in_the_load(bench: Bench, tmp_path: Path) -> None:
    result = measured(bench, tmp_path, suite(liars("chunked"), loading("wrk"), top=ONCE))
    least, most = good(result, "schunked")
    assert least == most > 0


# --- counting -------------------------------------------------------------------------------------


def told_good(number: int) -> dict[str, Any]:
    return {"good_at_least": number, "good_at_most": number}


def count(**changed: Any) -> Reading:
    expected = changed.pop("right", right())
    actual = reading(**changed)
    return counted(trial(reading=actual, good_response=expected), actual, expected, LIMITS)


def test_a_status_that_is_told_is_counted() -> None:
    actual = count(statuses={"200": 15_000, "302": 5000}, received_bytes=None)
    assert (actual.good, actual.errors["status"]) == (15_000, 5000)
    redirected = right(status=302, shortest=0, longest=None)
    assert count(statuses={"200": 15_000, "302": 5000}, right=redirected).good == 5000


@pytest.mark.parametrize("statuses", [{}, {"2xx": 20_000}, {"100-399": 20_000}])
def test_a_class_is_good_where_the_length_says_so(statuses: dict[str, int]) -> None:
    actual = count(statuses=statuses)
    assert actual.good == 20_000
    assert "taken as good by their length" in actual.by_length
    for changed in ({"received_bytes": None}, {"received_bytes": 20_000 * 1140}):
        doubted = count(statuses=statuses, **changed)
        assert (doubted.good_at_least, doubted.good_at_most) == (0, 20_000)
        assert doubted.doubt


def test_what_is_in_no_class_may_be_right() -> None:
    actual = count(statuses={"2xx": 12_000}, right=right(status=302), received_bytes=None)
    assert (actual.good_at_least, actual.good_at_most) == (0, 8000)
    error = count(**told_good(19_000), right=right(status=500), received_bytes=None)
    assert (error.good_at_least, error.good_at_most) == (0, 1000)


def test_bodies_of_a_wrong_length_are_not_good() -> None:
    pairs = ((1000, 19_980), (59, 15))
    bodies = [{"status": 200, "length": length, "responses": n} for length, n in pairs]
    actual = count(statuses={"200": 20_000}, bodies=bodies)
    # Of five the tool kept no length.
    assert (actual.good_at_least, actual.good_at_most) == (19_980, 19_985)
    assert actual.errors["length"] == 15
    free = right(shortest=0, longest=None)
    assert count(statuses={"200": 20_000}, bodies=bodies, right=free).good == 20_000


def test_a_script_of_ones_own_is_judged_by_the_tool() -> None:
    actual = reading(own_requests=True, statuses={})
    assert counted(trial(reading=actual), actual, right(), LIMITS) == actual


MANY = st.integers(0, 500)


@given(MANY, MANY, st.integers(0, 100), st.sampled_from([200, 302, 500]))
def test_bounds_hold_whatever_is_told(fine: int, moved: int, bad: int, status: int) -> None:
    """Of whatever a tool tells of the same load, the truth lies within the bounds."""
    total = fine + moved + bad
    if not total:
        return
    truth = {200: fine, 302: moved, 500: bad}[status]
    for statuses in (
        {"200": fine, "302": moved, "500": bad},
        {"2xx": fine, "3xx": moved},
        {"2xx": fine},
        {"100-399": fine + moved, "400-999": bad},
        {},
    ):
        fields: dict[str, Any] = {"responses": total, **told_good(fine + moved)}
        fields |= {"received_bytes": None, "statuses": statuses}
        actual = count(**fields, right=right(status=status))
        assert actual.good_at_least <= truth <= actual.good_at_most


def test_a_key_of_statuses_is_what_it_says() -> None:
    assert list(span("204")) == [204]
    assert (span("3xx")[0], span("3xx")[-1]) == (300, 399)
    assert (span("100-399")[0], span("100-399")[-1]) == (100, 399)
