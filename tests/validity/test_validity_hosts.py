"""Trials on several hosts: a full link, a clock that runs away, load tools apart in time."""

import json
import re
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from faults.watched import until
from front_door import PROGRAMS, WAITS_S, Bench
from hosts_lab import Lab, lab
from planted.validity import caught, measured, noted, quiet

pytestmark = pytest.mark.exhaustive

HOSTS = ("load", "load2", "app")
LARGE, SMALL = "/length/300000", "/ping"
TBF = ("tbf", "rate", "40mbit", "burst", "16kb", "latency", "100ms")
RUNS_AWAY = """
import sys, time
if "benchforge.remote.agent" in sys.orig_argv:
    real = time.monotonic
    time.monotonic = lambda: real() * 1.01
"""
SLEEPS_LONGER = """
import sys, time
if "benchforge.remote.agent" in sys.orig_argv:
    real = time.sleep
    time.sleep = lambda seconds: real(seconds + 0.2 if 0 < seconds < 1 else seconds)
"""
COMPUTES = """
import os, sys, threading, time
def computes():
    for _ in range(12):
        until = time.monotonic() + 0.3
        while time.monotonic() < until:
            pass
        time.sleep(0.3)
def begins():
    threading.Thread(target=computes, daemon=True).start()
if "pace_main.py" in " ".join(sys.orig_argv):
    sys.setswitchinterval(1)
    os.register_at_fork(after_in_child=begins)
    begins()
"""


@pytest.fixture
def hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    """Give three hosts, which benchforge in this test connects."""
    (folder := tmp_path / "lab").mkdir()
    with lab(folder, HOSTS) as three:
        for name, value in three.environment.items():
            monkeypatch.setenv(name, value)
        yield three


def suite(
    hosts: Lab, path: str = SMALL, *, loader: str = '"load"', load: str, blocks: int = 1
) -> str:
    tables = "".join(map(hosts.table, HOSTS))
    return f"""benchforge = 1
placement.hosts = {{ loader = {loader}, server = "app" }}
servers.sizes = {{ use = "gunicorn", app = "sizes_flask", worker_class = "gthread", threads = 4 }}
scenarios.sizes = {{ request = {{ path = "{path}" }}, servers = ["sizes"], loaders = ["load"] }}
repeat = {{ quiet = "off", blocks = {blocks} }}
{tables}
[loaders.load]
use = "pace"
connections = 4
{load}
"""


CLOSED = 'duration = "2s"'
FIXED = 'rate = 40\narrivals = "constant"\nduration = "3s"'
BOTH = '["load", "load2"]'
FIRST_TRIAL = "results/[!.]*/trials/0001/trial.json"


def connected_once(bench: Bench, hosts: Lab, tmp_path: Path, text: str) -> None:
    """Bring benchforge to all hosts."""
    (tmp_path / "first.toml").write_text(text)
    bench("doctor", "--hosts", "first.toml", within_s=300, code=0)


def planted(hosts: Lab, label: str, code: str) -> None:
    """Have each Python of benchforge's on a host begin with a program."""
    for site in (hosts.folder / label / "home").glob("benchforge/hosts/*/lib/*/site-packages"):
        (site / "planted.py").write_text(code)
        (site / "planted.pth").write_text("import planted\n")


def narrow(hosts: Lab, label: str) -> None:
    """Give what a host sends 40 Mbit/s."""
    done = hosts.inside(label, "tc", "qdisc", "add", "dev", "eth0", "root", *TBF)
    if done.returncode:
        pytest.skip(f"this kernel shapes no traffic: {done.stderr}")


def test_a_link_that_is_the_limit(bench: Bench, hosts: Lab, tmp_path: Path) -> None:
    free = measured(bench, tmp_path, suite(hosts, LARGE, load=CLOSED))
    quiet(free, "H3", "sizes")
    narrow(hosts, "app")
    result = measured(bench, tmp_path, suite(hosts, LARGE, load=CLOSED))
    check = caught("answers of 300 kB over a link of 40 Mbit/s", result, "H3", server="sizes")
    assert "app to load carried" in check["message"]
    assert "the link was the limit" in check["message"]


def test_a_link_that_is_not_as_before(bench: Bench, hosts: Lab, tmp_path: Path) -> None:
    def narrows() -> None:
        until(lambda: list(tmp_path.glob(FIRST_TRIAL)), WAITS_S)
        narrow(hosts, "app")

    later = threading.Thread(target=narrows)
    later.start()
    result = measured(bench, tmp_path, suite(hosts, load=FIXED, blocks=3))
    later.join()
    check = caught("the link gets 40 Mbit/s between two trials", result, "H4", server="sizes")
    assert check["value"] > 0.5
    assert "app to load" in check["message"]


def test_a_clock_that_runs_away(bench: Bench, hosts: Lab, tmp_path: Path) -> None:
    text = suite(hosts, load=FIXED)
    connected_once(bench, hosts, tmp_path, text)
    planted(hosts, "app", RUNS_AWAY)
    result = measured(bench, tmp_path, text)
    check = caught("the clock of a host runs 1 % fast", result, "H5", server="sizes")
    assert check["component"] == "app"
    others = [check for check in result.checks("H5", "sizes") if check["component"] == "load"]
    assert others[0]["status"] == "pass", others


