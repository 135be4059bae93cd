"""Trials on the workers of a dask cluster: a real scheduler, a worker on each of two hosts."""

import json
from pathlib import Path

import pytest
from dask_lab import authority, cluster, table
from front_door import needed_module
from hosts_lab import clean, lab, one_server, told_by

pytestmark = pytest.mark.exhaustive

HOSTS = ("load", "app")


def test_a_run_on_workers(tmp_path: Path) -> None:
    needed_module("distributed")
    pair = {label: ["any=1"] for label in HOSTS}
    with lab(tmp_path, HOSTS) as hosts, cluster(hosts, tmp_path, pair):
        text = one_server(1) + table(hosts, tmp_path)
        (tmp_path / "suite.toml").write_text(text)
        looked = told_by(hosts.environment, tmp_path, "doctor", "--hosts", "suite.toml", code=0)
        assert "ok  load to app: " in looked.out
        ran = told_by(hosts.environment, tmp_path, "run", "--details", "suite.toml")
        assert ran.code in {0, 4}, ran.all
        assert "app ran server server; load ran loader tool" in ran.out
        clean(hosts)
        (result,) = (tmp_path / "results").iterdir()
        trial = json.loads((result / "trials/0001/trial.json").read_text())
        assert trial["failure"] is None
        assert trial["url"].startswith(f"http://{hosts.addresses['app']}:")
        assert set(trial["hosts"]) == set(HOSTS)
        told_by(hosts.environment, tmp_path, "verify", result, code=0)

        (tmp_path / "any.toml").write_text(one_server(1) + table(hosts, tmp_path, {"app": "any"}))
        several = told_by(hosts.environment, tmp_path, "run", "any.toml", code=3)
        assert "hosts.app: several workers have the name or resource 'any'" in several.err

        authority(tmp_path / "other")
        other = text.replace(f"{tmp_path}/cluster", f"{tmp_path}/other/cluster")
        (tmp_path / "other.toml").write_text(other)
        refused = told_by(hosts.environment, tmp_path, "run", "other.toml", code=3)
        assert "the scheduler at tls://" in refused.err
