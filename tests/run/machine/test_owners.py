"""Whose CPU time and memory it is: what daemons use counts, and what nobody owns blames nobody."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from front_door import Bench

SERVER = Path(__file__).parents[2] / "programs/servers/daemonic.py"
SECONDS, MEGABYTES = 0.3, 60
TICKS_S = 0.05  # the kernel tells the time of ended children in ticks
SUITE = """
benchforge = 1
writes = ["."]
servers.one = {{ use = "command", command = {command} }}
clients.counted = {{ use = "urllib", requests = 60, timeout = "60s" }}
scenarios.owners = {{ request = {{ path = "/" }}, servers = ["one"], clients = ["counted"] }}
repeat = {{ blocks = 1 }}
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("owners") / "told"


@pytest.fixture
def seen(bench: Bench, tmp_path: Path) -> dict[str, Any]:
    words = [sys.executable, SERVER, "{port}", tmp_path / "told", 50, SECONDS, MEGABYTES]
    (tmp_path / "owners.toml").write_text(SUITE.format(command=json.dumps(list(map(str, words)))))
    done = bench("run", "owners.toml", "-o", "results")
    (trial,) = tmp_path.glob("results/*/trials/*/trial.json")
    document: dict[str, Any] = json.loads(trial.read_text())
    assert document["failure"] is None, done.all
    return document


def test_what_daemons_burn_and_hold_is_their_servers(seen: dict[str, Any], tmp_path: Path) -> None:
    burned = [float(line) for line in (tmp_path / "told").read_text().splitlines()]
    assert len(burned) == 2
    observation = seen["observation"]
    server = next(part for part in observation["usage"] if part["role"] == "server")
    assert server["cpu_s"] >= sum(burned) - TICKS_S
    assert observation["unassigned_cpu_s"] <= TICKS_S
    assert server["peak_pss_bytes"] >= 2 * MEGABYTES << 20
    assert server["processes"] == 2  # the server, and the daemon that stays
    if seen["namespaces"]["shared_memory"] == "private":
        assert observation["unassigned_shared_bytes"] == MEGABYTES // 3 << 20
        growth = next(check for check in seen["checks"] if check["id"] == "M3")
        assert "21.0 MB in /dev/shm belong to no part" in growth["message"]