def test_a_load_tool_that_starts_later(bench: Bench, hosts: Lab, tmp_path: Path) -> None:
    text = suite(hosts, loader=BOTH, load=FIXED)
    connected_once(bench, hosts, tmp_path, text)
    planted(hosts, "load2", SLEEPS_LONGER)
    result = measured(bench, tmp_path, text)
    fault = "one of two load tools starts 0.2 s later"
    assert caught(fault, result, "H6", server="sizes", status="warn")["value"] > 0.05


def test_load_tools_at_their_limit(bench: Bench, hosts: Lab, tmp_path: Path) -> None:
    """One of two load tools in Python computes beside its requests, a third of a second at once."""
    options = ["--address", "{address}", "--port", "{port}", "--wait", "0.05"]
    waits = json.dumps([sys.executable, str(PROGRAMS / "servers/answers.py"), *options])

    def waiting(load: str) -> str:
        gunicorn = 'use = "gunicorn", app = "sizes_flask", worker_class = "gthread", threads = 4'
        command = f'use = "command", command = {waits}'
        return suite(hosts, loader=BOTH, load=load).replace(gunicorn, command)

    connected_once(bench, hosts, tmp_path, waiting(CLOSED))
    quiet(measured(bench, tmp_path, waiting(CLOSED)), "H8", "sizes")
    planted(hosts, "load2", COMPUTES)
    result = measured(bench, tmp_path, waiting(FIXED))
    caught("one of two load tools computes beside its requests", result, "H8", server="sizes")
    failed = [check for check in result.checks("H8", "sizes") if check["status"] == "fail"]
    assert "load2" in {item["component"] for item in failed}, failed


def test_hosts_of_one_role_that_differ(bench: Bench, hosts: Lab, tmp_path: Path) -> None:
    hosts.inside("load2", "sysctl", "-w", "net.core.somaxconn=128")
    result = measured(bench, tmp_path, suite(hosts, loader=BOTH, load=FIXED))
    fault = "two hosts of load tools with another net.core.somaxconn"
    assert "sysctl" in caught(fault, result, "H2", status="warn")["message"]


def test_code_that_was_changed_on_a_host(bench: Bench, hosts: Lab, tmp_path: Path) -> None:
    text = suite(hosts, load=FIXED)
    connected_once(bench, hosts, tmp_path, text)
    for site in (hosts.folder / "app/home").glob("benchforge/hosts/*/lib/*/site-packages"):
        with (site / "benchforge/errors.py").open("a") as file:
            file.write("\n# changed\n")
    (tmp_path / "suite.toml").write_text(text)
    refused = bench("run", "suite.toml", within_s=300, code=2)
    message = next(line for line in refused.err.splitlines() if "hosts.app: " in line)
    assert "hosts.app: benchforge there is" in message
    assert "remove ~/.cache/benchforge/hosts" in refused.err
    row = {"name": "same-code", "status": "refused", "value": None, "message": message}
    noted("a file of benchforge was changed on a host", "H1", row, "")


def sends(line: str) -> bool:
    """Whether a command line is that of a load, and not of a look at the load tool's version."""
    return "pace_main.py" in line and "--version" not in line


def test_a_far_end_that_is_stopped(bench: Bench, hosts: Lab, tmp_path: Path) -> None:
    """It says nothing more, and its ssh lives: the host is lost by its silence."""
    stopped: list[str] = []

    def stops() -> None:
        until(lambda: any(map(sends, hosts.running("load"))), WAITS_S)
        lines = hosts.inside("app", "ps", "-wweo", "pid,args", "--no-headers").stdout
        far = [line for line in lines.splitlines() if "benchforge.remote.agent" in line]
        stopped.append(far[0].split()[0])
        hosts.inside("app", "kill", "-STOP", stopped[0])

    def goes_on() -> None:
        """A host that is not continued keeps its lock, so that no attempt succeeds."""
        until(lambda: list(tmp_path.glob(FIRST_TRIAL)), WAITS_S)
        hosts.inside("app", "kill", "-CONT", stopped[0])

    threads = [threading.Thread(target=item) for item in (stops, goes_on)]
    for thread in threads:
        thread.start()
    result = measured(bench, tmp_path, suite(hosts, load=FIXED))
    for thread in threads:
        thread.join()
    first = result.trials("sizes")[0]
    assert first["failure"]["subject"] == "apparatus"
    assert "lost host app: it did not answer for 20 s" in first["failure"]["message"]
    row = {"name": "lost-host", "status": "fail", "value": None, **first["failure"]}
    noted("benchforge on a host is stopped in a load", "H7", row, "")
    assert result.trials("sizes")[-1]["failure"] is None, result.told.all


@pytest.mark.parametrize(("fault", "status"), [("daemon", "fail"), ("none", "pass")])
def test_work_after_the_load_on_a_host(
    bench: Bench, hosts: Lab, tmp_path: Path, fault: str, status: str
) -> None:
    words = [sys.executable, str(PROGRAMS / "faulty_servers/later.py"), "{port}", fault]
    server = f"servers.sizes = {{ use = 'command', command = {json.dumps([*words, '{address}'])} }}"
    text = re.sub(r"servers\.sizes = .*", server, suite(hosts, load='duration = "1s"'))
    result = measured(bench, tmp_path, text)
    if fault != "none":
        caught("work after the load, of a server on a host", result, "W5")
    assert {check["status"] for check in result.checks("W5")} == {status}
