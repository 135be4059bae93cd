"""Remedies of real runs, typed as they are printed: the finding is gone afterwards."""

import re
import shlex
import sys
from pathlib import Path

import pytest
from front_door import PROGRAMS, Bench, needed_module
from planted.beside import PACE, command, gunicorn, program, suite
from planted.validity import ONCE, Seen, measured, quiet


def typed(bench: Bench, folder: Path, observed: Seen, id_: str) -> Seen:
    """Type the command that the details of a run print below a finding."""
    _, _, below = observed.told.all.partition(f" {id_}  ")
    program_, *words = shlex.split(re.split(r"\n {1,7}\S", below.partition("→ ")[2])[0])
    assert program_ == "benchforge", observed.told.all
    assert words[:2] == ["run", "suite.toml"], observed.told.all
    return measured(bench, folder, (folder / "suite.toml").read_text(), *words[2:])


CLOSES = program("faulty_servers/turns.py", "{port}", "closes")


@pytest.mark.samples(1)
@pytest.mark.parametrize("server", [gunicorn("pong_wsgi:app"), CLOSES], ids=["option", "none"])
def test_a_closing_server_keeps_by_its_option(bench: Bench, tmp_path: Path, server: str) -> None:
    needed_module("gunicorn")
    text = suite({"closes": server}, PACE, top=ONCE, scenario="expect = { status = 200 }")
    result = measured(bench, tmp_path, text, "--details")
    assert [check["status"] for check in result.checks("K1", "closes")] == ["fail"]
    quiet(typed(bench, tmp_path, result, "K1"), "K1", "closes")


@pytest.mark.exhaustive
def test_a_program_called_node_has_a_mode(bench: Bench, tmp_path: Path) -> None:
    node, script = tmp_path / "node", tmp_path / "shop/server.py"
    node.symlink_to(Path(sys.executable).resolve())
    (tmp_path / "shop/node_modules").mkdir(parents=True)
    for name, file in (("answers.py", script), ("wire.py", script.with_name("wire.py"))):
        file.write_bytes((PROGRAMS / "servers" / name).read_bytes())
    text = suite({"shop": command(node, script, "--port", "{port}")}, PACE, top=ONCE)
    quiet(measured(bench, tmp_path, text), "D1", "shop")
    (tmp_path / "shop/node_modules/express").mkdir()
    result = measured(bench, tmp_path, text, "--details")
    assert [check["status"] for check in result.checks("D1", "shop")] == ["fail"]
    quiet(typed(bench, tmp_path, result, "D1"), "D1", "shop")


@pytest.mark.exhaustive
def test_waitress_that_warns_of_requests_without_a_thread(bench: Bench, tmp_path: Path) -> None:
    needed_module("waitress")
    words = ("-m", "waitress", "--listen=127.0.0.1:{port}", "--threads=1")
    server = command(sys.executable, *words, "pong_wsgi:app", PYTHONPATH=str(PROGRAMS / "apps"))
    load = PACE.replace('rate = "100/s"\narrivals = "constant"\n', "").replace("= 2", "= 8")
    text = suite({"slow": server}, load, top=ONCE)
    result = measured(bench, tmp_path, text, "--details")
    (check,) = result.checks("D3", "slow")
    assert check["status"] == "warn"
    assert "Task queue depth is" in check["message"]
    assert "waitress-serve --threads=8" in result.told.all
    more = text.replace("--threads=1", "--threads=8")
    quiet(measured(bench, tmp_path, more), "D3", "slow")
