"""What all backends have in common: options, programs, versions, and the built-in datasets."""

import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import pytest
from benchforge_backends.postgresql import Postgresql
from benchforge_backends.redis import Redis
from benchforge_backends.virtuoso import Virtuoso
from front_door import needed
from present import present
from pydantic import ValidationError
from serving.backends import HOST, run, site_at

from benchforge.errors import ProgramMissing
from benchforge.parts.part import Backend
from benchforge.run import locate
from benchforge.run.trial.context import locate_programs

ROOT = Path(__file__).parents[3]
PARTS: dict[str, type[Backend]] = {"postgresql": Postgresql, "redis": Redis, "virtuoso": Virtuoso}


@pytest.mark.parametrize(
    ("cls", "options", "where", "says"),
    [
        (Postgresql, {"dataset": "agent"}, "dataset", "did you mean 'agents'"),
        (Postgresql, {"dataset": "agent"}, "dataset", "'./agent'"),
        (Postgresql, {"settings": {"a b": 1}}, "settings", "not the name of a setting"),
        (Postgresql, {"settings": {"Port": 1}}, "settings", "set by benchforge"),
        (Postgresql, {"listen": "udp"}, "listen", "'unix' or 'tcp'"),
        (Postgresql, {"url": "mysql://x"}, "url", "should be like 'postgresql://"),
        (Postgresql, {"tls": True}, "", "say listen = 'tcp'"),
        (Postgresql, {"tls": True, "listen": "unix"}, "", "say listen = 'tcp'"),
        (Postgresql, {"settings": {"ssl": True}}, "settings", "say tls = true"),
        (
            Postgresql,
            {"dataset": "foo"},
            "dataset",
            "dataset 'foo' is for redis; built in for postgresql",
        ),
        (Postgresql, {"url": "postgresql://far.example/db"}, "", "far.example is not this machine"),
        (
            Postgresql,
            {"url": "postgresql://localhost,far.example:1/db"},
            "",
            "far.example is not this",
        ),
        (
            Postgresql,
            {"url": "postgresql:///db?host=/run,far.example"},
            "",
            "far.example is not this",
        ),
        (
            Postgresql,
            {"url": "postgresql://localhost/db?hostaddr=192.0.2.1"},
            "",
            "192.0.2.1 is not this",
        ),
        (Postgresql, {"url": "postgresql://x", "dataset": "agents"}, "", "leave out dataset"),
        (Postgresql, {"url": "postgresql://x", "settings": {}}, "", "leave out settings"),
        (Redis, {"dataset": "fooo"}, "dataset", "did you mean 'foo'"),
        (Redis, {"dataset": "agents"}, "dataset", "dataset 'agents' is for postgresql"),
        (Redis, {"settings": {"a b": 1}}, "settings", "not the name of a setting"),
        (Redis, {"settings": {"Port": 1}}, "settings", "set by benchforge"),
        (Redis, {"settings": {"appendonly": True}}, "settings", "nothing is written to the disk"),
        (Redis, {"listen": "udp"}, "listen", "'unix' or 'tcp'"),
        (Redis, {"databases": 0}, "databases", "greater than or equal to 1"),
        (Redis, {"maxmemory": "much"}, "maxmemory", "a size such as"),
        (Redis, {"url": "http://127.0.0.1"}, "url", "should be like 'redis://"),
        (Redis, {"url": "unix://"}, "url", "should be like 'redis://"),
        (Redis, {"url": "redis://127.0.0.1:many"}, "url", "Port"),
        (Redis, {"url": "redis://127.0.0.1", "databases": 1}, "", "leave out databases"),
        (Redis, {"url": "redis://far.example"}, "", "far.example is not this machine"),
        (Virtuoso, {"dataset": "clases"}, "dataset", "did you mean 'classes'"),
        (Virtuoso, {"dataset": "foo"}, "dataset", "dataset 'foo' is for redis"),
        (Virtuoso, {"dataset": "classes", "graph": "http://g"}, "", "the dataset says its graph"),
        (Virtuoso, {"graph": "a b"}, "graph", "should be a URI"),
        (Virtuoso, {"number_of_buffers": 255}, "number_of_buffers", "greater than or equal to 256"),
        (
            Virtuoso,
            {"max_client_connections": 0},
            "max_client_connections",
            "greater than or equal to 1",
        ),
        (
            Virtuoso,
            {"max_client_connections": 1001},
            "max_client_connections",
            "less than or equal to 1000",
        ),
        (Virtuoso, {"url": "localhost"}, "url", "should be like 'http://"),
        (Virtuoso, {"url": "http://me@localhost/sparql"}, "url", "nobody, and no query"),
        (
            Virtuoso,
            {"url": "http://localhost/sparql", "dataset": "classes"},
            "",
            "leave out dataset",
        ),
        (Virtuoso, {"url": "http://far.example/sparql"}, "", "far.example is not this machine"),
    ],
)
def test_impossible_options_are_refused(
    cls: type[Backend], options: dict[str, Any], where: str, says: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        cls.model_validate(options)
    (error,) = caught.value.errors()
    assert (error["loc"] or ("",))[0] == where
    assert says in error["msg"]


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
    with tempfile.TemporaryDirectory(prefix="bf-") as scratch, HOST.trial(tmp_path) as here:
        site = site_at(cls(), tmp_path, Path(scratch))
        assert version in run(here, site, present(cls().version(site)))[1]


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
