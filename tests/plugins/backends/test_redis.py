"""Redis: a private server with the data of a dataset, and whatever is wrong is told."""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from benchforge_backends.redis import Redis
from front_door import Bench, needed, needed_module
from present import present
from serving.backends import HOST, neither_started_nor_filled, run, running, site_at, write_dataset
from suite_texts.files import suite_text

from benchforge.errors import TrialFailed
from benchforge.parts.command import Command
from benchforge.parts.site import Site, Succeeds
from benchforge.run.programs.template import restored

pytestmark = pytest.mark.usefixtures("templates")


@pytest.fixture(scope="module", autouse=True)
def programs() -> None:
    needed("redis-server", "redis-cli")


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with tempfile.TemporaryDirectory(prefix="bf-") as scratch:
        yield site_at(Redis(), tmp_path, Path(scratch))


def redis(**options: Any) -> Redis:
    return Redis.model_validate(options)


def client(url: str, code: str) -> Command:
    """What a server does with the URL that it is given, by redis-py."""
    words = f"import os, redis; r = redis.Redis.from_url(os.environ['REDIS_URL']); {code}"
    return Command(sys.executable, "-c", words, environment={"REDIS_URL": url})


# --- a server of our own -------------------------------------------------------------------------


@pytest.mark.parametrize("listen", ["unix", "tcp"])
def test_each_trial_gets_the_dataset_and_nothing_is_written(site: Site, listen: str) -> None:
    needed_module("redis")
    part = redis(dataset="foo", listen=listen)
    with running(part, site) as (sandbox, server, placed):
        settings = part.gives(placed)
        assert settings["url"] == settings["REDIS_URL"]
        asking = client(settings["REDIS_URL"], "print(r.get('foo').decode(), r.dbsize())")
        assert run(sandbox, placed, asking) == (0, "bar 1\n")
        assert sandbox.owns(server, placed.ports["redis"]) is (listen == "tcp")
        text = "print(r.config_get('save')['save'] + r.config_get('appendonly')['appendonly'])"
        assert run(sandbox, placed, client(settings["REDIS_URL"], text)) == (0, "no\n")
        snapshot = (placed.scratch / "dump.rdb").read_bytes()
        run(sandbox, placed, client(settings["REDIS_URL"], "r.set('foo', 'other')"))
        assert sandbox.stop(server, first=part.stop_signal).code == 0
        assert (placed.scratch / "dump.rdb").read_bytes() == snapshot
    assert sandbox.left == 0


def test_options_and_settings_reach_the_server(site: Site) -> None:
    part = redis(databases=3, maxmemory="10MB", settings={"Maxmemory-Policy": "allkeys-lru"})
    with running(part, site) as (sandbox, _, placed):
        cli = (placed.programs["redis-cli"], "-s", placed.scratch / "redis.sock")
        names = ("databases", "maxmemory", "maxmemory-policy")
        actual = [run(sandbox, placed, Command(*cli, "CONFIG", "GET", name))[1] for name in names]
    assert [text.split()[-1] for text in actual] == ["3", "10000000", "allkeys-lru"]


def test_a_wrong_setting_ends_the_server_with_its_reason(site: Site) -> None:
    part = redis(settings={"maxmemmory-policy": "noeviction"})
    command = present(part.command(site))
    with HOST.trial(site.folder) as sandbox:
        for name, text in part.files(site).items():
            (site.folder / name).write_text(text)
        code, finished = run(sandbox, site, command)
    assert (code, "maxmemmory-policy" in finished, "Bad directive" in finished) == (1, True, True)


def test_a_dataset_of_ones_own_goes_into_the_database_that_it_names(site: Site) -> None:
    needed_module("redis")
    files = {"a.redis": 'SET "a key" "ERROR,"\n\nLPUSH list 1 "two words"\nGET "a key"\n'}
    part = redis(dataset=write_dataset(site.suite_folder, "redis", "2 = 2\n0 = 0", files, "2"))
    with running(part, site) as (sandbox, _, placed):
        asking = client(part.gives(placed)["REDIS_URL"], "print(r.get('a key'), r.llen('list'))")
        assert run(sandbox, placed, asking) == (0, "b'ERROR,' 2\n")


