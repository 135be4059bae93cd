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
    call = bench("run", "--details", path, code=4)
    assert "expected 50 elements in $, got 3" in call.out.replace("\n", " "), call.all


def test_a_body_of_the_same_array_may_stand_beside_it(bench: Bench, tmp_path: Path) -> None:
    expect = 'expect = { items.data.rows = 2, body = \'{"data": {"rows": [1, 2]}}\' }'
    (tmp_path / "s.toml").write_text(suite(THREE, PACE, scenario=expect))
    bench("check", "s.toml", code=0)
