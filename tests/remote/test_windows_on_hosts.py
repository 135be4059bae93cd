"""Answers of a load between hosts: read at the server's, on the interface that carries the load."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from front_door import PROGRAMS
from hosts_lab import lab, one_server, told_by

HOSTS = ("load", "app")
LIAR = PROGRAMS / "faulty_servers/loaded.py"


def trial_of(folder: Path, lie: str, peers: str = "load") -> dict[str, Any]:
    """Return a trial of a server that lies to a load from another host."""
    words = json.dumps([sys.executable, str(LIAR), "{port}", lie, "0.002", "{address}"])
    server = f'use = "command"\ncommand = {words}'
    suite = one_server(1, server, 'use = "pace"\nconnections = 4')
    suite = suite.replace('loader = "load"', f'loader = "{peers}"')
    right = 'expect = { json = { message = "pong" } }'
    suite = suite.replace('["tool"] }', f'["tool"], {right} }}')
    with lab(folder, HOSTS) as hosts:
        (folder / "suite.toml").write_text(suite + "".join(map(hosts.table, HOSTS)))
        text_shown = told_by(hosts.environment, folder, "run", "suite.toml", "-o", "out")
        assert (folder / "out").exists(), text_shown.all
        (result,) = (folder / "out").glob("suite-*")
        verified = told_by(hosts.environment, folder, "verify", str(result))
    assert verified.code == 0, text_shown.all + verified.all
    trial: dict[str, Any] = json.loads((result / "trials/0001/trial.json").read_text())
    return trial


@pytest.mark.parametrize(
    ("lie", "peers"),
    [
        ("nth", "load"),
        *[
            pytest.param(*case, marks=pytest.mark.exhaustive)
            for case in (("none", "load"), ("nth", "app"))
        ],
    ],
)
def test_a_lie_to_the_loads_own_connections_is_found_at_the_servers_host(
    tmp_path: Path, lie: str, peers: str
) -> None:
    trial = trial_of(tmp_path, lie, peers)
    read = trial["load_answers"]
    assert read["load"]["judged"] > 0, trial["failure"]
    assert (read["load"]["wrong"] > 0) == (lie != "none")
    assert trial["monitor"] is None
    assert trial["observation"]["after"]["seconds"] > 0, (
        "the server's host watches what comes later"
    )
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
