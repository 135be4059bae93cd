"""Whose CPU time and memory it is: what daemons use counts, and what nobody owns blames nobody."""

from pathlib import Path

from front_door import Bench
from planted.beside import program
from suite_texts.with_wrk import trials

SECONDS, MEGABYTES = 0.3, 60
TICKS_S = 0.05  # the kernel tells the time of ended children in ticks
SUITE = """
benchforge = 1
writes = ["."]
clients.counted = { use = "urllib", requests = 60, timeout = "60s" }
scenarios.owners = { request = { path = "/" }, servers = ["one"], clients = ["counted"] }
repeat = { blocks = 1 }
[servers.one]
"""


def test_what_daemons_burn_and_hold_is_their_servers(bench: Bench, tmp_path: Path) -> None:
    words = ("servers/daemonic.py", "{port}", tmp_path / "told", 50, SECONDS, MEGABYTES)
    (tmp_path / "owners.toml").write_text(SUITE + program(*words))
    done = bench("run", "owners.toml")
    (trial,) = trials(tmp_path)
    assert trial["failure"] is None, done.all
    burned = [float(line) for line in (tmp_path / "told").read_text().splitlines()]
    assert len(burned) == 2
    observation = trial["observation"]
    server = next(part for part in observation["usage"] if part["role"] == "server")
    assert server["cpu_s"] >= sum(burned) - TICKS_S
    assert observation["unassigned_cpu_s"] <= TICKS_S
    assert server["peak_pss_bytes"] >= 2 * MEGABYTES << 20
    assert server["processes"] == 2  # the server, and the daemon that stays
    if trial["namespaces"]["shared_memory"] == "private":
        assert observation["unassigned_shared_bytes"] == MEGABYTES // 3 << 20
        growth = next(check for check in trial["checks"] if check["id"] == "M3")
        assert "21.0 MB in /dev/shm belong to no part" in growth["message"]
