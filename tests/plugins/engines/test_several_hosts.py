"""Trials whose parts run on several hosts: namespaces with an OpenSSH server each."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from front_door import WAITS_S, Told, needed
from hosts_lab import Lab, lab

SUITE = """
benchforge = 1
smoke = true

[placement.hosts]
loader = "load"
server = "app"
backend = "db"

[backends.database]
use = "postgresql"
dataset = "agents"
listen = "tcp"

[servers.flask]
use = "gunicorn"
app = "flask_agents"
workers = 1

[loaders.pace]
use = "pace"
connections = 2
duration = "1s"

[scenarios.list]
request = { path = "/agents" }
servers = ["flask"]
loaders = ["pace"]
backends = ["database"]
expect = { status = 200, same_body = true }

[repeat]
blocks = 1
"""
HOSTS = ("load", "app", "db")


def benchforge(hosts: Lab, folder: Path, *words: str) -> Told:
    done = subprocess.run(
        [sys.executable, "-m", "benchforge", *words],
        cwd=folder,
        env=hosts.environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=WAITS_S,
        stdin=subprocess.DEVNULL,
    )
    told = Told(done.returncode, done.stdout, done.stderr)
    assert "Traceback" not in told.all, told.all
    return told


def clean(hosts: Lab) -> None:
    """Wait until nothing of ours runs on any host."""
    deadline = time.monotonic() + WAITS_S
    while left := {label: hosts.running(label) for label in hosts.addresses}:
        if not any(left.values()):
            return
        assert time.monotonic() < deadline, left
        time.sleep(0.2)


def test_load_server_and_database_run_on_hosts_of_their_own(tmp_path: Path) -> None:
    needed("postgres", "psql")
    with lab(tmp_path, HOSTS) as hosts:
        (tmp_path / "suite.toml").write_text(SUITE + "".join(map(hosts.table, HOSTS)))

        looked = benchforge(hosts, tmp_path, "doctor", "--hosts", "suite.toml")
        assert looked.code == 0, looked.all
        assert "ok  db: " in looked.out
        assert "ok  load to app: " in looked.out

        ran = benchforge(hosts, tmp_path, "run", "suite.toml")
        assert ran.code == 0, ran.all
        where = "app ran server flask; load ran loader pace; db ran backend database"
        assert where in ran.out
        clean(hosts)
        assert not [file for host in HOSTS for file in (tmp_path / host / "tmp").glob("bf-*")]

        (result,) = (tmp_path / "results").iterdir()
        trial = json.loads((result / "trials/0001/trial.json").read_text())
        assert trial["failure"] is None
        assert trial["url"].startswith(f"http://{hosts.addresses['app']}:")
        assert set(trial["hosts"]) == set(HOSTS)
        used = {one["label"]: one["cpu_s"] for one in trial["observation"]["usage"]}
        assert all(used[name] > 0 for name in ("server-flask", "backend-database", "loader-pace"))
        by_host = {
            k: [u["label"] for u in h["observation"]["usage"]] for k, h in trial["hosts"].items()
        }
        assert by_host["db"] == ["backend-database"]
        assert {"app-system.csv", "db-system.csv", "system.csv", "server-flask.err"} <= set(
            trial["files"]
        )
        database = next(one for one in trial["processes"] if one["label"] == "server-flask")
        assert f"@{hosts.addresses['db']}:" in database["environment"]["DATABASE_URL"]
        header = json.loads((result / "result.json").read_text())
        assert header["hosts"]["load"]["links"]["app"]["bytes_per_s"] > 0

        verified = benchforge(hosts, tmp_path, "verify", str(result))
        assert verified.code == 0, verified.all
