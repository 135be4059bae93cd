"""Trials on the workers of a dask cluster: a real scheduler, a worker on each of two hosts."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from dask_lab import authority, cluster, table
from front_door import WAITS_S, Told, captured, needed_module
from hosts_lab import Lab, lab, one_server

pytestmark = pytest.mark.exhaustive

HOSTS = ("load", "app")
RUN = [sys.executable, "-m", "benchforge", "run", "suite.toml"]


def benchforge(hosts: Lab, folder: Path, *words: str) -> Told:
    done = captured(
        [sys.executable, "-m", "benchforge", *words],
        cwd=folder,
        env=hosts.environment,
        timeout=WAITS_S,
        stdin=subprocess.DEVNULL,
    )
    actual = Told(done.returncode, done.stdout, done.stderr)
    assert "Traceback" not in actual.all, actual.all
    return actual


def ours(hosts: Lab) -> list[str]:
    """Return what benchforge runs on the hosts: all but the workers."""
    lines = [line for label in HOSTS for line in hosts.running(label)]
    return [line for line in lines if "dask_worker" not in line]


def clean(hosts: Lab) -> None:
    deadline = time.monotonic() + WAITS_S
    while rest := ours(hosts):
        assert time.monotonic() < deadline, rest
        time.sleep(0.2)


def test_a_run_on_workers(tmp_path: Path) -> None:
    needed_module("distributed")
    pair = {label: ["any=1"] for label in HOSTS}
    with lab(tmp_path, HOSTS) as hosts, cluster(hosts, tmp_path, pair):
        text = one_server(1) + table(hosts, tmp_path)
        (tmp_path / "suite.toml").write_text(text)
        looked = benchforge(hosts, tmp_path, "doctor", "--hosts", "suite.toml")
        assert looked.code == 0, looked.all
        assert "ok  load to app: " in looked.out
        ran = benchforge(hosts, tmp_path, "run", "--details", "suite.toml")
        assert ran.code in {0, 4}, ran.all
        assert "app ran server server; load ran loader tool" in ran.out
        clean(hosts)
        (result,) = (tmp_path / "results").iterdir()
        trial = json.loads((result / "trials/0001/trial.json").read_text())
        assert trial["failure"] is None
        assert trial["url"].startswith(f"http://{hosts.addresses['app']}:")
        assert set(trial["hosts"]) == set(HOSTS)
        verified = benchforge(hosts, tmp_path, "verify", str(result))
        assert verified.code == 0, verified.all

        (tmp_path / "any.toml").write_text(one_server(1) + table(hosts, tmp_path, {"app": "any"}))
        several = benchforge(hosts, tmp_path, "run", "any.toml")
        assert several.code == 3, several.all
        assert "hosts.app: several workers have the name or resource 'any'" in several.err

        authority(tmp_path / "other")
        other = text.replace(f"{tmp_path}/cluster", f"{tmp_path}/other/cluster")
        (tmp_path / "other.toml").write_text(other)
        refused = benchforge(hosts, tmp_path, "run", "other.toml")
        assert refused.code == 3, refused.all
        assert "the scheduler at tls://" in refused.err


@pytest.mark.parametrize("fault", ["benchforge", "worker", "far end", "cut"])
def test_whatever_is_killed_in_a_load_leaves_nothing_on_any_worker(
    tmp_path: Path, fault: str
) -> None:
    needed_module("distributed")
    with lab(tmp_path, HOSTS) as hosts, cluster(hosts, tmp_path):
        text = one_server(5) + table(hosts, tmp_path)
        (tmp_path / "suite.toml").write_text(text)
        with (tmp_path / "printed").open("w") as printed:
            run = subprocess.Popen(
                RUN, cwd=tmp_path, env=hosts.environment, stdout=printed, stderr=printed
            )
            deadline = time.monotonic() + WAITS_S
            while not any(
                "pace_main.py" in line and "--version" not in line for line in ours(hosts)
            ):
                assert run.poll() is None, (tmp_path / "printed").read_text()
                assert time.monotonic() < deadline
                time.sleep(0.1)
            if fault == "benchforge":
                os.kill(run.pid, signal.SIGKILL)
            elif fault == "cut":
                hosts.link("app", "down")
            else:
                word = {"worker": "dask_worker", "far end": "benchforge.remote.agent"}[fault]
                lines = hosts.inside("app", "ps", "-wweo", "pid,args", "--no-headers").stdout
                pid = next(line.split()[0] for line in lines.splitlines() if word in line)
                hosts.inside("app", "kill", "-9", pid)
            if fault == "cut":
                while rest := [x for x in hosts.running("app") if "dask_worker" not in x]:
                    assert time.monotonic() < deadline, rest
                    time.sleep(0.1)
                hosts.link("app", "up")
            code = run.wait(WAITS_S)
        clean(hosts)
        text = (tmp_path / "printed").read_text()
        assert "Traceback" not in text, text
        if fault == "benchforge":
            assert code == -signal.SIGKILL
            return
        (result,) = (tmp_path / "results").iterdir()
        first = json.loads((result / "trials/0001/trial.json").read_text())
        assert first["failure"]["subject"] == "apparatus", first["failure"]
