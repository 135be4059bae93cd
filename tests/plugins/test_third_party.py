"""A package of somebody else: installed beside benchforge, its parts are as good as ours."""

import json
import shutil
import sys
from pathlib import Path

import pytest
from front_door import Bench, captured, needed
from installed import ROOT, Installed, built, installed, uv
from present import present

from benchforge.model.files.folder import read_trials

pytestmark = pytest.mark.network

EXAMPLE = ROOT / "docs/examples/benchforge-httperf"
OUTSIDER = ROOT / "tests/programs/outsider"
SUITE = "examples/httperf.toml"
SHORT = ["--set", "repeat.blocks=1", "--set", "repeat.warmup=0s"]


@pytest.fixture(scope="module")
def author(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("author")
    example = built(EXAMPLE, folder)
    return installed(folder / "environment", wheel, f"{example}[bottle,test]")


@pytest.fixture
def own(author: Installed, tmp_path: Path) -> Bench:
    """Call the author's benchforge where the example's suite stands, without its package."""
    for name in ("examples", "tests"):
        shutil.copytree(EXAMPLE / name, tmp_path / name)
    return author.bench(tmp_path)


def test_its_own_tests_pass(own: Bench, author: Installed, tmp_path: Path) -> None:
    words = (author.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests")
    assert " passed" in author.run(*words, folder=tmp_path)


def test_its_parts_are_measured(own: Bench, tmp_path: Path) -> None:
    needed("httperf")
    ran = own("run", SUITE, *SHORT)
    assert ran.code == 4, ran.all  # wsgiref is a server for development: D1
    (result,) = tmp_path.glob("results/*")
    trials = {(trial.case.server, trial.case.driver): trial for trial in read_trials(result)}
    assert len(trials) == 4
    for server in ("wsgiref", "waitress"):
        reading = present(trials[server, "httperf"].reading)
        assert reading.responses + (reading.unanswered or 0) == 200
        assert reading.good
        assert present(trials[server, "httperf"].load).rate == 100
        # What it does not tell stays unknown.
        assert reading.percentiles_us is None
    report = (result / "report.md").read_text()
    assert "httperf" in report
    assert "waitress" in report
    assert own("validate", result).code == 0


def test_an_error_in_its_options_is_told_as_one_in_ours(own: Bench, tmp_path: Path) -> None:
    suite = tmp_path / SUITE
    suite.write_text(suite.read_text().replace("num_conns", "num_con"))
    actual = own("run", SUITE, code=2)
    assert f"{SUITE}:21:1: loaders.httperf.num_con: unknown option" in actual.err
    assert "did you mean 'num_conns'?" in actual.err


@pytest.mark.parametrize("part", ["loader-httperf", "server-bottle"])
def test_it_is_listed_as_ours_are(own: Bench, part: str) -> None:
    assert part.partition("-")[2] in own("plugins", "list").out
    assert "benchforge-httperf" in own("plugins", "show", part).out


def test_the_schema_has_its_options(own: Bench, tmp_path: Path) -> None:
    assert own("schema", "-o", "examples/suite.schema.json").code == 0
    suite = tmp_path / SUITE
    for tool, *options in (["tombi", "lint", "--offline"], ["taplo", "lint"]):
        words = [str(Path(sys.executable).with_name(tool)), *options, str(suite)]
        captured(words, cwd=tmp_path, check=True)
        right = suite.read_text()
        suite.write_text(right.replace("num_conns", "num_con"))
        finished = captured(words, cwd=tmp_path)
        assert finished.returncode != 0
        assert "httperf.toml:21:" in finished.stdout + finished.stderr
        suite.write_text(right)


@pytest.fixture(scope="module")
def outsider(author: Installed, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Install a part of each kind, built in a folder that is not of the repository."""
    source = tmp_path_factory.mktemp("outsider") / "source"
    shutil.copytree(OUTSIDER, source)
    package = built(source, source / "dist")
    uv("pip", "install", "--quiet", "--no-deps", "--python", author.python, package)
    return author


def test_a_part_of_each_kind_and_a_command_are_listed_and_used(
    outsider: Installed, tmp_path: Path
) -> None:
    run = outsider.bench(tmp_path)
    listed = json.loads(run("plugins", "list", "--json").out)
    origins = {row["name"]: row["broken"] for row in listed if "outsider" in row["origin"]}
    parts = ("server-reader", "backend-notes", "loader-knock", "metric-answers")
    assert origins == dict.fromkeys((*parts, "reporter-failures"), "")
    shutil.copy(OUTSIDER / "suite.toml", tmp_path)
    run("run", "suite.toml", "--report", "failures", code=0)
    (result,) = tmp_path.glob("results/*")
    (trial,) = read_trials(result)
    reading = present(trial.reading)
    assert reading.good
    values = json.loads((result / "summary.json").read_text())["cases"][0]["metrics"]
    assert [value["median"] for value in values] == [reading.responses]
    assert '<testcase classname="reader" name="1">' in (result / "failures.xml").read_text()
    assert run("verify", result).code == 0
    greeted = run("greet", "you")
    assert (greeted.code, greeted.out) == (7, "hello you\n")
    assert "greet" in run("--help").out.partition("More commands:")[2]
