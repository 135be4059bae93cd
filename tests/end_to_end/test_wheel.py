"""What people install: everything is in it, nothing else is, and it needs no more than Python."""

import tarfile
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest
from front_door import Bench
from installed import ROOT, Installed, build, installed

from benchforge.cli.app import _COMMANDS

pytestmark = pytest.mark.network

PLACES = {"benchforge": "benchforge", "suites": "benchforge/suites"} | {
    str(package.relative_to(ROOT)): package.name for package in ROOT.glob("plugins/*/benchforge_*")
}
SHORT = ["--set", "repeat.blocks=1", "--set", "loaders.closed.duration=1s"]


def files_of(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as opened:
        return {name: opened.read(name) for name in opened.namelist() if "dist-info" not in name}


def files_of_the_tree() -> dict[str, bytes]:
    return {
        f"{path}/{file.relative_to(ROOT / folder)}": file.read_bytes()
        for folder, path in PLACES.items()
        for file in (ROOT / folder).rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }


@pytest.fixture(scope="module")
def bare(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return installed(tmp_path_factory.mktemp("bare") / "environment", wheel)


@pytest.fixture
def user(bare: Installed, tmp_path: Path) -> Bench:
    return bare.bench(tmp_path)


def test_a_wheel_holds_every_file_of_the_packages_and_no_other(wheel: Path) -> None:
    assert files_of(wheel) == files_of_the_tree()
    with zipfile.ZipFile(wheel) as opened:
        (licence,) = [name for name in opened.namelist() if name.endswith("/LICENSE")]
        assert opened.read(licence) == (ROOT / "LICENSE").read_bytes()


def test_the_index_can_show_the_readme_and_the_versions(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as opened:
        (name,) = [item for item in opened.namelist() if item.endswith(".dist-info/METADATA")]
        about = message_from_bytes(opened.read(name))
    assert about["Description-Content-Type"] == "text/markdown"
    assert str(about.get_payload()).startswith("# benchforge\n")
    classifiers = about.get_all("Classifier", [])
    tested = {f"Programming Language :: Python :: 3.{minor}" for minor in range(11, 15)}
    assert tested <= {*classifiers}


def test_the_source_distribution_builds_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    build(ROOT, tmp_path)  # a wheel of the source distribution, not of the tree
    (from_source,) = tmp_path.glob("*.whl")
    assert files_of(from_source) == files_of(wheel)
    (source,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(source) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    assert {"LICENSE", "README.md", "tests/end_to_end/test_wheel.py"} <= names
    assert not [name for name in names if name.startswith((".venv", ".tools", "results"))]
    recorded = [name for name in names if name.startswith(("tests/outputs/", "docs/examples/"))]
    assert not [name for name in recorded if name.endswith("recording.json")]


@pytest.mark.parametrize("command", _COMMANDS)
def test_an_installed_command_tells_what_it_does(user: Bench, command: str) -> None:
    assert f"Usage: benchforge {command}" in user(command, "--help", code=0).out


def test_a_user_without_anything_else_gets_numbers(user: Bench) -> None:
    user("new", "suite", code=0)
    result = user("run", "suite.toml", *SHORT, code=0).result
    report = (result / "report.md").read_text()
    assert "threads" in report
    assert "1 of 1" in report
    user("validate", result, code=0)


def test_a_suite_of_the_wheel_can_be_read(user: Bench) -> None:
    user("new", "suite", "--from", "api-hour", code=0)
    ran = user("run", "suite.toml", "--only", "index", code=3)
    assert "pip install '.[servers]', in a clone of benchforge" in ran.err


@pytest.mark.samples(2)
@pytest.mark.parametrize("suite", sorted(file.stem for file in (ROOT / "suites").rglob("*.toml")))
def test_each_app_and_dataset_is_installed(bare: Installed, tmp_path: Path, suite: str) -> None:
    bare.bench(tmp_path)("new", "suite", "--from", suite, code=0)
    code = """
from benchforge.parts.registry import Registry
from benchforge.suite.load import load

print(len(load("suite.toml", Registry()).scenarios))
"""
    assert int(bare.run(bare.python, "-c", code, folder=tmp_path)) > 0
