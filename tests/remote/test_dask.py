"""Workers of a dask cluster: a real scheduler, a worker on each of two hosts."""

from pathlib import Path

import pytest
from dask_lab import authority, cluster, table
from front_door import needed_module
from hosts_lab import lab, one_server, told_by

pytestmark = pytest.mark.exhaustive

HOSTS = ("load", "app")


def test_workers_are_found_and_others_are_refused(tmp_path: Path) -> None:
    needed_module("distributed")
    pair = {label: ["any=1"] for label in HOSTS}
    with lab(tmp_path, HOSTS) as hosts, cluster(hosts, tmp_path, pair):
        text = one_server(1) + table(hosts, tmp_path)
        (tmp_path / "suite.toml").write_text(text)
        looked = told_by(hosts.environment, tmp_path, "doctor", "--hosts", "suite.toml", code=0)
        assert "ok  load to app: " in looked.out

        (tmp_path / "any.toml").write_text(one_server(1) + table(hosts, tmp_path, {"app": "any"}))
        several = told_by(hosts.environment, tmp_path, "run", "any.toml", code=3)
        assert "hosts.app: several workers have the name or resource 'any'" in several.err

        authority(tmp_path / "other")
        other = text.replace(f"{tmp_path}/cluster", f"{tmp_path}/other/cluster")
        (tmp_path / "other.toml").write_text(other)
        refused = told_by(hosts.environment, tmp_path, "run", "other.toml", code=3)
        assert "the scheduler at tls://" in refused.err
