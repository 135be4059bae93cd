"""The claims of a suite: resolved to cases, or what is wrong with them, before anything starts."""
# ruff: noqa: E501 - faults stand here as they are printed

from pathlib import Path

import pytest
from front_door import Bench
from present import present
from suite_texts.files import suite_text

from benchforge.model.suite.claim import Claim
from benchforge.parts.registry import Registry
from benchforge.suite.cases.expand import expand
from benchforge.suite.claims.sides import of_cases
from benchforge.suite.load import load
from benchforge.suite.suite import Suite
from benchforge.suite.toml.faults import SuiteErrors

SUITE = suite_text("suite/claims/sides")

CLAIM = suite_text("suite/claims/sides_claim")


def suite(folder: Path, claim: str = CLAIM, **options: str) -> Suite:
    path = folder / "a.toml"
    path.write_text(SUITE + claim)
    return load(path, Registry(), **options)  # type: ignore[arg-type]


def only_claim(folder: Path, claim: str = CLAIM) -> Claim:
    (actual,) = suite(folder, claim).claims
    return actual


def test_each_side_is_one_case(tmp_path: Path) -> None:
    actual = only_claim(tmp_path)
    (request,) = actual.instances
    assert request.a.case.title == "hello · one · few · size=8 · threads=2"
    assert present(request.b).case.title == "hello · two · few · size=8"
    assert (actual.margin, actual.published) == (0.05, 7.17)
    assert Claim.model_validate_json(actual.model_dump_json()) == actual


def test_a_claim_is_asked_for_each_value(tmp_path: Path) -> None:
    text = CLAIM.replace('"path.size" = 8, ', "") + 'each = "path.size"\n'
    actual = only_claim(tmp_path, text).instances
    assert [item.at for item in actual] == [{"path.size": 4}, {"path.size": 8}]
    assert [item.a.case.vary["path.size"] for item in actual] == [4, 8]


def test_a_point_that_the_matrix_does_not_have_is_not_asked_for(tmp_path: Path) -> None:
    text = SUITE.replace("vary =", 'exclude = [{ "path.size" = 4 }]\nvary =')
    text += CLAIM.replace('"path.size" = 8, ', "") + 'each = "path.size"\n'
    (tmp_path / "a.toml").write_text(text)
    (actual,) = load(tmp_path / "a.toml", Registry()).claims
    assert [instance.at for instance in actual.instances] == [{"path.size": 8}]


def test_what_is_subtracted_is_as_its_side_but_for_what_it_names(tmp_path: Path) -> None:
    text = CLAIM.replace('b = { server = "two" }\n', "").replace("a > b", "a < 3/s")
    text = text.replace("= 2 } }", '= 2 }, minus = { loader = "more" } }').replace(MARGIN, "")
    (request,) = only_claim(tmp_path, text).instances
    assert present(request.a.minus).title == "hello · one · more · size=8 · threads=2"
    assert [case.driver for case in request.a.cases] == ["few", "more"]


def test_sides_of_other_scenarios_and_drivers(tmp_path: Path) -> None:
    text = CLAIM.replace('"two" }', '"two", scenario = "again" }')
    (request,) = only_claim(tmp_path, text).instances
    assert request.b is not None
    assert request.b.case.title == "again · two · few"
    text = CLAIM.replace('{ server = "two" }', '{ server = "two", client = "plain" }')
    (request,) = only_claim(tmp_path, text).instances
    assert present(request.b).case.driver == "plain"


def test_the_only_part_of_a_metric_need_not_be_named(tmp_path: Path) -> None:
    text = CLAIM.replace('metric = "throughput"', 'metric = "tail"')
    assert only_claim(tmp_path, text).of == "p99"
    text = CLAIM.replace('metric = "throughput"', 'metric = "errors"\nof = "timeout"')
    assert only_claim(tmp_path, text).of == "timeout"


MARGIN = 'margin = "5%"\n'


def test_a_profile_and_a_setting_reach_a_claim(tmp_path: Path) -> None:
    other = '[profiles.other]\nclaims.C.holds = "a < b"\nclaims.C.a.where = { "servers.one.threads" = 1 }\n'
    actual = suite(tmp_path, CLAIM + other, profile="other").claims[0]
    assert actual.hypothesis.relation == "<"
    assert actual.instances[0].a.case.vary["servers.one.threads"] == 1
    settings = [("claims.C.holds", '"a > 2 * b"')]
    actual = load(tmp_path / "a.toml", Registry(), settings=settings).claims[0]
    assert actual.hypothesis.bound == 2
    with pytest.raises(SuiteErrors, match=r"claims\.D is not declared"):
        load(tmp_path / "a.toml", Registry(), settings=[("claims.D.holds", "a > b")])


def test_a_claim_of_a_scenario_that_is_not_run_is_sound_and_not_asked(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text(SUITE + CLAIM)
    actual = load(path, Registry(), only=["again"])
    assert [claim.label for claim in actual.claims] == ["C"]
    assert actual.claims_to_test == ()
    assert of_cases(actual.claims, (case.name for case in expand(actual))) == ()
    path.write_text(SUITE + CLAIM.replace('"two"', '"tow"'))
    with pytest.raises(SuiteErrors, match="has no server 'tow'"):
        load(path, Registry(), only=["again"])


def test_the_cases_of_a_claim_are_those_of_the_result(tmp_path: Path) -> None:
    actual = suite(tmp_path)
    (claim,) = of_cases(actual.claims, (case.name for case in expand(actual)))
    names = [case.name for case in expand(actual)]
    assert all(case in names for case in claim.cases)
    assert all(case.digest for case in claim.cases)


def test_check_and_plan_count_them(bench: Bench, tmp_path: Path) -> None:
    each = CLAIM.replace("claims.C", "claims.D").replace('"path.size" = 8, ', "")
    (tmp_path / "a.toml").write_text(SUITE + CLAIM + each + 'each = "path.size"\n')
    assert "2 scenarios, 19 cases, 2 claims; needs" in bench("check", "a.toml").out
    assert "2 claims, 3 questions\n" in bench("plan", "a.toml").out
    planned = bench("plan", "a.toml", "--only", "again").out
    assert "0 claims, 0 questions; not tested here: C, D\n" in planned
