"""On hosts: a search for a rate, with CPUs of their own, and what each load tool can do at most."""

import json
from pathlib import Path
from typing import Any

import pytest
from dask_lab import connected
from hosts_lab import told_by
from measured.on_disk import trials_of
from suite_texts.files import suite_text

SEARCH = suite_text("remote/search_on_hosts")


@pytest.mark.exhaustive
@pytest.mark.parametrize("engine", ["ssh", "dask"])
def test_a_search_and_cpus_on_hosts(tmp_path: Path, engine: str) -> None:
    with connected(engine, tmp_path, ("load", "app")) as (hosts, tables):
        (tmp_path / "few.toml").write_text(SEARCH.replace('"1"', '"4000"') + tables)
        message = told_by(hosts.environment, tmp_path, "doctor", "--hosts", "few.toml", code=3)
        assert "app: placement.server: this machine gives no CPU 4000" in message.all

        (tmp_path / "suite.toml").write_text(SEARCH + tables)
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


CEILINGS = suite_text("remote/ceilings_on_hosts")


@pytest.mark.exhaustive
@pytest.mark.parametrize(("engine", "tools"), [("ssh", ["load", "load2"]), ("dask", ["load"])])
def test_each_load_tool_has_a_ceiling_of_its_own(
    tmp_path: Path, engine: str, tools: list[str]
) -> None:
    with connected(engine, tmp_path, (*tools, "app")) as (hosts, tables):
        text = CEILINGS.replace('["load", "load2"]', json.dumps(tools))
        (tmp_path / "suite.toml").write_text(text + tables)
        words = ["run", "suite.toml", "-o", "results"]
        for limit in ("20s", "40s", "80s", "160s"):  # a loud machine has time for a trial only
            ran = told_by(hosts.environment, tmp_path, *words, "--time-limit", limit)
            (result,) = (tmp_path / "results").iterdir()
            files = sorted(result.glob("ceilings/*/ceiling.json"))
            entries: list[Any] = [json.loads(file.read_text()) for file in files]
            if len(entries) == len(tools):
                break
            words = ["run", "--resume", str(result)]
        assert len(entries) == len(tools), ran.all
        address = hosts.addresses["app"]
        for path, item_ in enumerate(entries):
            trial = item_["trial"]
            assert trial["failure"] is None, trial["failure"]
            assert trial["url"].startswith(f"http://{address}:")
            assert item_["shares"] == len(tools)
            assert trial["load"]["connections"] == 4 // len(tools)
            assert trial["hosts"][tools[path]]["parts"] == ["loader-pace"]
            assert trial["hosts"]["app"]["parts"] == ["server-null"]
            assert item_["body_bytes"] == trial["answers"][0]["length"] > 0
        summary = json.loads((result / "summary.json").read_text())
        (actual,) = (item for item in summary["checks"] if item["id"] == "L2")
        assert actual["value"] is not None, actual
        assert "pace on load" in actual["message"]
        for command in ("validate", "verify"):
            told_by(hosts.environment, tmp_path, command, result, code=0)
