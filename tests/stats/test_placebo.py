"""The first case of each scenario once more: from the suite's option to what reports say."""

import json
from collections import Counter
from pathlib import Path

import pytest
from front_door import Bench, answering
from suite_texts.files import suite_text

from benchforge.model.summary.summary import Summary
from benchforge.model.trial.trial import Trial
from benchforge.parts.registry import Registry
from benchforge.suite.cases.expand import expand
from benchforge.suite.load import load

SUITE = suite_text("stats/placebo")


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    (tmp_path / "suite.toml").write_text(SUITE)
    return tmp_path / "suite.toml"


def test_each_scenario_has_its_first_case_once_more(suite: Path) -> None:
    names = [case.name for case in expand(load(suite, Registry()))]
    assert [name.title for name in names if name.placebo] == [
        "hello · one · few · placebo",
        "again · two · few · placebo",
    ]
    assert len(names) == 5 + 2
    for placebo in (name for name in names if name.placebo):
        twin = next(name for name in names if name.digest == placebo.digest)
        assert (twin.arm, twin.placebo, placebo.arm) == (1, False, 2)


def test_a_profile_without_placebo_has_the_cases_that_it_had(suite: Path) -> None:
    without = [case.name for case in expand(load(suite, Registry(), profile="quick"))]
    with_ = [case.name for case in expand(load(suite, Registry()))]
    assert without == [name for name in with_ if not name.placebo]


def test_a_server_named_twice_has_its_second_arm_and_a_placebo_beside(tmp_path: Path) -> None:
    text = SUITE.replace('servers = ["one", "two"]', 'servers = ["one", "same"]')
    same = '[servers.same]\nuse = "waitress"\napp = "hello_wsgi"\n'
    (tmp_path / "suite.toml").write_text(text + same)
    names = [case.name for case in expand(load(tmp_path / "suite.toml", Registry()))]
    arms = [(name.server, name.arm, name.placebo) for name in names if name.driver == "few"]
    assert arms[:3] == [("one", 1, False), ("same", 2, False), ("one", 3, True)]


def test_a_plan_shows_it_in_every_block(bench: Bench, suite: Path) -> None:
    plan = json.loads(bench("plan", str(suite), "--format", "json", "--only", "hello").out)
    (number,) = [n for n, item in enumerate(plan["cases"]) if item["case"]["placebo"]]
    assert Counter(n for block in plan["order"] for n in block["cases"])[number] == 3
    assert "one · few · placebo" in bench("plan", str(suite)).out


def test_a_run_measures_it_and_no_table_has_it(bench: Bench, suite: Path, tmp_path: Path) -> None:
    text = suite.read_text().replace('loaders = ["few", "more"]', 'loaders = ["few"]')
    inline = ", ".join(answering().splitlines())
    for app in ("hello_wsgi", "hello_flask"):
        text = text.replace(f'use = "waitress", app = "{app}"', inline)
    suite.write_text(text)
    out = tmp_path / "out"
    args = ("--set", "repeat.seed=1", "--only", "hello", "-o", str(out))
    first = bench("run", str(suite), *args, "--time-limit", "2")
    (result,) = out.iterdir()
    done = bench("run", "--resume", str(result)) if "--resume" in first.err else first
    assert done.code == 0, done.err
    bench("validate", str(result), code=0)
    summary = Summary.model_validate_json((result / "summary.json").read_bytes())
    assert not any(case.case.placebo for case in summary.cases)
    assert not any(case.placebo for group in summary.comparisons for case in group.cases)
    (placebo,) = summary.placebos
    assert (placebo.case.server, placebo.case.driver) == ("one", "few")
    assert placebo.repeated.trials == 3
    assert placebo.metric == "throughput"
    believed = placebo.ratio.n
    (check,) = [check for check in summary.checks if check.id == "S4"]
    assert check.status == ("unknown" if placebo.noise is None else check.status)
    trials = [
        Trial.model_validate_json(file.read_bytes())
        for file in (result / "trials").glob("*/trial.json")
    ]
    assert sum(trial.case.placebo for trial in trials) >= 3
    assert believed <= 3
    report = (result / "report.md").read_text()
    assert "placebo: " in report
    assert check.message.split(":")[0][:40] in report
    tables = [line for line in report.splitlines() if line.startswith("|")]
    assert not any("placebo" in line or "arm" in line for line in tables)
    assert "placebo" in (result / "raw.md").read_text()
    assert "9 of 9 planned" in report
