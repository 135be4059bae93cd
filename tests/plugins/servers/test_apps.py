"""The apps of study AH do the same work, against a real PostgreSQL and under real gunicorn."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from importlib.metadata import version
from pathlib import Path

import pytest
from benchforge_servers.python.app_server import app_of
from front_door import needed_module
from serving import apps
from serving.apps import ask, free_port, running
from serving.postgres import Postgres

APPS = Path(__file__).parents[3] / "plugins/servers/benchforge_servers/apps"
NAMES = (
    *("django_agents", "django_agents_psycopg"),
    *("flask_agents", "flask_agents_psycopg"),
    *("aiohttp_agents", "aiohttp_agents_aiopg", "fastapi_agents"),
)
ORM = NAMES[:2]
LENGTHS = {"/index": 18, "/agents": 7100, "/agents_with_pool": 7100}


@contextmanager
def serving(name: str, url: str | None, log: Path, *options: str) -> Iterator[int]:
    """Serve an app with gunicorn."""
    app = app_of(name)
    for module in ("gunicorn", *app.modules):
        needed_module(module)
    port = free_port()
    actual = {"AGENTS_POOL_SIZE": "2"} | ({"DATABASE_URL": url} if url else {})
    command = [sys.executable, "-m", "gunicorn", f"--bind=127.0.0.1:{port}", *options, app.target]
    with running(command, APPS / (app.code or name), actual, log, lambda: answers(port)):
        yield port


def answers(port: int) -> bool:
    try:
        return ask(port, "/index").status == 200
    except OSError:
        return False


def gunicorn(name: str) -> list[str]:
    """Return the options for one worker: each connection policy can be counted."""
    options = ["--workers=1"]
    # Since 27 all instances of a user would share one control socket.
    if int(version("gunicorn").split(".")[0]) >= 27:
        options.append("--no-control-socket")
    if name.startswith("aiohttp_agents"):
        options.append("--worker-class=aiohttp.GunicornWebWorker")
    if name == "fastapi_agents":
        options.append("--worker-class=uvicorn_worker.UvicornWorker")
    return options


# Each app shows below that it understands the URL of a socket; what follows is the driver's.
@pytest.fixture(scope="module", params=["tcp", pytest.param("unix", marks=pytest.mark.exhaustive)])
def ports(
    request: pytest.FixtureRequest, postgres: Postgres, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, int]]:
    """The apps that do the same work, told one form of DATABASE_URL."""
    url, logs = getattr(postgres, request.param), tmp_path_factory.mktemp("apps")
    with ExitStack() as stack:
        started = {name: serving(name, url, logs / name, *gunicorn(name)) for name in NAMES}
        yield {name: stack.enter_context(app) for name, app in started.items()}


@pytest.mark.parametrize("path", LENGTHS)
def test_all_apps_answer_the_same_bytes(ports: dict[str, int], path: str) -> None:
    replies = [ask(port, path) for port in ports.values()]
    assert len({reply.body for reply in replies}) == 1
    for reply in replies:
        assert reply.status == 200
        assert len(reply.body) == LENGTHS[path]
        assert reply.headers["content-type"] == "application/json"
        assert reply.headers["content-length"] == str(LENGTHS[path])
        assert "transfer-encoding" not in reply.headers
        assert "set-cookie" not in reply.headers


@pytest.mark.parametrize(("module", "driver"), [("app", "psycopg2"), ("with_psycopg", "psycopg")])
def test_django_uses_the_driver_that_the_app_names(module: str, driver: str) -> None:
    needed_module(driver)
    django = "from django.db import connections as c; print(c['default'].Database.__name__)"
    words = [sys.executable, "-c", f"import {module}; {django}"]
    environment = {**os.environ, "DATABASE_URL": "postgresql://u@/d"}
    out = subprocess.check_output(words, cwd=APPS / "django_agents", env=environment, text=True)
    assert out.split() == [driver]


def test_the_agents_are_those_of_the_study(ports: dict[str, int]) -> None:
    agents = json.loads(ask(ports["flask_agents"], "/agents").body)
    assert [agent["number"] for agent in agents] == [str(number) for number in range(300, 350)]
    nothing = dict.fromkeys(("extension", "context", "state_interface"))
    for agent in agents:
        constants = {"status": "offline", "extension_status": "-1", "paused": "0"}
        expected = {"number": agent["number"], **nothing, **constants}
        assert [*agent.items()] == [*expected.items()]


def test_the_orm_reads_every_column_of_one_table(ports: dict[str, int]) -> None:
    for name in ORM:
        reply = ask(ports[name], "/agents_with_orm")
        rows = json.loads(reply.body)
        assert (reply.status, len(reply.body), len(rows[0])) == (200, 10928, 12)
        assert reply.headers["content-type"] == "application/json"
        assert [row["id"] for row in rows] == list(range(1, 51))


def test_an_unknown_path_is_not_found(ports: dict[str, int]) -> None:
    assert {ask(port, "/nowhere").status for port in ports.values()} == {404}


@pytest.mark.parametrize(
    ("path", "connections"),
    [("/index", 0), ("/agents", 5), ("/agents_with_orm", 5), ("/agents_with_pool", 0)],
)
def test_all_apps_ask_the_database_alike(
    postgres: Postgres, ports: dict[str, int], path: str, connections: int
) -> None:
    orm = path == "/agents_with_orm"
    for name in ORM if orm else NAMES:
        ask(ports[name], path)  # the first request may open what the pool keeps
        count = len(postgres.log.read_text())
        assert {ask(ports[name], path).status for _ in range(5)} == {200}
        log = postgres.log.read_text()[count:]
        assert let_in(log) == connections, name
        statements = log.count("LOG:  statement:") + log.count("LOG:  execute")
        assert statements == (0 if path == "/index" else 5), name
        assert log.count("JOIN") == (0 if orm else statements), name


def test_a_stopped_database_is_an_error(postgres: Postgres, ports: dict[str, int]) -> None:
    paths = [(port, path) for port in ports.values() for path in ("/agents", "/agents_with_pool")]
    paths += [(ports[name], "/agents_with_orm") for name in ORM]
    assert {ask(port, path).status for port, path in paths} == {200}
    postgres.stop()
    try:
        assert [ask(port, path).status for port, path in paths] == [500] * len(paths)
        assert {ask(port, "/index").status for port in ports.values()} == {200}
    finally:
        postgres.start()
    assert [ask(port, path).status for port, path in paths] == [200] * len(paths)


def test_a_silent_database_is_an_error(postgres: Postgres, ports: dict[str, int]) -> None:
    # The kernel takes connections for the server that is stopped, which then says nothing.
    postgres.process.send_signal(signal.SIGSTOP)
    try:
        with ThreadPoolExecutor(len(ports)) as clients:
            replies = list(clients.map(ask, ports.values(), ["/agents"] * len(ports)))
    finally:
        postgres.process.send_signal(signal.SIGCONT)
        postgres.stop()  # and with it what it would say to those who are gone
        postgres.start()
    assert [reply.status for reply in replies] == [500] * len(NAMES)


@pytest.mark.samples(3)
@pytest.mark.parametrize("name", NAMES)
def test_without_a_database_only_the_index_is_served(
    postgres: Postgres, tmp_path: Path, name: str
) -> None:
    with serving(name, None, tmp_path / "log", *gunicorn(name)) as port:
        assert ask(port, "/index").body == b'{"hello": "world"}'
        assert ask(port, "/agents").status == 500
        assert ask(port, "/agents_with_pool").status == 500


POOLS = [name for name in NAMES if name not in ORM]


def let_in(log: str) -> int:
    """Return how many connections began and were let in while PostgreSQL wrote this.

    On a loud machine it lets one in, of which the client is gone already, long after it began.
    """
    began = set(re.findall(r"\[(\d+)\] .*connection received", log))
    return sum(pid in began for pid in re.findall(r"\[(\d+)\] .*connection authorized", log))


@pytest.mark.samples(2)
@pytest.mark.parametrize("name", POOLS)
def test_a_pool_of_two_serves_eight_clients(postgres: Postgres, tmp_path: Path, name: str) -> None:
    options = [*gunicorn(name), "--threads=8"]
    with (
        serving(name, postgres.tcp, tmp_path / "log", *options) as port,
        ThreadPoolExecutor(8) as clients,
    ):
        count = len(postgres.log.read_text())
        replies = list(clients.map(ask, [port] * 80, ["/agents_with_pool"] * 80))
        opened = let_in(postgres.log.read_text()[count:])
    assert {(reply.status, len(reply.body)) for reply in replies} == {(200, 7100)}
    assert 1 <= opened <= 2


@pytest.mark.parametrize("name", NAMES)
def test_each_app_takes_the_url_of_a_socket(postgres: Postgres, tmp_path: Path, name: str) -> None:
    actual = {"DATABASE_URL": postgres.unix, "AGENTS_POOL_SIZE": "2"}
    with apps.serving(name, tmp_path / "log", actual) as port:
        replies = {path: ask(port, path) for path in LENGTHS}
    got = {path: (reply.status, len(reply.body)) for path, reply in replies.items()}
    assert got == {path: (200, length) for path, length in LENGTHS.items()}
