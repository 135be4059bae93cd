"""What all backends have in common: options, programs, versions, and the built-in datasets."""

import sys
import tempfile
import tomllib
from pathlib import Path

import pytest
from benchforge_backends.postgresql import Postgresql
from benchforge_backends.redis import Redis
from benchforge_backends.virtuoso import Virtuoso
from front_door import needed
from present import present
from serving.backends import HOST, run, site_at

from benchforge.errors import ProgramMissing
from benchforge.parts.part import Backend
from benchforge.run import locate
from benchforge.run.trial.context import locate_programs

ROOT = Path(__file__).parents[3]
PARTS: dict[str, type[Backend]] = {"postgresql": Postgresql, "redis": Redis, "virtuoso": Virtuoso}


@pytest.mark.parametrize(
    ("cls", "url"),
    [
        (Redis, "redis://far.example"),
        (Redis, "unix:///run/redis.sock?db=1"),
        (Virtuoso, "https://far.example/sparql"),
    ],
)
def test_another_machine_may_be_allowed(cls: type[Backend], url: str) -> None:
    assert cls.model_validate({"url": url, "allow_remote": True}).outside()


@pytest.mark.parametrize(
    ("cls", "version"),
    [(Postgresql, "PostgreSQL"), (Redis, "Redis server v="), (Virtuoso, "Virtuoso 7.")],
)
def test_the_version_of_its_program(tmp_path: Path, cls: type[Backend], version: str) -> None:
    needed(*(need.name for need in cls().needs()))
    with tempfile.TemporaryDirectory(prefix="bf-") as scratch, HOST.trial(tmp_path) as sandbox:
        site = site_at(cls(), tmp_path, Path(scratch))
        assert version in run(sandbox, site, present(cls().version(site)))[1]


@pytest.mark.parametrize(
    ("cls", "programs", "package"),
    [
        (Redis, "redis-server, redis-cli", "redis-server: apt-get install redis-server"),
        (Virtuoso, "virtuoso-t, isql-vt", "apt-get install virtuoso-opensource-7-bin"),
    ],
)
def test_a_missing_program_is_named_with_its_package(
    monkeypatch: pytest.MonkeyPatch, cls: type[Backend], programs: str, package: str
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(locate, "_unpacked", list)
    with pytest.raises(ProgramMissing) as caught:
        locate_programs(cls().needs(), Path(sys.executable))
    assert caught.value.exit_code == 3
    assert caught.value.message == f"missing programs: {programs}"
    assert package in caught.value.hint


def test_every_built_in_dataset_can_be_read() -> None:
    kinds = set()
    for folder in (ROOT / "benchforge/parts/database/datasets").iterdir():
        dataset = tomllib.loads((folder / "dataset.toml").read_text())
        assert dataset["name"] == folder.name
        kind = dataset.get("backend", "postgresql")
        assert PARTS[kind].model_validate({"dataset": folder.name}).fingerprint(folder)
        kinds.add(kind)
    assert kinds == PARTS.keys()