@pytest.mark.parametrize(
    ("text", "rows", "expected"),
    [
        ("SET a b\n\nSETT c d\n", "0 = 1", "a.redis:3: ERR unknown command 'SETT'"),
        ("SET a b\nLPUSH a b\n", "0 = 1", "a.redis:2: WRONGTYPE Operation against a key"),
        ('SET a "b\n', "0 = 1", "a.redis:1: Invalid argument(s)"),
        ("MULTI\nSET a b\nINCR a\nEXEC\n", "0 = 1", "a.redis:4: "),
        ("SET a b\n", "0 = 2", "database 0 has 1 keys instead of 2"),
        ("SET a b\n", "99 = 0", "ERR DB index is out of range"),
    ],
)
def test_a_false_dataset_fails_the_trial(site: Site, text: str, rows: str, expected: str) -> None:
    part = redis(dataset=write_dataset(site.suite_folder, "redis", rows, {"a.redis": text}))
    with pytest.raises(TrialFailed) as caught:
        restored(HOST, "backend-mine", part, site)
    assert expected in caught.value.message
    assert caught.value.stage == "prepare"


def test_a_damaged_template_is_found_before_its_use(site: Site) -> None:
    part = redis(dataset="foo")
    with running(part, site) as (sandbox, _, placed):
        cli = Command(placed.programs["redis-cli"], "-s", placed.scratch / "redis.sock", "FLUSHALL")
        run(sandbox, placed, cli)
        (task,) = part.verify(placed)
        finished = sandbox.run("verify", task.command, placed.folder, {}, 200)
    assert task.judge(finished) == "database 0 has 0 keys instead of 1"


# --- one that already runs -----------------------------------------------------------------------


def test_a_server_that_already_runs_is_neither_started_nor_filled(site: Site) -> None:
    first_side = redis(dataset="foo", listen="tcp")
    with running(first_side, site) as (sandbox, _, placed):
        socket = ("-h", placed.address, "-p", placed.ports["redis"])
        cli = Command(placed.programs["redis-cli"], *socket, "CONFIG", "SET", "requirepass", "p w")
        assert run(sandbox, placed, cli) == (0, "OK\n")
        url = first_side.gives(placed)["url"].replace("//", "//:p%20w@")
        part = redis(url=url)
        assert not first_side.outside()
        neither_started_nor_filled(part, placed, "redis-cli")
        assert part.gives(placed) == {"url": url, "REDIS_URL": url}
        probe, version = part.ready(placed), part.version(placed)
        assert isinstance(probe, Succeeds)
        assert "p w" not in " ".join(probe.command.argv)
        assert run(sandbox, placed, probe.command)[0] == 0
        assert run(sandbox, placed, present(version))[1].startswith("redis_version:")
        without = redis(url=first_side.gives(placed)["url"]).ready(placed)
        assert isinstance(without, Succeeds)
        assert run(sandbox, placed, without.command)[0] == 1


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (None, "mine/dataset.toml: No such file or directory"),
        ("postgresql", "mine/dataset.toml: the dataset is for postgresql, not for redis"),
    ],
)
def test_no_dataset_of_redis(
    bench: Bench, tmp_path: Path, written: str | None, expected: str
) -> None:
    if written:
        write_dataset(tmp_path, written, "things = 1", {"a.sql": ""})
    text = suite_text("plugins/backends/redis", options='dataset = "./mine"')
    (tmp_path / "a.toml").write_text(text)
    done = bench("run", "a.toml", code=2)
    assert expected in done.err
    assert "hint: " in done.err
    assert not (tmp_path / "results").exists()
