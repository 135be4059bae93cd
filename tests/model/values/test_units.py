"""Quantities as a person writes them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from benchforge.model.values.units import Duration, Quantity, Rate, Size, percentile

KINDS: list[type[Quantity]] = [Duration, Size, Rate]


class Options(BaseModel):
    """What a part declares."""

    duration: Duration = Duration(0)
    size: Size = Size(0)
    rate: Rate = Rate(0)


@pytest.mark.parametrize(
    ("field", "written", "meant"),
    [
        *(("duration", "30s", 30), ("duration", "500ms", 0.5), ("duration", "250 us", 0.00025)),
        *(("duration", "250µs", 0.00025), ("duration", "2m", 120), ("duration", "1.5h", 5400)),
        *(("duration", 3, 3), ("duration", 0.25, 0.25), ("size", "64KiB", 65536)),
        *(("size", "10MB", 10_000_000), ("size", "1GiB", 2**30), ("rate", "20k/s", 20_000)),
        *(("rate", "30/min", 0.5), ("rate", " 500/s ", 500)),
    ],
)
def test_what_a_person_writes_is_understood(field: str, written: object, meant: float) -> None:
    assert getattr(Options.model_validate({field: written}), field) == pytest.approx(meant)


TEXTS = ["", "s", "10", "-1s", "1e3s", "10 parsecs", "10s 5", "nan", "9" * 400 + "s"]
VALUES: list[object] = [True, None, -1, float("nan"), float("inf"), [], {}]


@pytest.mark.parametrize("written", [*TEXTS, *VALUES])
@pytest.mark.parametrize("kind", KINDS)
def test_other_texts_and_values_are_refused_with_what_is_wanted(
    kind: type[Quantity], written: object
) -> None:
    with pytest.raises(ValidationError, match="should be a"):
        Options.model_validate({kind.__name__.lower(): written})


@pytest.mark.parametrize("written", ["366h", 366 * 86400, "8784h"])
def test_a_duration_may_be_a_year(written: object) -> None:
    assert Duration.parse(written) <= 366 * 86400


@pytest.mark.parametrize("written", ["8785h", 1e308, 10**400, "99999999999h"])
def test_a_longer_duration_is_told_how_long_it_may_be(written: object) -> None:
    with pytest.raises(ValidationError, match="should be a year at most"):
        Options.model_validate({"duration": written})


@given(st.sampled_from(KINDS), st.data(), st.integers(0, 8000))
def test_a_unit_is_a_factor(kind: type[Quantity], data: st.DataObject, number: int) -> None:
    unit = data.draw(st.sampled_from(sorted(kind.units)))
    assert kind.parse(f"{number}{unit}") == number * kind.units[unit]
    assert kind.parse(f"{number} {unit}") == kind.parse(f"{number}{unit}")


@given(st.sampled_from(KINDS), st.text())
def test_any_text_is_refused_or_not_negative(kind: type[Quantity], text: str) -> None:
    try:
        got = Options.model_validate({kind.__name__.lower(): text})
    except ValidationError:
        return
    assert min(got.duration, got.size, got.rate) >= 0


@given(st.sampled_from(KINDS), st.text() | st.sampled_from(["0.5", "3", "3.", ".5", "1e3", "٣"]))
def test_a_word_of_the_command_line_may_be_a_plain_number(kind: type[Quantity], word: str) -> None:
    quantity = kind.typed(word)
    if re.fullmatch(r"[0-9]+\.?[0-9]*|\.[0-9]+", word):
        assert quantity == (float(word) if float(word) <= kind.most else None)
    elif quantity is not None:
        assert quantity == kind.parse(word)


LETTERS = "0123456789.msuhinkKMGBi/µ \t٣-+e"


@given(st.floats(0, 3e7, allow_nan=False))
def test_it_is_written_as_a_number_and_read_again(number: float) -> None:
    options = Options(duration=Duration(number))
    assert Options.model_validate_json(options.model_dump_json()) == options


def test_whole_numbers_are_shown_whole() -> None:
    assert [str(Duration(10)), f"{Duration(10)}s", f"{Duration(0.5)}s"] == ["10", "10s", "0.5s"]
    assert f"{Duration(2.5):.2f}" == "2.50"
    assert repr(Size(1e6)) == "Size(1000000)"
    assert Options(duration=Duration(10)).model_dump() == {"duration": 10, "size": 0, "rate": 0}


@given(st.sampled_from(["duration", "size", "rate"]), st.text(LETTERS, max_size=8))
def test_the_schema_takes_what_is_understood(name: str, text: str) -> None:
    schema = Options.model_json_schema()["properties"][name]
    assert schema["type"] == ["number", "string"]
    try:
        Options(**{name: text})  # type: ignore[arg-type]
    except ValidationError:
        assert not re.search(schema["pattern"], text)
    else:
        assert re.search(schema["pattern"], text)


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
