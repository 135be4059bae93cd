"""The percentile that a part's name says: names come from plugins and from results of anybody."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchforge.model.values.units import percentile


@pytest.mark.parametrize(
    ("name", "percent"), [("p50", 50.0), ("p99.9", 99.9), ("p0", 0.0), ("p100", 100.0)]
)
def test_a_percentile_is_what_its_name_says(name: str, percent: float) -> None:
    assert percentile(name) == percent


@pytest.mark.parametrize(
    "name", [None, "", "p", "mean", "p.", "p1.2.3", "p101", "p99.", "p-1", f"p{'9' * 400}", "p٩٩"]
)
def test_any_other_name_is_of_no_percentile(name: str | None) -> None:
    assert percentile(name) is None


@given(st.from_regex(r"p[0-9.]*", fullmatch=True))
def test_no_name_says_more_than_100(name: str) -> None:
    value = percentile(name)
    assert value is None or 0 <= value <= 100
