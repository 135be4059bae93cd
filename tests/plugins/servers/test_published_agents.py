"""The agents of study AH as they were published: each fault is there, and shows as it did."""

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
from serving.apps import ask, serving
from serving.postgres import Postgres

PUBLISHED = ("django_agents_published", "flask_agents_published", "aiohttp_agents_aiopg_published")
DJANGO = {"/index": 18, "/agents": 7100, "/agents_with_orm": 10928}
FLASK = {"/index": 18, "/agents": 7100, "/agents_with_pool": 7100}
AIOPG = {"/index": 17, "/agents": 6401}
LENGTHS = dict(zip(PUBLISHED, (DJANGO, FLASK, AIOPG), strict=True))


@pytest.mark.samples(1)
@pytest.mark.parametrize("way", ["tcp", "unix"])
def test_the_bytes_are_the_studys(postgres: Postgres, tmp_path: Path, way: str) -> None:
    actual = {"DATABASE_URL": getattr(postgres, way), "AGENTS_POOL_SIZE": "2"}
    with ExitStack() as stack:
        apps = {name: serving(name, tmp_path / name, actual) for name in PUBLISHED}
        ports = {name: stack.enter_context(app) for name, app in apps.items()}
        for name, port in ports.items():
            for path, length in LENGTHS[name].items():
                reply = ask(port, path)
                assert (reply.status, len(reply.body)) == (200, length)
                assert reply.headers["content-length"] == str(length)
                kind = "text/html; charset=utf-8" if "flask" in name else "application/json"
                assert reply.headers["content-type"] == kind
            agents = json.loads(ask(port, "/agents").body)
            numbers = [agent["number"] for agent in agents]
            assert numbers == [str(number) for number in range(300, 350)]
        postgres.stop()
        try:
            assert {ask(port, "/agents").status for port in ports.values()} == {500}
            assert {ask(port, "/index").status for port in ports.values()} == {200}
        finally:
            postgres.start()
        assert {ask(port, "/agents").status for port in ports.values()} == {200}


def test_flasks_pool_answers_as_often_as_it_is_large(postgres: Postgres, tmp_path: Path) -> None:
    actual = {"DATABASE_URL": postgres.tcp, "AGENTS_POOL_SIZE": "3"}
    with serving("flask_agents_published", tmp_path / "log", actual) as port:
        first = connections(postgres)
        statuses = [ask(port, "/agents_with_pool").status for _ in range(6)]
        assert connections(postgres) - first == 3
        assert ask(port, "/agents").status == 200
    # In the study: 480 answers, of 16 workers with 30 connections each, then errors only.
    assert statuses == [200] * 3 + [500] * 3


def test_published_django_has_debug_mode(postgres: Postgres, tmp_path: Path) -> None:
    actual = {"DATABASE_URL": postgres.tcp}
    with serving("django_agents_published", tmp_path / "1", actual) as port:
        first = connections(postgres)
        index, nowhere = ask(port, "/index"), ask(port, "/nowhere")
        assert connections(postgres) == first
    with serving("django_agents", tmp_path / "2", actual) as port:
        plain, nowhere_plain = ask(port, "/index"), ask(port, "/nowhere")
    assert index.headers["x-frame-options"] == "SAMEORIGIN"
    assert "x-frame-options" not in plain.headers
    assert (nowhere.status, nowhere_plain.status) == (404, 404)
    assert b"DEBUG = True" in nowhere.body
    assert b"DEBUG = True" not in nowhere_plain.body


def test_the_pool_of_aiopg_is_open_before_anybody_asks(postgres: Postgres, tmp_path: Path) -> None:
    actual = {"DATABASE_URL": postgres.tcp, "AGENTS_POOL_SIZE": "4"}
    first = connections(postgres)
    with (
        serving("aiohttp_agents_aiopg_published", tmp_path / "log", actual) as port,
        ThreadPoolExecutor(8) as clients,
    ):
        assert ask(port, "/index").body == b'{"hello":"world"}'
        assert connections(postgres) - first == 4
        replies = list(clients.map(ask, [port] * 40, ["/agents"] * 40))
        assert connections(postgres) - first == 4
    assert {(reply.status, len(reply.body)) for reply in replies} == {(200, 6401)}


def test_only_aiopg_never_speaks_tls(postgres: Postgres, tmp_path: Path) -> None:
    # The server cannot speak TLS: who insists fails.
    url = postgres.tcp.replace("sslmode=disable", "sslmode=require")
    actual = {"DATABASE_URL": url, "AGENTS_POOL_SIZE": "1"}
    statuses = []
    for name in PUBLISHED:
        with serving(name, tmp_path / name, actual) as port:
            statuses.append(ask(port, "/agents").status)
    assert statuses == [500, 500, 200]


@pytest.mark.parametrize("name", PUBLISHED)
def test_without_a_database_only_the_index_is_served(tmp_path: Path, name: str) -> None:
    with serving(name, tmp_path / "log") as port:
        assert len(ask(port, "/index").body) == LENGTHS[name]["/index"]
        for path in [*LENGTHS[name]][1:]:
            assert ask(port, path).status == 500


def connections(postgres: Postgres) -> int:
    """Return how many the server has let in so far."""
    return postgres.log.read_text().count("connection authorized")
