"""What a right answer is: its status, its decoded body, a pattern, and the length that binds."""

import gzip
import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made.observed import answer, probes
from pydantic import ValidationError

from benchforge.model.trial.answers.answer import Answer, Decoded, Expect, Request, difference
from benchforge.model.trial.answers.good_response import right_of
from benchforge.model.trial.answers.json_body import LONGEST, SEARCHED, matches

LENGTHS = st.integers(1, 99)


def wrong(body: bytes, answered: int = 200, **expected: object) -> str | None:
    got = answer(status=answered, length=len(body))
    return difference(Expect.model_validate(expected), got, body)


def test_one_of_several_statuses_is_right() -> None:
    assert wrong(b"", 201, status=[200, 201]) is None
    assert wrong(b"", 204, status=[200, 201]) == "expected status 200 or 201, got 204"


def test_a_pattern_is_found_in_a_body() -> None:
    assert wrong(b'{"id": 4711}', body_matches=r'^\{"id": \d+\}$') is None
    text = "expected a body that matches '\\\\d', got 'none'"
    assert wrong(b"none", body_matches=r"\d") == text
    late = b"x" * SEARCHED + b"7"
    assert "in its first 65,536 bytes" in (wrong(late, body_matches=r"\d") or "")


@pytest.mark.parametrize("pattern", ["(a", "a" * (LONGEST + 1), "(?<=a*)b", "a{9999999999}"])
def test_what_is_no_pattern_is_an_error(pattern: str) -> None:
    with pytest.raises(ValidationError):
        Expect(body_matches=pattern)


def test_a_search_without_end_is_ended() -> None:
    body = b"a" * 5000
    actual = wrong(body, body_matches="(a+)+$b")
    assert actual == "body_matches '(a+)+$b': it was not found in 1 s of CPU time"
    assert matches("a+", body)  # and the next one has its own time


def test_what_was_sent_is_told_of_a_compressed_answer() -> None:
    text = b'{"rows": []}'
    sent = gzip.compress(text)
    decoded = Decoded(length=len(text), sha256=hashlib.sha256(text).hexdigest())
    got = answer(length=len(sent), headers={"content-encoding": "gzip"}, decoded=decoded)
    assert difference(Expect(items={"rows": 0}, length=len(sent)), got, text) is None
    says = f"expected 1 element in $.rows, got 0 ({len(sent)} bytes of gzip, 12 decoded)"
    assert difference(Expect(items={"rows": 1}), got, text) == says


def test_a_body_that_cannot_be_decoded_is_wrong_where_it_decides() -> None:
    got = answer(undecoded="cannot be decoded")
    assert difference(Expect(items=1), got, b"?") == "cannot be decoded"
    assert difference(Expect(), got, b"?") is None


def bound(*answers: Answer, method: str = "GET", second: int = 5, **expected: object) -> object:
    request = Request.model_validate({"method": method})
    observed = probes(*answers, after=second)
    right = right_of(Expect.model_validate(expected), request, answers[:1], observed)
    return right.binding, bool(right.doubt)


@given(LENGTHS, LENGTHS)
def test_a_length_binds_where_the_answers_on_both_sides_agree(first: int, second: int) -> None:
    pair = answer(length=first), answer(length=second)
    assert bound(*pair) == (first == second, False)
    assert bound(*pair, second=0) == (False, True)
    assert bound(*pair, method="POST") == (False, True)
    assert bound(*pair, method="POST", length=first) == (True, False)
    assert bound(*pair, method="POST", same_body=True) == (first == second, False)
