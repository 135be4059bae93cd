"""`items` of `expect`: how many elements a JSON array has, and what cannot be said so."""

import json
from pathlib import Path

import pytest
from front_door import Bench, answering
from planted.beside import PACE, suite

THREE = {"one": answering("--body", "[1, 2, 3]")}
INSIDE = {"one": answering("--body", '{{"data": {{"rows": [1, 2, 3]}}}}')}


@pytest.mark.samples(1)
@pytest.mark.parametrize(
    ("servers", "expect"),
    [(THREE, "items = 3"), (THREE, "items = 3, json = [1]"), (INSIDE, "items.data.rows = 3")],
)
def test_items_counted(bench: Bench, tmp_path: Path, servers: dict[str, str], expect: str) -> None:
    path = tmp_path / "s.toml"
    path.write_text(suite(servers, PACE, scenario=f"expect = {{ {expect} }}"))
    result = bench("run", path, code=0).result
    bench("validate", result, code=0)
    bench("verify", result, code=0)
    header = json.loads((result / "result.json").read_text())
    header["suite"] = header["suite"].replace(" = 3", " = 4")
    (result / "result.json").write_text(json.dumps(header))
    call = bench("verify", result, "--all", code=1)
    assert "is not what the suite expects: expected 4 elements in $" in call.all


def test_another_number_of_elements_is_a_wrong_answer(bench: Bench, tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(suite(THREE, PACE, scenario="expect = { items = 50 }"))
    call = bench("run", path, code=4)
    assert "expected 50 elements in $, got 3" in call.out.replace("\n", " "), call.all


@pytest.mark.parametrize(
    ("expect", "says"),
    [
        ("items = -1", "expect.items: expected at least 0 or a table, got -1"),
        ("items = '50'", "expect.items: expected a whole number or a table, got '50'"),
        ("items = true", "expect.items: expected a whole number or a table, got true"),
        ("items = [50]", "expect.items: expected a whole number or a table, got an array"),
        ("items = {}", "expect.items: the table is empty: name the arrays, as { rows = 50 }"),
        (
            "items.a.b = -1",
            "expect.items: a.b is -1: expected a whole number, at least 0, or a tab",
        ),
        (
            "items.a = 'x'",
            'expect.items: a is "x": expected a whole number, at least 0, or a table',
        ),
        ("items.a = {}", "expect.items: a is empty: name the arrays, as { rows = 50 }"),
        (
            "items = 1, body = 'pong'",
            "`body` is no answer with these `items`: expected JSON, got 'p",
        ),
        ("items = 1, body = '[1, 2]'", "with these `items`: expected 1 element in $, got 2"),
        ("items = 1, status = 204", "`items` counts elements of a body, and status 204 has none"),
        ("items = 1, status = 100", "`items` counts elements of a body, and status 100 has none"),
        ("items = 1, json = [1, 2]", "`items` gives $ 1 element, and `json` names 2"),
        ("items = 1, json = { a = 1 }", "`items` says that $ is an array, and `json` that it is {"),
        ("items.a = 1, json = [1]", "`items` says that $ is an object, and `json` that it is [1]"),
        (
            "items.a.b = 1, json.a = 2",
            "`items` says that $.a is an object, and `json` that it is 2",
        ),
    ],
)
def test_wrong_items_are_errors(bench: Bench, tmp_path: Path, expect: str, says: str) -> None:
    (tmp_path / "s.toml").write_text(suite(THREE, PACE, scenario=f"expect = {{ {expect} }}"))
    call = bench("check", "s.toml", code=2)
    assert says in call.err
    assert call.err.count("error: ") == 1, call.err
    lines = (tmp_path / "s.toml").read_text().splitlines()
    line = next(number for number, text in enumerate(lines, 1) if text.startswith("expect"))
    assert f"s.toml:{line}:" in call.err


@pytest.mark.parametrize(
    "request_of",
    ['request.method = "HEAD"', 'requests = { one = { path = "/", method = "HEAD" } }'],
)
def test_no_body_has_no_elements(bench: Bench, tmp_path: Path, request_of: str) -> None:
    text = suite(THREE, PACE, scenario="expect = { items = 3 }")
    (tmp_path / "s.toml").write_text(text.replace('request = { path = "/ping" }', request_of))
    call = bench("check", "s.toml", code=2)
    assert "expect: `items` counts elements of a body, and an answer to HEAD has none" in call.err


def test_a_body_of_the_same_array_may_stand_beside_it(bench: Bench, tmp_path: Path) -> None:
    expect = 'expect = { items.data.rows = 2, body = \'{"data": {"rows": [1, 2]}}\' }'
    (tmp_path / "s.toml").write_text(suite(THREE, PACE, scenario=expect))
    bench("check", "s.toml", code=0)
