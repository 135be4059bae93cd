"""Backends that are the limit, that are spoken to unlike, and whose pool runs dry."""

from pathlib import Path

import pytest
from front_door import Bench, needed, needed_module
from planted.beside import WRK, gunicorn, suite, undisturbed
from planted.validity import RATE, Seen, apart, caught, measured, quiet

STUDY = Path(__file__).parents[2] / "suites/studies/api-hour.toml"
IN_TURNS = ("agents_in_turns", "orm_in_turns", "orm_in_turns_published")
REDIS = '[backends.store]\nuse = "redis"\n'


def asking(count: int) -> str:
    server = gunicorn("pong_redis:app", f"environment = {{ ASKS = '{count}' }}\n")
    return server.replace("workers = 1", "workers = 3")


@pytest.mark.exhaustive
def test_a_backend_that_is_used_up(bench: Bench, tmp_path: Path) -> None:
    needed("redis-server")
    needed_module("redis")
    load = WRK.replace("connections = 2", "connections = 8").replace('"1s"', '"3s"')
    servers = {"asks": asking(3_000_000), "healthy": asking(10)}
    scenario = 'expect = { body = "pong" }\nbackends = ["store"]'
    text = suite(servers, load, scenario=scenario, more=REDIS)
    observed = undisturbed(bench, tmp_path, text, "W3", "asks", "warn")
    fault = "a redis that counts to three million"
    apart(observed, fault, "W3", "asks", "you measured the backend", status="warn", word=RATE)


def of_the_study(bench: Bench, folder: Path, *words: str) -> Seen:
    """Run scenarios of the study as a smoke."""
    needed("wrk", "postgres", "openssl")
    needed_module("psycopg2")
    return measured(bench, folder, STUDY.read_text(), "--profile", "rounds", *words)


@pytest.mark.exhaustive
def test_tls_to_the_database_for_one_side_only(bench: Bench, tmp_path: Path) -> None:
    needed_module("django")
    part = 'scenarios.agents_tls.servers=["django", "django_plain"]'
    observed = of_the_study(bench, tmp_path, "--only", "agents_tls", "--set", part)
    fault = "django speaks TLS to its database, and django_plain does not"
    check = caught(fault, observed, "W4", word=RATE, of_server="django")
    assert "django in TLS; django_plain without TLS" in check["message"]
    alike = 'scenarios.agents_tls.servers=["django", "flask"]'
    healthy = of_the_study(bench, tmp_path, "--only", "agents_tls", "--set", alike)
    quiet(healthy, "W4")


def test_the_pool_of_a_study_that_leaks(bench: Bench, tmp_path: Path) -> None:
    needed_module("flask")
    # Right answers are asked for here: of the pool's 60 connections the questions before take some.
    settings = (
        "scenarios.pool_leaking.expect={status=200}",
        'servers.flask_leaking.environment.AGENTS_POOL_SIZE="60"',
        # Thrice as many requests as the pool has connections, instead of a second of them.
        'loaders.wrk={use="pace",connections=8,requests=200,duration="100s"}',
        # A number of requests takes no turns.
        *(f'scenarios.{name}.interleave="off"' for name in IN_TURNS),
    )
    words = [word for setting in settings for word in ("--set", setting)]
    observed = of_the_study(bench, tmp_path, "--only", "pool_leaking", *words)
    (trial,) = observed.trials("flask_leaking")
    assert trial["failure"]["stage"] == "ask"
    late = "after the load: GET /agents_with_pool: expected status 200, got 500"
    assert late in trial["failure"]["message"]


@pytest.mark.exhaustive
def test_the_pool_of_a_study_that_takes_connections_back(bench: Bench, tmp_path: Path) -> None:
    needed_module("flask")
    few = 'scenarios.pool.servers=["flask"]'
    quiet(of_the_study(bench, tmp_path, "--only", "pool", "--set", few), "E1", "flask")
