"""Processes of a server that begin anew, grow, or do not share the work."""

from pathlib import Path

import pytest
from front_door import Bench, needed_module
from planted.beside import PACE, WRK, gunicorn, program, suite
from planted.validity import ONCE, RATE, apart, caught, measured, quiet


def test_a_worker_that_is_respawned(bench: Bench, tmp_path: Path) -> None:
    needed_module("gunicorn")
    again = gunicorn("pong_wsgi:app", "arguments = ['--max-requests', '50']")
    servers = {"again": again, "healthy": gunicorn("pong_wsgi:app")}
    result = measured(bench, tmp_path, suite(servers, top=ONCE))
    fault = "a worker that begins anew after 50 requests"
    apart(result, fault, "S7", "again", "set to begin anew after so many requests", word=RATE)
    assert result.trials("again")[0]["failure"] is None


@pytest.mark.exhaustive
def test_a_server_that_leaks(bench: Bench, tmp_path: Path) -> None:
    words = ("servers/answers.py", "--port", "{port}")
    load = PACE.replace('duration = "2s"', 'duration = "4s"')
    servers = {"leaks": program(*words, "--grows", 100_000), "healthy": program(*words)}
    result = measured(bench, tmp_path, suite(servers, load))
    fault = "a server that keeps 100 kB of each answer"
    assert caught(fault, result, "M3", server="leaks", status="warn")["value"] > 0.1
    quiet(result, "M3", "healthy")


@pytest.mark.exhaustive
def test_workers_that_do_not_share_the_work(bench: Bench, tmp_path: Path) -> None:
    server, two = (gunicorn("pong_shared:app").replace("workers = 1", "workers = 2") for _ in "12")
    favours = f"environment = {{ FAVOURS = '{tmp_path / 'favoured'}' }}\n"
    load = WRK.replace("connections = 2", "connections = 8").replace('"1s"', '"3s"')
    result = measured(bench, tmp_path, suite({"unequal": server + favours, "healthy": two}, load))
    fault = "one of two workers does all the work"
    says = "connections are not shared out evenly"
    apart(result, fault, "W1", "unequal", says, status="warn", word=RATE)


@pytest.mark.exhaustive
def test_unequal_budgets_of_which_one_is_unstated(bench: Bench, tmp_path: Path) -> None:
    server = gunicorn("pong_shared:app")
    servers = {"one": server, "silent": server.replace("workers = 1\n", "")}
    observed = measured(bench, tmp_path, suite(servers))
    fault = "one worker beside the two of a suite that does not say so"
    check = caught(fault, observed, "W1", word=RATE, of_server="silent")
    assert "one 1, silent 2: different, and the suite does not say so of silent" in check["message"]
    output = suite(servers | {"silent": server.replace("workers = 1", "workers = 2")})
    result = measured(bench, tmp_path, output)
    (check,) = [check for check in result.checks("W1") if check["component"] == "told"]
    assert check["status"] == "pass"
