"""Numbers, sizes, durations, shares and lists of names as people read them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchforge.text.readable import (
    IN_REACH,
    amount,
    amounts,
    blocks_that_tell,
    change,
    conjoined,
    counted,
    cut,
    exact,
    figure,
    fitted,
    listed,
    percent,
    scale,
    spoken,
    times,
    too_many,
)

UNITS = {
    "s": {"s": 1, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9},
    "B": {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12},
    "B/s": {"B/s": 1, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9},
}
SIZES = st.floats(1e-9, 1e14) | st.integers(1, 10**14)
NAMES = st.lists(st.text("abc", min_size=1), min_size=1)


def number(text: str) -> float:
    return float(text.replace(",", ""))


def in_base(text: str, unit: str) -> float:
    value, name = text.split(" ")
    return number(value) * UNITS[unit][name]


@pytest.mark.parametrize(
    ("unit", "value", "text"),
    [
        ("B", 524_288, "524 kB"),
        ("B", 1.5e9, "1.5 GB"),
        ("B", 1_499_600_000, "1.50 GB"),
        ("B", 999_999, "1.00 MB"),
        ("B", 512, "512 B"),
        ("B", 0, "0 B"),
        ("B/s", 999.0, "999 B/s"),
        ("apples", 1e-9, "1e-9 apples"),
        ("s", 0.000351, "351 µs"),
        ("s", 5e-07, "500 ns"),
        ("s", 0.0999996, "100 ms"),
        ("s", 90, "90 s"),
        ("us", 1500, "1.5 ms"),
        ("req/s", 999.6, "1,000 req/s"),
        ("req/s", 12_345, "12,340 req/s"),
        ("1", 0.25, "0.25"),
    ],
)
def test_an_amount_has_one_text(unit: str, value: float, text: str) -> None:
    assert amount(unit, value) == text


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (figure(9.996), "10.0"),
        (figure(0.00001234), "1.23e-5"),
        (figure(-1234.5), "-1,234"),
        (times(1.00049), "1.000"),
        (exact(12_345_678_901_234), "12,345,678,901,234"),
        (exact(0.1 + 0.2), "0.3"),
        (exact(None), "unknown"),
        (percent(0.03121), "3.12 %"),
        (percent(0.07), "7 %"),
        (percent(9.8 / 10), "98 %"),
        (percent(0.99996), "99.996 %"),
        (percent(1), "100 %"),
        (change(-0.05), "-5 %"),
        (change(0.0312), "+3.12 %"),
        (spoken(150), "2 min 30 s"),
        (spoken(59.6), "1 min"),
        (spoken(3900), "1 h 5 min"),
        (spoken(0.5), "500 ms"),
        (counted(1, "trial"), "1 trial"),
        (counted(1200, "trial"), "1,200 trials"),
        (too_many(1200, 1000, "rows"), "has 1,200 rows, and at most 1,000 are read"),
        (listed("abcd", 2), "a, b, and 2 more"),
        (listed([]), "none"),
        (conjoined("abc"), "a, b and c"),
        (conjoined("ab", "or"), "a or b"),
        (cut("abcdef", 3), "abc..."),
    ],
)
def test_examples(written: str, text: str) -> None:
    assert written == text


@given(SIZES, st.sampled_from(sorted(UNITS)))
def test_an_amount_reads_as_its_value_within_the_digits_shown(value: float, unit: str) -> None:
    assert in_base(amount(unit, value), unit) == pytest.approx(value, rel=0.0051, abs=6e-10)


@given(SIZES, SIZES, st.sampled_from(sorted(UNITS)))
def test_a_larger_amount_never_reads_as_a_smaller_one(item: float, two: float, unit: str) -> None:
    small, large = sorted([item, two])
    assert in_base(amount(unit, small), unit) <= in_base(amount(unit, large), unit) * (1 + 1e-12)


@given(st.floats(1, 9.9999e11), st.sampled_from(["B", "B/s"]))
def test_no_unit_reads_a_thousand_where_a_larger_one_fits(value: float, unit: str) -> None:
    output, name = amount(unit, value).split(" ")
    assert number(output) < 1000 or name == "GB/s"


@given(st.lists(SIZES, min_size=1, max_size=4))
def test_amounts_share_the_unit_of_the_largest(values: list[float]) -> None:
    assert amounts("B", *values)[-1].split(" ")[1] == amount("B", max(values)).split(" ")[1]


@given(st.floats(-1e300, 1e300))
def test_a_figure_has_no_more_digits_than_its_value(value: float) -> None:
    output = figure(value)
    digits = re.sub(r"e.*|\D", "", output).lstrip("0")
    assert number(output) == pytest.approx(value, rel=0.0051)
    assert len(digits.rstrip("0")) <= 4
    assert figure(-value) == (
        output.removeprefix("-") if value < 0 else f"-{output}" if value else "0"
    )


@given(st.integers())
def test_a_count_loses_no_digit(value: int) -> None:
    assert exact(value) == f"{value:,}" if abs(value) < 10**18 else number(exact(value))


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_shares_are_in_order_and_only_all_is_all(item: int, two: int) -> None:
    small, large = sorted([item / 10**9, two / 10**9])
    assert number(percent(small)[:-2]) <= number(percent(large)[:-2])
    assert (number(percent(small)[:-2]) == 100) == (small == 1)


@given(SIZES, SIZES)
def test_a_column_has_one_scale(item: float, two: float) -> None:
    column = scale("B", [item, two])
    small, large = sorted([item, two])
    assert number(column.text(small)) <= number(column.text(large))


@given(NAMES, st.integers(1, 20))
def test_a_list_says_how_many_names_it_leaves_out(names: list[str], most: int) -> None:
    output, _, more = listed(names, most).partition(", and ")
    number = int(more.split(" ")[0]) if more else 0
    assert output.split(", ") == names[:most]
    assert number + len(names[:most]) == len(names)


@given(st.text(), st.integers(1, 100))
def test_a_cut_text_shows_that_it_is_cut(text: str, most: int) -> None:
    output = cut(text, most)
    assert output == text or (output.endswith("...") and len(output) == most + 3)


@given(st.lists(st.tuples(st.integers(0, 3), NAMES)), st.integers(0, 12))
def test_the_most_dispensable_blocks_make_room(
    blocks: list[tuple[int, list[str]]], most: int
) -> None:
    lines = fitted(blocks, most)
    firm = [line for rank, names in blocks if rank == 0 for line in names]
    assert len(lines) <= max(most, len(firm))
    assert all(line in lines for line in firm)
    for rank in range(4):
        through = [line for block, names in blocks if block <= rank for line in names]
        if len(through) <= most:
            assert all(line in lines for line in through)


@pytest.mark.parametrize(
    ("needed", "measured", "text"),
    [
        (52, 6, "about 52 blocks would tell"),
        (4995, 100, "about 5,000 blocks would tell"),
        (IN_REACH * 8, 8, "about 800 blocks would tell"),
        (662_985, 100, "too near the limit for more blocks to tell"),
    ],
)
def test_blocks_that_nobody_measures_are_not_advised(needed: int, measured: int, text: str) -> None:
    assert blocks_that_tell(needed, measured) == text
