"""The apps of study WS that keep a key in Redis, against a real one."""

import re
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest
from front_door import needed, program_words
from present import present
from serving.apps import accepts, ask, free_port, running, serving

from benchforge.run.locate import libraries, locate

SERVED = [
    ("redis_tornado", None),
    ("redis_tornado_async", None),
    ("redis_flask", None),
    ("redis_flask", "gevent"),
    ("redis_flask", "gevent_patched"),
]
NAMES = ["redis_tornado", "redis_tornado_async", "redis_flask"]


class Redis(NamedTuple):
    tcp: str
    unix: str
    cli: list[str]

    def says(self, *words: str) -> str:
        finished = subprocess.run([*self.cli, *words], check=True, capture_output=True, text=True)
        return finished.stdout.strip()

    def connections(self) -> int:
        """Return how many were opened so far, without the one that asks."""
        stats = dict(re.findall(r"(\w+):(\d+)", self.says("INFO", "stats")))
        return int(stats["total_connections_received"]) - 1


@pytest.fixture(scope="module")
def redis() -> Iterator[Redis]:
    needed("redis-server", "redis-cli")
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="bf-", dir="/tmp") as path:
        folder, server = Path(path), present(locate("redis-server"))
        words = [str(server), "--port", str(port), "--bind", "127.0.0.1", "--save", ""]
        words += ["--unixsocket", f"{folder}/socket", "--dir", path, "--databases", "2"]
        with running(words, folder, libraries(server), folder / "log", lambda: accepts(port)):
            unix, cli = f"{folder}/socket", program_words("redis-cli")
            yield Redis(f"redis://127.0.0.1:{port}/0", f"unix://{unix}?db=0", [*cli, "-s", unix])


@pytest.mark.samples(4)
@pytest.mark.parametrize("way", ["tcp", "unix"])
@pytest.mark.parametrize(("name", "by"), SERVED)
def test_the_key_is_set_told_and_deleted(
    redis: Redis, tmp_path: Path, name: str, by: str | None, way: str
) -> None:
    redis.says("DEL", "foo")
    with serving(name, tmp_path / "log", {"REDIS_URL": getattr(redis, way)}, by) as port:
        assert ask(port, "/redis").status == 404
        assert ask(port, "/redis", "POST")[::2] == (200, b"True")
        assert redis.says("GET", "foo") == "bar"
        reply = ask(port, "/redis")
        assert (reply.status, reply.body, reply.headers["content-length"]) == (200, b"bar", "3")
        assert ask(port, "/redis", "DELETE")[::2] == (200, b"1")
        assert redis.says("EXISTS", "foo") == "0"
        assert ask(port, "/redis", "DELETE")[::2] == (200, b"0")
        assert ask(port, "/").status == 404


@pytest.mark.parametrize(("name", "opened"), [*zip(NAMES, [5, 0, 0], strict=True)])
def test_clients_are_reused_but_one(redis: Redis, tmp_path: Path, name: str, opened: int) -> None:
    redis.says("SET", "foo", "bar")
    with serving(name, tmp_path / "log", {"REDIS_URL": redis.unix}) as port:
        ask(port, "/redis")
        connections = redis.connections()
        assert {ask(port, "/redis").status for _ in range(5)} == {200}
        # The question itself is a connection, too.
        assert redis.connections() - connections - 1 == opened


def test_published_tornado_answers_for_a_missing_key(redis: Redis, tmp_path: Path) -> None:
    redis.says("DEL", "foo")
    with serving("redis_tornado_published", tmp_path / "log", {"REDIS_URL": redis.tcp}) as port:
        assert ask(port, "/redis")[::2] == (200, b"None")
        assert ask(port, "/redis", "POST")[::2] == (200, b"True")
        assert ask(port, "/redis")[::2] == (200, b"bar")
        assert ask(port, "/redis", "DELETE")[::2] == (200, b"1")


def test_published_flask_fails_on_a_missing_key(redis: Redis, tmp_path: Path) -> None:
    redis.says("DEL", "foo")
    with serving("redis_flask_published", tmp_path / "log", {"REDIS_URL": redis.tcp}) as port:
        assert ask(port, "/redis").status == 500
        assert ask(port, "/redis", "POST").status == 405
        assert ask(port, "/redis", "DELETE").status == 405
        redis.says("SET", "foo", "bar")
        assert ask(port, "/redis")[::2] == (200, b"bar")


@pytest.mark.parametrize("name", NAMES)
def test_without_redis_the_answer_is_an_error(tmp_path: Path, name: str) -> None:
    nowhere = {"REDIS_URL": f"redis://127.0.0.1:{free_port()}/0"}
    with serving(name, tmp_path / "log", nowhere) as port:
        statuses = [ask(port, "/redis", method).status for method in ("GET", "POST", "DELETE")]
    assert statuses == [500] * 3


@pytest.mark.exhaustive
def test_a_redis_that_never_answers_is_an_error(tmp_path: Path) -> None:
    with ExitStack() as stack:
        deaf = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        actual = {"REDIS_URL": f"redis://127.0.0.1:{deaf.getsockname()[1]}/0"}
        ports = [stack.enter_context(serving(name, tmp_path / name, actual)) for name in NAMES]
        clients = stack.enter_context(ThreadPoolExecutor(len(ports)))
        statuses = [reply.status for reply in clients.map(ask, ports, ["/redis"] * len(ports))]
    assert statuses == [500] * len(NAMES)


def test_patched_by_gevent_only_those_wait_that_ask_redis(tmp_path: Path) -> None:
    with ExitStack() as stack:
        deaf = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        actual = {"REDIS_URL": f"redis://127.0.0.1:{deaf.getsockname()[1]}/0"}
        app = serving("redis_flask", tmp_path / "log", actual, "gevent_patched")
        port = stack.enter_context(app)
        waiting = stack.enter_context(ThreadPoolExecutor(1)).submit(ask, port, "/redis")
        redis_side, _ = deaf.accept()
        assert ask(port, "/nowhere").status == 404
        assert not waiting.done()
        redis_side.close()
        assert waiting.result().status == 500
