"""Answers of a load between hosts: read at the server's, on the interface that carries the load."""

from pathlib import Path
from typing import Any

import pytest
from hosts_lab import lab, one_server, told_by
from measured.on_disk import trials_of
from planted.beside import program

HOSTS = ("load", "app")


def trial_of(folder: Path, lie: str, peers: str = "load") -> dict[str, Any]:
    """Return a trial of a server that lies to a load from another host."""
    server = program("faulty_servers/loaded.py", "{port}", lie, "0.002", "{address}")
    suite = one_server(1, server, 'use = "pace"\nconnections = 4')
    suite = suite.replace('loader = "load"', f'loader = "{peers}"')
    right = 'expect = { json = { message = "pong" } }'
    suite = suite.replace('["tool"] }', f'["tool"], {right} }}')
    with lab(folder, HOSTS) as hosts:
        (folder / "suite.toml").write_text(suite + "".join(map(hosts.table, HOSTS)))
        ran = told_by(hosts.environment, folder, "run", "suite.toml")
        assert (folder / "results").exists(), ran.all
        told_by(hosts.environment, folder, "verify", ran.result, code=0)
    return trials_of(ran.result)[0]


@pytest.mark.samples(1)
@pytest.mark.parametrize(("lie", "peers"), [("nth", "load"), ("none", "load"), ("nth", "app")])
def test_a_lie_to_the_loads_own_connections_is_found_at_the_servers_host(
    tmp_path: Path, lie: str, peers: str
) -> None:
    trial = trial_of(tmp_path, lie, peers)
    read = trial["load_answers"]
    assert read["load"]["judged"] > 0, trial["failure"]
    assert (read["load"]["wrong"] > 0) == (lie != "none")
    assert trial["monitor"] is None
    assert trial["observation"]["after"]["seconds"] > 0, "its host watches what comes later"
    (check,) = [item for item in trial["checks"] if item["id"] == "E6"]
    assert "random windows of the load (" in check["message"]
    assert check["status"] == ("pass" if lie == "none" else "fail")


def test_a_host_that_may_not_read_packets_says_so_and_keeps_the_monitor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LACKS", "net_raw")
    trial = trial_of(tmp_path, "none")
    assert trial["load_answers"]["why"] == "no CAP_NET_RAW at host app"
    assert trial["monitor"]["moments"] > 0
    (check,) = [item for item in trial["checks"] if item["id"] == "E6"]
    assert "nobody read the load's own connections: no CAP_NET_RAW at host app" in check["message"]
