"""What is told of a part's options, for its documentation and for editors."""

import tomllib
from typing import Literal, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from benchforge.cli.plugins.options import Option, options, suite_in_toml
from benchforge.model.values.frozen import Frozen
from benchforge.model.values.units import Duration, Size
from benchforge.parts.kinds import Kind
from benchforge.parts.registry import Registry

PARTS: list[tuple[Kind, str]] = [
    (kind, name) for kind in get_args(Kind) for name in Registry().names(kind)
]


class Inherited(Frozen):
    wait: Duration = Duration(30)
    """How long it is waited for,
    at most."""


class Own(Inherited):
    argv: list[str] = Field(alias="command", min_length=1)
    "The words."
    mode: Literal["fast", "exact"] = "fast"
    limit: Size | None = None
    "Of all."
    settings: dict[str, bool | int] = Field(default_factory=lambda: {"a b": 1, "c": True})
    share: float = Field(default=0.5, gt=0, le=1, description="Said in the field.")


SIZE = 'a size such as "64KiB", "10MB" or a number of bytes'
WAIT = 'a duration such as "30s", "500ms" or a number of seconds'
SETTINGS = "a table of true or false or a whole number"


def test_each_option_is_told_as_a_suite_writes_it() -> None:
    assert options(Own) == [
        Option("command", "an array of text, 1 or more", True, "", "The words."),
        Option("mode", 'one of "fast", "exact"', False, '"fast"', ""),
        Option("limit", SIZE, False, "", "Of all."),
        Option("settings", SETTINGS, False, '{ "a b" = 1, c = true }', ""),
        Option("share", "a number, more than 0, at most 1", False, "0.5", "Said in the field."),
        Option("wait", WAIT, False, '"30s"', "How long it is waited for,\nat most."),
    ]


def test_a_class_without_source_has_options_without_docs() -> None:
    made = type("Made", (Frozen,), {"__annotations__": {"count": int}, "__module__": "nowhere"})
    assert options(made) == [Option("count", "a whole number", True, "", "")]


@pytest.mark.parametrize(("kind", "name"), PARTS, ids=map("-".join, PARTS))
def test_every_option_of_every_part_is_told(kind: Kind, name: str) -> None:
    cls = Registry().part(kind, name)
    actual = options(cls)
    names = {field.alias or label for label, field in cls.model_fields.items()}
    assert {item.name for item in actual} == names
    assert all(item.type and item.type != "any value" for item in actual)


_VALUES = st.recursive(
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


_TABLES = st.dictionaries(st.from_regex(r"[a-z-]+", fullmatch=True), _VALUES, max_size=3)


@given(st.dictionaries(st.text(), _VALUES | _TABLES, max_size=3))
def test_tables_of_a_suite_are_read_as_they_were(tables: dict[str, object]) -> None:
    assert tomllib.loads(suite_in_toml(tables)) == tables  # type: ignore[arg-type]
