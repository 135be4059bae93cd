"""Trials whose parts run on several hosts: namespaces with an OpenSSH server each."""

import json
import os
import signal
import subprocess
import sys
import time
from itertools import product
from pathlib import Path

import pytest
from dask_lab import connected
from faults.watched import children, line
from front_door import WAITS_S, needed
from hosts_lab import Lab, clean, lab, one_server, told_by
from measured.on_disk import trials_of
from suite_texts.files import suite_text

SUITE = suite_text("remote/several_hosts")
HOSTS = ("load", "app", "db")


@pytest.mark.exhaustive
def test_load_server_and_database_run_on_hosts_of_their_own(tmp_path: Path) -> None:
    needed("postgres", "psql")
    with lab(tmp_path, HOSTS) as hosts:
        (tmp_path / "suite.toml").write_text(SUITE + "".join(map(hosts.table, HOSTS)))

        looked = told_by(hosts.environment, tmp_path, "doctor", "--hosts", "suite.toml", code=0)
        assert "ok  db: " in looked.out
        assert "ok  load to app: " in looked.out

        ran = told_by(hosts.environment, tmp_path, "run", "--details", "suite.toml", code=0)
        where = "app ran server flask; load ran loader pace; db ran backend database"
        assert where in ran.out
        clean(hosts)
        assert not [file for host in HOSTS for file in (tmp_path / host / "tmp").glob("bf-*")]

        (result,) = (tmp_path / "results").iterdir()
        trial = trials_of(result)[0]
        assert trial["failure"] is None
        assert trial["url"].startswith(f"http://{hosts.addresses['app']}:")
        assert set(trial["hosts"]) == set(HOSTS)
        used = {item["label"]: item["cpu_s"] for item in trial["observation"]["usage"]}
        assert all(used[name] > 0 for name in ("server-flask", "backend-database", "loader-pace"))
        by_host = trial["hosts"]["db"]["observation"]["usage"]
        assert [usage["label"] for usage in by_host] == ["backend-database"]
        files = {"app-system.csv", "db-system.csv", "system.csv", "server-flask.err"}
        assert files <= {*trial["files"]}
        database = next(item for item in trial["processes"] if item["label"] == "server-flask")
        assert f"@{hosts.addresses['db']}:" in database["environment"]["DATABASE_URL"]
        header = json.loads((result / "result.json").read_text())
        assert header["hosts"]["load"]["links"]["app"]["bytes_per_s"] > 0

        told_by(hosts.environment, tmp_path, "verify", result, code=0)


DIVIDED = suite_text("remote/several_hosts_divided")


@pytest.mark.exhaustive
def test_a_load_is_divided_among_hosts_and_reported_as_one(tmp_path: Path) -> None:
    places = ("load", "load2", "app")
    with lab(tmp_path, places) as hosts:
        (tmp_path / "suite.toml").write_text(DIVIDED + "".join(map(hosts.table, places)))
        planned = told_by(hosts.environment, tmp_path, "plan", "suite.toml")
        assert "pace (on load and load2)" in planned.out, planned.all
        ran = told_by(hosts.environment, tmp_path, "run", "suite.toml")
        assert ran.code in {0, 4}, ran.all
        (result,) = (tmp_path / "results").iterdir()
        trial = trials_of(result)[0]
        tools = [host["reading"] for host in trial["hosts"].values() if host["reading"]]
        assert len(tools) == 2
        full = trial["reading"]
        assert full["responses"] == sum(tool["responses"] for tool in tools) > 0
        assert full["schedule"]["rate"] == 100
        assert trial["load"]["connections"] == 4
        assert sum(full["latency"]["counts"].values()) == full["responses"]
        for name in ("loader-pace.out", "load2/load2-loader-pace.out", "load2/usage.csv"):
            assert name in trial["files"]
        labels = {item["label"] for item in trial["observation"]["usage"]}
        assert {"loader-pace", "load2-loader-pace", "server-waitress"} <= labels
        ids = {item["id"] for item in trial["checks"]}
        assert {"H3", "H4", "H5", "H6", "H8"} <= ids
        told_by(hosts.environment, tmp_path, "verify", result, code=0)


FAULTS = {
    "worker": ("app", "dask_worker"),
    "far": ("app", "benchforge.remote.agent"),
    "keeper": ("app", "keeper.main"),
    "sshd": ("app", "notty"),
    "far of the load tool": ("load", "benchforge.remote.agent"),
}


def killed(hosts: Lab, fault: str, controller: int) -> None:
    """Kill what a fault names, with SIGKILL."""
    if fault in {"controller", "client"}:
        clients = [pid for pid in children(controller) if b"ssh" in line(pid)]
        os.kill(controller if fault == "controller" else clients[-1], signal.SIGKILL)
        return
    label, words = FAULTS[fault]
    lines = hosts.inside(label, "ps", "-wweo", "pid,args", "--no-headers").stdout.splitlines()
    pids = [line.split()[0] for line in lines if words in line and "ps -wweo" not in line]
    assert pids, lines
    assert hosts.inside(label, "kill", "-9", pids[0]).returncode == 0


def loaded(hosts: Lab) -> bool:
    """Whether the load tool sends its load."""
    lines = hosts.running("load")
    return any("pace_main.py" in line and "--version" not in line for line in lines)


BY_SSH = ("far", "keeper", "sshd", "far of the load tool", "client", "controller", "cut")
BY_DASK = ("far", "worker", "controller", "cut")


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("engine", "fault"), [*product(["ssh"], BY_SSH), *product(["dask"], BY_DASK)]
)
def test_whatever_is_killed_in_a_load_leaves_nothing_on_any_host(
    tmp_path: Path, engine: str, fault: str
) -> None:
    with connected(engine, tmp_path, ("load", "app")) as (hosts, tables):
        (tmp_path / "suite.toml").write_text(one_server(5) + tables)
        words = [sys.executable, "-m", "benchforge", "run", "suite.toml"]
        with (tmp_path / "printed").open("w") as printed:
            run = subprocess.Popen(
                words, cwd=tmp_path, env=hosts.environment, stdout=printed, stderr=printed
            )
            deadline = time.monotonic() + WAITS_S
            while not loaded(hosts):
                assert run.poll() is None, (tmp_path / "printed").read_text()
                assert time.monotonic() < deadline
                time.sleep(0.1)
            if fault == "cut":  # what is left beyond the cut ends by itself
                hosts.link("app", "down")
                clean(hosts, ["app"] if engine == "dask" else ["load", "app"])
                hosts.link("app", "up")
            else:
                killed(hosts, fault, run.pid)
            code = run.wait(WAITS_S)
        clean(hosts)
        text = (tmp_path / "printed").read_text()
        assert "Traceback" not in text
        if fault == "controller":
            assert code == -signal.SIGKILL
            return
        (result,) = (tmp_path / "results").iterdir()
        trials = trials_of(result)
        assert trials[0]["failure"]["subject"] == "apparatus", trials[0]["failure"]
        if engine == "ssh":  # a cut may last longer than all attempts
            assert code == 0 or (fault, code) == ("cut", 4), text
            assert fault == "cut" or trials[-1]["failure"] is None, text
