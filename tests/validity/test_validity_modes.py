"""Servers as their developers run them, with an instrument, and with a log of each request."""

import sys
from pathlib import Path

import pytest
from front_door import PROGRAMS, Bench, lack, needed, needed_module
from planted.beside import command, gunicorn, program, suite
from planted.validity import ONCE, RATE, apart, caught, measured, quiet

ANSWERS = ("servers/answers.py", "--port", "{port}", "--wait", 0.005)
PYTHON, PONG = sys.executable, PROGRAMS / ANSWERS[0]
FLASK, DJANGO = gunicorn("pong_flask:app"), gunicorn("pong_django:app")
DEBUG_FLASK = command(
    *(PYTHON, "-m", "flask", "--app", PROGRAMS / "apps/pong_flask.py"),
    *("run", "--debug", "--port", "{port}"),
)
RUNSERVER = program("apps/pong_django.py", "runserver", "--noreload", "{port}")
DEBUG_DJANGO = gunicorn("pong_django:app", "environment = { PONG_DEBUG = '1' }")
DEV = command(PYTHON, "-X", "dev", PONG, *ANSWERS[1:])


@pytest.mark.samples(1)
@pytest.mark.parametrize(
    ("fault", "dev", "healthy", "sign"),
    [
        ("python -X dev", DEV, program(*ANSWERS), "-X dev"),
        ("Flask's own server, told to debug", DEBUG_FLASK, FLASK, "--debug"),
        ("Flask's own server", program("apps/pong_flask.py", "{port}"), FLASK, "Werkzeug"),
        ("Django's own server", RUNSERVER, DJANGO, "runserver"),
        ("Django with DEBUG, under gunicorn", DEBUG_DJANGO, DJANGO, "DEBUG"),
    ],
)
def test_a_server_of_developers(
    bench: Bench, tmp_path: Path, fault: str, dev: str, healthy: str, sign: str
) -> None:
    needed_module("flask")
    needed_module("django")
    result = measured(bench, tmp_path, suite({"dev": dev, "healthy": healthy}, top=ONCE))
    apart(result, fault, "D1", "dev", word=RATE)
    assert any(sign in check["message"] for check in result.checks("D1", "dev"))
    quiet(result, "D2", "healthy")


@pytest.mark.exhaustive
def test_coverage_is_an_instrument(bench: Bench, tmp_path: Path) -> None:
    needed_module("coverage")
    words = (PYTHON, "-m", "coverage", "run", f"--data-file={tmp_path / 'coverage'}")
    covered = command(*words, PONG, *ANSWERS[1:])
    result = measured(bench, tmp_path, suite({"covered": covered, "healthy": program(*ANSWERS)}))
    apart(result, "a server under coverage", "D2", "covered", word=RATE)


def test_strace_is_a_tracer_and_the_trial_is_not_believed(bench: Bench, tmp_path: Path) -> None:
    needed("strace")
    words = ("strace", "-f", "-qq", "-e", "trace=none", "-o", tmp_path / "strace", "--")
    traced = command(*words, PYTHON, PONG, *ANSWERS[1:])
    result = measured(bench, tmp_path, suite({"traced": traced}))
    failure = result.trials("traced")[0]["failure"]
    if failure is not None and "ermitted" in failure["log"]:
        lack("no process may be traced here")
    caught("a server under strace", result, "D2", server="traced", word=RATE)
    assert result.told.code == 4


@pytest.mark.exhaustive
@pytest.mark.parametrize(("name", "more"), [("-", ""), ("access.log", " into a file of its own")])
def test_a_log_of_each_request(bench: Bench, tmp_path: Path, name: str, more: str) -> None:
    needed_module("flask")
    log = name if name == "-" else tmp_path / name
    logs = gunicorn("pong_flask:app", f"arguments = ['--access-logfile', '{log}']")
    result = measured(bench, tmp_path, suite({"logs": logs, "healthy": FLASK}))
    fault = f"a server that logs each request{more}"
    apart(result, fault, "D3", "logs", status="warn", word=RATE)
    if not more:
        caught(fault, result, "D3", word=RATE, of_server="logs")
