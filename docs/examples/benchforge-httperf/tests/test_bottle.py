"""The server: its command line, and when its app is another one."""

import shutil
from pathlib import Path
from typing import ClassVar

import pytest
from benchforge_httperf.bottle import RUNNER, Bottle
from pydantic import ValidationError

from benchforge.plugin import Site
from benchforge.testing import PartContract

EXAMPLES = Path(__file__).parents[1] / "examples"
APPS = EXAMPLES / "apps"


class TestContract(PartContract):
    """Everything that a run asks of it is answered."""

    part = "server-bottle"
    options: ClassVar = {"app": "hello:app"}


def options(**more: str) -> Bottle:
    return Bottle.model_validate({"app": "hello:app", "directory": "apps", **more})


def test_the_runner_is_told_where_and_what() -> None:
    site = Site(
        label="mine",
        folder=Path("/nowhere"),
        scratch=Path("/nowhere"),
        address="127.0.0.1",
        ports={"http": 8000},
        python=Path("/usr/bin/python3"),
        programs={},
        backends={"db": {"url": "postgresql://", "DATABASE_URL": "postgresql://"}},
        suite_folder=EXAMPLES,
        as_root=False,
    )
    command = options(adapter="waitress").command(site)
    expected = (site.python, RUNNER, "127.0.0.1", 8000, APPS, "hello:app", "waitress")
    assert command.argv == tuple(map(str, expected))
    assert command.environment == {"DATABASE_URL": "postgresql://"}


def test_other_code_is_another_case(tmp_path: Path) -> None:
    shutil.copytree(APPS, tmp_path / "apps")
    before = options().fingerprint(tmp_path)
    assert before == options().fingerprint(EXAMPLES)
    (tmp_path / "apps/more.py").write_text("x = 1\n")
    assert options().fingerprint(tmp_path) != before


def test_each_adapter_needs_its_package() -> None:
    assert [need.name for need in options().needs()] == ["bottle"]
    assert [need.name for need in options(adapter="waitress").needs()] == ["bottle", "waitress"]


def test_an_app_is_named_by_its_module_and_its_attribute() -> None:
    with pytest.raises(ValidationError, match="app"):
        options(app="hello")
