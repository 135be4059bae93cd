"""Things that are not what they are called: a client's method, and interpreters."""

import sys
from pathlib import Path

import pytest
from front_door import Bench, answering, needed, needed_module
from planted.beside import gunicorn
from planted.validity import RATE, caught, measured, quiet
from suite_texts.files import suite_text


@pytest.mark.samples(1)
@pytest.mark.parametrize("client", ["published", "healthy", "pools"])
def test_an_async_map_that_is_an_async_for(bench: Bench, tmp_path: Path, client: str) -> None:
    needed_module("aiohttp")
    needed_module("requests")
    text = suite_text("validity/validity_names_clients", server=answering(), client=client)
    result = measured(bench, tmp_path, text)
    if client != "published":
        quiet(result, "D5", "answers")
        return
    printed = '"mode": "async-map_published", "way": "async-for"'
    assert printed in result.printed("answers", '"way"')
    check = caught("async-map that runs async-for", result, "D5", server="answers", printed=printed)
    assert "by async-map, and made them by async-for" in check["message"]


OWN, CPYTHON = f"py3{sys.version_info.minor}", f"CPython 3.{sys.version_info.minor}"
OTHER = "py312" if sys.version_info.minor != 12 else "py313"


def on(**pythons: str | Path) -> str:
    """Return a suite with a server on each of these interpreters, each a runtime by its label."""
    needed("wrk")
    needed_module("gunicorn")
    runtimes = [f"[runtimes.{label}]\npython = '{python}'" for label, python in pythons.items()]
    servers = [
        f"[servers.on_{label}]\n{gunicorn('pong_wsgi:app')}runtime = '{label}'" for label in pythons
    ]
    labels = [f"on_{label}" for label in pythons]
    actual = {"runtimes": "\n".join(runtimes), "servers": "\n".join(servers), "labels": labels}
    return suite_text("validity/validity_names_runtimes", **actual)


@pytest.mark.exhaustive
def test_a_runtime_that_is_called_as_another_version(bench: Bench, tmp_path: Path) -> None:
    result = measured(bench, tmp_path, on(**{OTHER: sys.executable}))
    fault = "a runtime called py312 that is another Python"
    check = caught(fault, result, "D4", word=RATE, of_server=f"on_{OTHER}")
    assert f"{OTHER} is called {OTHER}, and is {CPYTHON}" in check["message"]


def test_a_file_that_is_called_as_another_version(bench: Bench, tmp_path: Path) -> None:
    impostor = tmp_path / f"python3.{OTHER.removeprefix('py3')}"
    impostor.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    impostor.chmod(0o755)
    result = measured(bench, tmp_path, on(new=impostor))
    fault = "a file called python3.12 that starts another"
    check = caught(fault, result, "D4", word=RATE, of_server="on_new")
    assert f"is {CPYTHON}" in check["message"]


@pytest.mark.exhaustive
def test_two_runtimes_that_are_one(bench: Bench, tmp_path: Path) -> None:
    result = measured(bench, tmp_path, on(old=sys.executable, new=sys.executable))
    fault = "two runtimes that are one interpreter"
    check = caught(fault, result, "D4", status="warn", word=RATE, of_server="on_new")
    assert check["message"].startswith("runtimes old and new are one and the same (")
    assert check["message"].count("one and the same") == 1


@pytest.mark.exhaustive
def test_a_runtime_that_is_what_it_is_called(bench: Bench, tmp_path: Path) -> None:
    result = measured(bench, tmp_path, on(**{OWN: sys.executable}))
    quiet(result, "D4")
    quiet(result, "D4", f"on_{OWN}")
