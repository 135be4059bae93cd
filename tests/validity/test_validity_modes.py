"""Servers as their developers run them, with an instrument, and with a log of each request."""

import sys
from pathlib import Path

import pytest
from front_door import PROGRAMS, Bench, lack, needed, needed_module
from planted.beside import command, gunicorn, program, suite
from planted.validity import ONCE, caught, measured, quiet

pytestmark = pytest.mark.timeout(1000)

ANSWERS = ("servers/answers.py", "--port", "{port}", "--wait", 0.005)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("fault", "server", "sign"),
    [
        (
            "Flask's own server, told to debug",
            command(
                *(sys.executable, "-m", "flask", "--app", PROGRAMS / "apps/pong_flask.py"),
                *("run", "--debug", "--port", "{port}"),
            ),
            "--debug",
        ),
        ("Flask's own server", program("apps/pong_flask.py", "{port}"), "Werkzeug"),
    ],
)
def test_flask_dev_server(bench: Bench, tmp_path: Path, fault: str, server: str, sign: str) -> None:
    needed("wrk")
    needed_module("flask")
    result = measured(
        bench, tmp_path, suite({"dev": server, "healthy": gunicorn("pong_flask:app")})
    )
    caught(fault, result, "D1", server="dev", printed=result.printed("dev", "Requests/sec"))
    assert any(sign in check["message"] for check in result.checks("D1", "dev"))
    quiet(result, "D1", "healthy")


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("fault", "server", "sign"),
    [
        (
            "Django's own server",
            program("apps/pong_django.py", "runserver", "--noreload", "{port}"),
            "runserver",
        ),
        (
            "Django with DEBUG, under gunicorn",
            gunicorn("pong_django:app", "environment = { PONG_DEBUG = '1' }"),
            "DEBUG",
        ),
    ],
)
def test_runserver_django(bench: Bench, tmp_path: Path, fault: str, server: str, sign: str) -> None:
    needed("wrk")
    needed_module("django")
    result = measured(
        bench, tmp_path, suite({"dev": server, "healthy": gunicorn("pong_django:app")})
    )
    caught(fault, result, "D1", server="dev", printed=result.printed("dev", "Requests/sec"))
    assert any(sign in check["message"] for check in result.checks("D1", "dev"))
    quiet(result, "D1", "healthy")


def test_an_interpreter_in_its_development_mode(bench: Bench, tmp_path: Path) -> None:
    needed("wrk")
    dev = command(sys.executable, "-X", "dev", PROGRAMS / ANSWERS[0], *ANSWERS[1:])
    servers = {"dev": dev, "healthy": program(*ANSWERS)}
    result = measured(bench, tmp_path, suite(servers, top=ONCE))
    printed = result.printed("dev", "Requests/sec")
    assert (
        "-X dev" in caught("python -X dev", result, "D1", server="dev", printed=printed)["message"]
    )
    quiet(result, "D1", "healthy")
    quiet(result, "D2", "healthy")


@pytest.mark.exhaustive
def test_coverage_is_an_instrument(bench: Bench, tmp_path: Path) -> None:
    needed("wrk")
    needed_module("coverage")
    words = (sys.executable, "-m", "coverage", "run", f"--data-file={tmp_path / 'coverage'}")
    covered = command(*words, PROGRAMS / ANSWERS[0], *ANSWERS[1:])
    result = measured(bench, tmp_path, suite({"covered": covered, "healthy": program(*ANSWERS)}))
    printed = result.printed("covered", "Requests/sec")
    caught("a server under coverage", result, "D2", server="covered", printed=printed)
    quiet(result, "D2", "healthy")


def test_strace_is_a_tracer_and_the_trial_is_not_believed(bench: Bench, tmp_path: Path) -> None:
    needed("wrk", "strace")
    words = ("strace", "-f", "-qq", "-e", "trace=none", "-o", tmp_path / "strace", "--")
    traced = command(*words, sys.executable, PROGRAMS / ANSWERS[0], *ANSWERS[1:])
    result = measured(bench, tmp_path, suite({"traced": traced}))
    failure = result.trials("traced")[0]["failure"]
    if failure is not None and "ermitted" in failure["log"]:
        lack("no process may be traced here")
    printed = result.printed("traced", "Requests/sec")
    caught("a server under strace", result, "D2", server="traced", printed=printed)
    assert result.told.code == 4


@pytest.mark.exhaustive
def test_a_log_of_each_request(bench: Bench, tmp_path: Path) -> None:
    needed("wrk")
    needed_module("flask")
    loud = gunicorn("pong_flask:app", "arguments = ['--access-logfile', '-']")
    result = measured(bench, tmp_path, suite({"logs": loud, "healthy": gunicorn("pong_flask:app")}))
    printed = result.printed("logs", "Requests/sec")
    fault = "a server that logs each request"
    caught(fault, result, "D3", server="logs", status="warn", printed=printed)
    caught(fault, result, "D3", printed=printed)
    quiet(result, "D3", "healthy")


@pytest.mark.exhaustive
def test_a_log_of_each_request_into_a_file(bench: Bench, tmp_path: Path) -> None:
    needed("wrk")
    needed_module("flask")
    loud = gunicorn("pong_flask:app", f"arguments = ['--access-logfile', '{tmp_path}/access.log']")
    result = measured(bench, tmp_path, suite({"logs": loud, "healthy": gunicorn("pong_flask:app")}))
    fault = "a server that logs each request into a file of its own"
    printed = result.printed("logs", "Requests/sec")
    caught(fault, result, "D3", server="logs", status="warn", printed=printed)
    quiet(result, "D3", "healthy")
