"""What a claim says to hold, from text to a question."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchforge.model.suite.claim import Hypothesis
from benchforge.suite.claims.read import question
from benchforge.suite.toml.bound import NoBound

UNITS = ["s", "B", "B/s", "requests/s", "1", "parsecs"]


def asked(text: str, unit: str = "s") -> tuple[str, str, float, float | None]:
    actual = question(text, unit)
    return actual.form, actual.relation, actual.bound, actual.tolerance


@pytest.mark.parametrize(
    ("text", "unit", "expected"),
    [
        ("a > b", "s", ("ratio", ">", 1, None)),
        ("a<b", "s", ("ratio", "<", 1, None)),
        (" a >= 2 * b ", "s", ("ratio", ">=", 2, None)),
        ("a <= .5*b", "s", ("ratio", "<=", 0.5, None)),
        ("a == b +- 3%", "s", ("ratio", "==", 1, 0.03)),
        ("a == 2 * b ± 5 %", "s", ("ratio", "==", 2, 0.05)),
        ("a - b < 2ms", "s", ("difference", "<", 0.002, None)),
        ("a-b > -1.5e1 us", "s", ("difference", ">", -15e-6, None)),
        ("a - b == 2s +- 50ms", "s", ("difference", "==", 2, 0.05)),
        ("a < 25ms", "s", ("value", "<", 0.025, None)),
        ("a < 25", "s", ("value", "<", 25, None)),
        ("a <= 0.1%", "1", ("value", "<=", 0.001, None)),
        ("a == 5 +- 10%", "1", ("value", "==", 5, 0.5)),
        ("a == -5 +- 10%", "1", ("value", "==", -5, 0.5)),
        ("a > 20k/s", "requests/s", ("value", ">", 20_000, None)),
        ("a > 20 requests/s", "requests/s", ("value", ">", 20, None)),
        ("a < 64MiB", "B", ("value", "<", 64 * 2**20, None)),
        ("a > 3MB/s", "B/s", ("value", ">", 3e6, None)),
        ("a < 3 parsecs", "parsecs", ("value", "<", 3, None)),
    ],
)
def test_each_form(text: str, unit: str, expected: tuple[str, str, float, float | None]) -> None:
    form, relation, bound, tolerance = asked(text, unit)
    assert (form, relation) == expected[:2]
    assert bound == pytest.approx(expected[2])
    assert tolerance == (None if expected[3] is None else pytest.approx(expected[3]))


@pytest.mark.parametrize(
    ("text", "unit", "message", "hint"),
    [
        ("", "s", "'' is not a condition", "write one of: a > b,"),
        ("a = b", "s", "is not a condition", "write a == b +- 3%"),
        ("a != b", "s", "is not a condition", "write a == b +- 3%"),
        ("b > a", "s", "is not a condition", "`a` comes first"),
        ("a > c", "s", "is not a condition", "write one of"),
        ("a > b; a", "s", "is not a condition", "write one of"),
        (
            "a == b",
            "s",
            "two measurements are never exactly equal",
            "give a tolerance: a == b +- 3%",
        ),
        ("a > b +- 3%", "s", "> has no tolerance", "write =="),
        ("a == b +- 3ms", "s", "the tolerance of a ratio is a share", "+- 3%"),
        ("a == b +- 0%", "s", "a tolerance is above 0, not 0", "+- 3%"),
        ("a == 0 +- 3%", "s", "no share of 0 is a tolerance", "give it in s"),
        ("a > 0 * b", "s", "a factor is above 0, not 0", "a >= 2 * b"),
        ("a > -2 * b", "s", "a factor is above 0, not -2", "a >= 2 * b"),
        ("a - b > b", "s", "a difference is compared with a number", "write one of"),
        ("a < 25 kB", "s", "the metric is in s, not in 'kB'", "bare number or: s, us"),
        ("a < 3%", "s", "the metric is in s, not in '%'", "ms"),
        ("a < 25 msec", "s", "the metric is in s, not in 'msec'", "did you mean 'ms'?"),
        ("a < 3s", "1", "the metric is in bare numbers, not in 's'", "%"),
        ("a < 1e999", "s", "1e999 is beyond all numbers", "smaller"),
        ("a < 1e308 min", "s", "1e+308 min is beyond all numbers", "smaller"),
        ("a < nan", "s", "is not a condition", "write one of"),
        ("a > 9" + "9" * 300, "s", "is not a condition", "write one of"),
    ],
)
def test_what_is_no_question_says_why(text: str, unit: str, message: str, hint: str) -> None:
    with pytest.raises(NoBound) as caught:
        question(text, unit)
    actual, advice = caught.value.message, caught.value.hint
    assert message in actual
    assert hint in advice


PIECES = st.sampled_from(
    [
        *("a", "b", "-", "+-", "±", ">", "<", ">=", "<=", "==", "=", "*", "2", "0"),
        *("1e400", ".", "%"),
        *("ms", "s", "/s", "MB", " ", "1e-400", "-3", "x", "\n", "µs", "²", "٣"),
    ]
)


@given(st.lists(PIECES, max_size=12).map("".join) | st.text(max_size=40), st.sampled_from(UNITS))
def test_any_text_is_a_sound_question_or_is_refused(text: str, unit: str) -> None:
    try:
        actual = question(text, unit)
    except NoBound as error:
        message, hint = error.message, error.hint
        assert message
        assert hint
        return
    assert isinstance(actual, Hypothesis)
    assert math.isfinite(actual.bound)
    assert actual.form != "ratio" or actual.bound > 0
    assert (actual.tolerance is not None) == (actual.relation == "==")
    assert question(actual.text, unit) == actual
    assert not re.search(r"[²٣\n]", actual.text)
