"""What a JSON body contains, and how many elements its arrays have."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchforge.model.trial.answers.answer import Answer, Expect, difference

scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=3)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner),
    max_leaves=9,
)


def compared(expected: dict[str, Any], got: Any) -> str | None:
    body = json.dumps(got).encode()
    answer = Answer(status=200, headers={}, length=len(body), sha256="", seconds=0)
    return difference(Expect.model_validate(expected), answer, body)


def lengths(value: Any) -> Any:
    """Return the `items` of a value, as deep as arrays stand in objects; None without an array."""
    if isinstance(value, list):
        return len(value)
    if not isinstance(value, dict):
        return None
    inner = {key: lengths(member) for key, member in value.items()}
    return {key: length for key, length in inner.items() if length is not None} or None


def changed(items: Any, by: int) -> Any:
    """Return `items` with the length of their first array changed."""
    if isinstance(items, int):
        return items + by
    first, *_ = items
    return {**items, first: changed(items[first], by)}


@given(values)
def test_an_array_has_as_many_elements_as_are_counted(value: Any) -> None:
    items = lengths(value)
    if items is None:
        return
    assert compared({"items": items}, value) is None
    assert compared({"items": items, "json": value}, value) is None
    assert compared({"items": changed(items, 1)}, value)


@given(st.lists(values, max_size=5), st.integers(0, 5))
def test_json_names_the_first_of_as_many_elements(value: list[Any], named: int) -> None:
    first = value[:named]
    assert compared({"items": len(value), "json": first}, value) is None
    rows = {"items": {"rows": len(value)}, "json": {"rows": first}}
    assert compared(rows, {"rows": value}) is None
    assert (compared({"json": first}, value) is None) == (named >= len(value))
    assert compared({"items": len(value) + 1, "json": first}, value)


@pytest.mark.parametrize(
    ("expected", "got", "says"),
    [
        ({"items": 3}, [1, 2], "expected 3 elements in $, got 2"),
        ({"items": 1}, [], "expected 1 element in $, got 0"),
        ({"items": 3}, {"a": 1}, 'expected an array of 3 elements in $, got {"a": 1}'),
        ({"items": 0}, None, "expected an array of 0 elements in $, got null"),
        ({"items": {"a": {"b": 2}}}, {"a": {"b": [1]}}, "expected 2 elements in $.a.b, got 1"),
        ({"items": {"a": 2}}, {"b": []}, "expected $.a in the JSON, it is not there"),
        ({"items": {"a": 2}}, [1, 2], "expected an object in $, got [1, 2]"),
        ({"items": 2, "json": [3]}, [1, 3], "expected $[0] = 3, got 1"),
        ({"items": {"a": 1}, "json": {"b": [1]}}, {"a": [1], "b": [1, 2]}, "expected $.b"),
    ],
)
def test_what_differs_says_where(expected: dict[str, Any], got: Any, says: str) -> None:
    assert says in (compared(expected, got) or "")


def test_a_body_that_is_no_json_has_no_elements() -> None:
    answer = Answer(status=200, headers={}, length=4, sha256="", seconds=0)
    assert "expected JSON, got 'pong'" in (difference(Expect(items=1), answer, b"pong") or "")
