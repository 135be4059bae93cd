"""A search for a rate, with CPUs of their own for the load tool and the server, on hosts."""

from pathlib import Path

import pytest
from dask_lab import connected
from hosts_lab import told_by
from measured.on_disk import trials_of
from suite_texts.files import suite_text

SUITE = suite_text("remote/search_on_hosts")


@pytest.mark.exhaustive
@pytest.mark.parametrize("engine", ["ssh", "dask"])
def test_a_search_and_cpus_on_hosts(tmp_path: Path, engine: str) -> None:
    with connected(engine, tmp_path, ("load", "app")) as (hosts, tables):
        (tmp_path / "few.toml").write_text(SUITE.replace('"1"', '"4000"') + tables)
        message = told_by(hosts.environment, tmp_path, "doctor", "--hosts", "few.toml", code=3)
        assert "app: placement.server: this machine gives no CPU 4000" in message.all

        (tmp_path / "suite.toml").write_text(SUITE + tables)
        ran = told_by(hosts.environment, tmp_path, "run", "suite.toml")
        assert ran.code in {0, 4}, ran.all
        for trial in trials_of(ran.result):
            assert trial["failure"] is None
            assert trial["search_outcome"] is not None
            assert 150 <= trial["load"]["rate"] <= 300
            assert trial["placement"]["cpus"] == {"server": "1", "loader": "0"}
            assert trial["placement"]["seen"].keys() == {"server-hello", "loader-pace"}
            (stayed,) = (item for item in trial["checks"] if item["id"] == "placement")
            assert stayed["status"] == "pass", stayed
        # It computes the rate of each trial again, from the trials before.
        told_by(hosts.environment, tmp_path, "verify", ran.result, code=0)
