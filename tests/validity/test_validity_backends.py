"""Backends that are the limit, that are spoken to unlike, and whose pool runs dry."""

from pathlib import Path

import pytest
from beside import WRK, gunicorn, suite, undisturbed
from front_door import Bench, needed, needed_module
from validity import Seen, caught, measured, quiet

pytestmark = pytest.mark.timeout(400)

SUITES = Path(__file__).parents[1] / "suites"
REDIS = '[backends.store]\nuse = "redis"\n'


def asking(count: int) -> str:
    one = gunicorn("pong_redis:app", f"environment = {{ ASKS = '{count}' }}\n")
    return one.replace("workers = 1", "workers = 3")


def test_a_backend_that_is_used_up(bench: Bench, tmp_path: Path) -> None:
    needed("wrk", "redis-server")
    needed_module("redis")
    load = WRK.replace("connections = 2", "connections = 8").replace('"1s"', '"3s"')
    text = suite(
        {"asks": asking(3_000_000), "healthy": asking(10)},
        load,
        scenario='expect = { body = "pong" }\nbackends = ["store"]',
        more=REDIS,
    )
    seen = undisturbed(bench, tmp_path, text, "W3", "asks", "warn")
    printed = seen.printed("asks", "Requests/sec")
    check = caught(
        "a redis that counts to three million",
        seen,
        "W3",
        server="asks",
        status="warn",
        printed=printed,
    )
    assert "you measured the backend" in check["says"]
    quiet(seen, "W3", "healthy")


def of_macro(bench: Bench, folder: Path, scenario: str, *words: str) -> Seen:
    """Run a scenario of suites/macro.toml as a smoke."""
    needed("wrk", "postgres", "openssl")
    needed_module("psycopg2")
    text = (SUITES / "macro.toml").read_text()
    return measured(bench, folder, text, "--profile", "rounds", "--only", scenario, *words)


def test_tls_to_the_database_for_one_side_only(bench: Bench, tmp_path: Path) -> None:
    needed_module("django")
    some = 'scenarios.agents_tls.servers=["django", "django_plain"]'
    seen = of_macro(bench, tmp_path, "agents_tls", "--set", some)
    printed = seen.printed("django", "Requests/sec")
    fault = "django speaks TLS to its database, and django_plain does not"
    check = caught(fault, seen, "W4", printed=printed)
    assert "django in TLS; django_plain without TLS" in check["says"]
    alike = 'scenarios.agents_tls.servers=["django", "flask"]'
    healthy = of_macro(bench, tmp_path, "agents_tls", "--set", alike)
    quiet(healthy, "W4")


def test_the_pool_of_a_study_that_leaks(bench: Bench, tmp_path: Path) -> None:
    needed_module("flask")
    seen = of_macro(bench, tmp_path, "pool_leaking")
    printed = seen.printed("flask_leaking", "Non-2xx")
    fault = "a pool of 30 that takes nothing back: the study's Flask"
    check = caught(fault, seen, "E1", server="flask_leaking", printed=printed)
    assert check["value"] > 0.99
    few = 'scenarios.pool.servers=["flask"]'
    quiet(of_macro(bench, tmp_path, "pool", "--set", few), "E1", "flask")
