"""What benchforge 0.2.0 wrote is read, verified and resumed, and its suites and plugins run.

docs/stability.md promises it. Each file of tests/results/stored is as that version wrote it.
"""

import json
import shutil
from pathlib import Path

import pytest
from front_door import Bench
from measured.on_disk import edited
from measured.stored import STORED, unpacked
from third_party import Installs

import benchforge.results
from benchforge.model.files.folder import read_header, read_sessions, read_trials
from benchforge.model.values.distribution import own_version

OLD = "0.2.0"
KINDS = ("backend", "client", "loader", "metric", "reader", "reporter", "server")
SUITE = """benchforge = 1
backends.store = { use = "oldbackend", text = "hello" }
servers.mine = { use = "oldserver", text = "hello" }
loaders.closed = { use = "oldloader", duration = "300ms" }
loaders.pace = { use = "pace", connections = 2, duration = "300ms" }
clients.library = { use = "oldclient", duration = "300ms" }
metrics = { throughput = { use = "throughput" }, mine = { use = "oldmetric" } }
repeat = { blocks = 1, warmup = "100ms", quiet = "off" }

[scenarios.root]
servers = ["mine"]
loaders = ["closed", "pace"]
clients = ["library"]
backends = ["store"]
expect = { status = 200, body = "hello" }
"""


@pytest.mark.parametrize("name", ["finished", "ended"])
def test_its_results_are_read_and_verified(bench: Bench, tmp_path: Path, name: str) -> None:
    result = unpacked(name, tmp_path)
    assert read_header(result).benchforge == OLD
    assert bench("validate", result).code == 0
    bench("report", result, code=0)
    assert "A suite of benchforge 0.2.0" in (result / "report.md").read_text()
    verified = bench("verify", "--all", result)
    assert verified.code in {0, 2}, verified.all
    assert "0 contradicted" in verified.out
    assert len(benchforge.results.open(result).trials) > 0


def test_its_results_are_compared_and_listed_over_time(bench: Bench, tmp_path: Path) -> None:
    results = [unpacked(name, tmp_path) for name in ("finished", "ended")]
    bench("compare", *results, code=4)  # one of them has no number that is believed
    assert bench("history", *results).code == 0


def test_a_run_that_it_began_goes_on(bench: Bench, tmp_path: Path) -> None:
    result = unpacked("ended", tmp_path)
    for name in ("suite.toml", "app.py"):
        shutil.copy(STORED / name, tmp_path)
    assert bench("check", "suite.toml", "--profile", "three").code == 0
    suite = str(tmp_path / "suite.toml")
    edited(result / "result.json", lambda header: header.update(suite_file=suite))
    refused = bench("run", "--resume", result, code=2)
    assert f"benchforge was {OLD!r}, is {own_version()!r}" in refused.all
    (result / "manifest.json").unlink()  # of the header as it was
    resumed = bench("run", "--resume", result, "--anyway")
    assert resumed.code in {0, 1, 4}, resumed.all
    (session,) = read_sessions(result)
    assert session.benchforge == own_version()
    assert {trial.block for trial in read_trials(result)} == {1, 2, 3}
    summary = json.loads((result / "summary.json").read_text())
    assert (summary["complete"], summary["benchforge"]) == (True, OLD)
    assert bench("validate", result).code == 0


def test_its_plugins_run(bench: Bench, tmp_path: Path, installs: Installs) -> None:
    plugins = unpacked("plugins", tmp_path)
    shutil.copytree(plugins, tmp_path / "site", dirs_exist_ok=True)
    for kind in KINDS:
        point = {f"{kind}-old{kind}": f"benchforge_old{kind}:Old{kind}"}
        installs(f"benchforge-old{kind}", point, {}, version="0.1.0")
    (tmp_path / "suite.toml").write_text(SUITE)
    ran = bench("run", "suite.toml", "--report", "oldreporter")
    assert ran.code in {0, 4}, ran.all
    (result,) = (tmp_path / "results").iterdir()
    opened = benchforge.results.open(result / "summary.json")
    measured = {(row.driver, row.metric) for row in opened.trials if row.value is not None}
    assert {driver for driver, _ in measured} == {"closed", "pace", "library"}
    assert ("pace", "mine") in measured, "the bytes that pace counts"
    assert bench("audit", (plugins / "benchforge_oldreader/healthy.txt")).code == 0
