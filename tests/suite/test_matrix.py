"""What is looked at once for all points that say the same: as if every point had been walked."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue
from suite_texts.files import suite_text

from benchforge.parts.registry import Registry
from benchforge.plugin import Server
from benchforge.suite.cases.expand import expand
from benchforge.suite.cases.parts import distinct_parts
from benchforge.suite.load import load
from benchforge.suite.matrix import Matrix, Projection, projected
from benchforge.suite.suite import Scenario, Suite

PATHS: tuple[str, ...] = ("a.x", "b.y", "c.z")
AXES: st.SearchStrategy[str] = st.sampled_from(PATHS)
ANY: list[JsonValue] = [1, 1.5, "1", True, "x"]
VALUES = st.sampled_from(ANY)
POINTS: st.SearchStrategy[dict[str, JsonValue]] = st.dictionaries(AXES, VALUES, max_size=3)


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    distinct = st.lists(VALUES, min_size=1, max_size=4, unique_by=json.dumps)
    vary = draw(st.dictionaries(AXES, distinct, max_size=3))
    excluded = []
    if vary:
        chosen = st.lists(st.sets(st.sampled_from(list(vary)), min_size=1), max_size=4)
        excluded = [{path: draw(st.sampled_from(vary[path])) for path in it} for it in draw(chosen)]
    include = draw(st.lists(POINTS, max_size=3))
    return Scenario(servers=("one",), vary=vary, exclude=excluded, include=include)


def walked(scenario: Scenario) -> Iterator[dict[str, JsonValue]]:
    """All points, the plain way."""
    for values in product(*scenario.vary.values()):
        point = dict(zip(scenario.vary, values, strict=True))
        if not any(item.items() <= point.items() for item in scenario.exclude):
            yield point
    yield from scenario.include


def of(point: dict[str, JsonValue] | object, paths: set[str]) -> str:
    assert isinstance(point, dict)
    return json.dumps({path: point[path] for path in sorted(point) if path in paths})


@given(scenarios())
def test_numbers_name_the_points_in_order(scenario: Scenario) -> None:
    matrix = Matrix(scenario)
    points = [matrix.point(number, PATHS) for number in matrix.numbers()]
    assert list(map(json.dumps, points)) == list(map(json.dumps, walked(scenario)))


@given(scenarios(), st.sets(AXES))
def test_projected_is_part_of_some_point(scenario: Scenario, paths: set[str]) -> None:
    actual = [of(point, paths) for point in projected(scenario, paths)]
    assert set(actual) == {of(point, paths) for point in walked(scenario)}
    combined = len(actual) - len(scenario.include)
    assert len(set(actual[:combined])) == combined


@given(scenarios(), st.sets(AXES))
def test_points_have_one_key_where_they_say_the_same(scenario: Scenario, paths: set[str]) -> None:
    matrix = Matrix(scenario)
    projection = Projection(matrix, paths)
    keys: dict[str, set[int]] = {}
    for number in matrix.numbers():
        key = projection.key(number)
        assert 0 <= key < projection.size
        output = of(matrix.point(number, paths), set(PATHS))
        assert of(projection.point(key), paths) == output
        keys.setdefault(output, set()).add(key)
    assert all(len(of_said) == 1 for of_said in keys.values())
    assert len(set.union(set(), *keys.values())) == len(keys)


SUITE = suite_text("suite/matrix")


def loaded(folder: Path) -> Suite:
    (folder / "suite.toml").write_text(SUITE)
    return load(folder / "suite.toml", Registry())


def test_the_cases_of_a_matrix_are_the_ones_that_results_on_disk_have(tmp_path: Path) -> None:
    cases = list(expand(loaded(tmp_path)))
    titles = [f"{case.name.title} {case.name.arm}" for case in cases]
    digest = hashlib.sha256("\n".join(titles).encode()).hexdigest()
    assert len(titles) == 116
    assert digest == "4c4d0064cfe67953f94ff54547f44e34727f0cdbda263eabc89cc20138dfe5b1"
    assert len({case.name.title for case in cases}) == len(cases)
    assert titles[-1] == "again · same · w 2"


def what_it_is(server: Server, upstreams: Mapping[str, Server], folder: Path) -> list[JsonValue]:
    behind = [what_it_is(upstreams[label], upstreams, folder) for label in server.upstreams()]
    options = server.model_dump(mode="json", exclude={"upstream", "upstreams", "ref"})
    return [server.kind, server.name, options, server.fingerprint(folder), *behind]


def test_a_digest_is_of_the_json_of_all_that_a_case_is(tmp_path: Path) -> None:
    arms: Counter[tuple[str, str]] = Counter()
    for case in expand(loaded(tmp_path)):
        driver = case.driver
        options = driver.model_dump(mode="json")
        subject = {
            "server": what_it_is(case.server, dict(case.upstreams), tmp_path),
            "backends": [],
            "driver": [driver.kind, driver.name, options, driver.fingerprint(tmp_path)],
            "request": case.request.model_dump(mode="json"),
            "expect": case.expect.model_dump(mode="json", exclude={"body_matches"}),
            "warm_up_s": 1.0,
            "tuning": case.tuning.model_dump(mode="json"),
        }
        text = json.dumps(subject, sort_keys=True)
        assert case.name.digest == hashlib.sha256(text.encode()).hexdigest()[:16]
        arms[case.name.scenario, case.name.digest] += 1
        assert case.name.arm == arms[case.name.scenario, case.name.digest]


def test_a_case_is_found_by_its_number(tmp_path: Path) -> None:
    cases = expand(loaded(tmp_path))
    assert [cases[number] for number in range(len(cases))] == list(cases)
    for beyond in (-1, len(cases)):
        with pytest.raises(IndexError):
            cases[beyond]


def test_distinct_parts_are_those_of_all_cases(tmp_path: Path) -> None:
    suite = loaded(tmp_path)
    parts = list(distinct_parts(suite))
    in_cases = [part for case in expand(suite) for part in case.parts]
    assert all(part in in_cases for part in parts)
    assert all(part in parts for part in in_cases)
    # a 5, same 4, front 3, top 1, w 3, c 1: each label with what varies of it, once.
    assert len(parts) == 17
