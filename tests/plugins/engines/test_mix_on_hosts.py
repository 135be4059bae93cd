"""Mixes of requests from load tools on hosts."""

import json
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import islice
from pathlib import Path

import pytest
from hosts_lab import lab, told_by

from benchforge.registry import Registry
from benchforge.suite.load import load

NOT_THERE = "/benchforge-asks-for-what-is-not-there"
SUITE = """
benchforge = 1
smoke = true

[placement.hosts]
loader = ["load", "load2"]
server = "app"

[servers.log]
use = "command"
command = ["{python}", "log.py", "{address}", "{port}"]
directory = "code"

[loaders.pace]
use = "pace"
connections = 4
requests = 200

[feeds.item]
file = "items.csv"
order = "in order"

[scenarios.mix]
servers = ["log"]
loaders = ["pace"]

[scenarios.mix.kinds.read]
share = 3
request = { path = "/read/{item.id}", headers = { Authorization = { env = "LOAD_TOKEN" } } }

[scenarios.mix.kinds.order]
share = 1
request = { method = "POST", path = "/order/{item.id}" }

[repeat]
blocks = 1
quiet = "off"
"""
LOG = """
import http.server
import sys


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        print(self.client_address[0], self.path, flush=True)
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    do_POST = do_GET

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer((sys.argv[1], int(sys.argv[2])), Handler).serve_forever()
"""


@pytest.mark.exhaustive
def test_a_mix_is_divided_record_by_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server's log has each request of the stream once, by turns from both load tools."""
    places = ("load", "load2", "app")
    with lab(tmp_path, places) as hosts:
        (tmp_path / "code").mkdir()
        (tmp_path / "code/log.py").write_text(LOG)
        rows = [f"{number}" for number in range(1, 1001)]
        (tmp_path / "items.csv").write_text("\n".join(["id", *rows, ""]))
        (tmp_path / "suite.toml").write_text(SUITE + "".join(map(hosts.table, places)))
        monkeypatch.setenv("LOAD_TOKEN", "load-secret-1234")
        environment = {**hosts.environment, "LOAD_TOKEN": "load-secret-1234"}
        ran = told_by(environment, tmp_path, "run", "suite.toml")
        assert ran.code == 0, ran.all
        (result,) = (tmp_path / "results").iterdir()
        trial = json.loads((result / "trials/0001/trial.json").read_text())
        assert trial["failure"] is None
        assert trial["reading"]["responses"] == sum(trial["reading"]["records_taken"]) == 200
        kinds = {k: one["responses"] for k, one in trial["reading"]["kinds"].items()}
        assert kinds == {"read": 150, "order": 50}

        log = (result / "trials/0001/server-log.out").read_text().splitlines()
        mix = load(tmp_path / "suite.toml", Registry()).workloads["mix"]
        seed = json.loads((result / "result.json").read_text())["seed"]
        tools = hosts.addresses["load"], hosts.addresses["load2"]
        records = enumerate(islice(mix.records(seed, 1), 200))
        sent = [f"{tools[n % 2]} {record.head.split()[1].decode()}" for n, record in records]
        probed = {request.path for request, _ in mix.first.values()} | {NOT_THERE}
        assert Counter(without(sent, probed)) == Counter(without(log, probed))
        assert len(without(sent, probed)) > 190

        verified = told_by(environment, tmp_path, "verify", str(result))
        assert "1 not proved, 0 contradicted" in verified.all  # its file is not in the result


def without(lines: Sequence[str], paths: Collection[str]) -> list[str]:
    return [line for line in lines if line.split()[1] not in paths]
