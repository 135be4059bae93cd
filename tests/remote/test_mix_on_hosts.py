"""Mixes of requests from load tools on hosts."""

import json
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import islice
from pathlib import Path

import pytest
from dask_lab import connected
from hosts_lab import program, told_by
from measured.on_disk import trials_of
from suite_texts.files import suite_text

from benchforge.parts.registry import Registry
from benchforge.suite.load import load

NOT_THERE = "/benchforge-asks-for-what-is-not-there"
SUITE = suite_text("remote/mix_on_hosts")
LOG = """
import sys

from answerer import Answerer, serve

ordered = set()


class Log(Answerer):
    def do_GET(self, status=200):
        print(self.client_address[0], self.path, flush=True)
        self.send(status, b"ok")

    def do_POST(self):
        again = self.path in ordered
        ordered.add(self.path)
        self.do_GET(409 if again else 201)


serve(sys.argv[2], Log, sys.argv[1])
"""


@pytest.mark.exhaustive
@pytest.mark.parametrize("engine", ["ssh", "dask"])
def test_a_mix_is_divided_record_by_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    """The server's log has each request of the stream once, by turns from both load tools."""
    with connected(engine, tmp_path, ("load", "load2", "app")) as (hosts, tables):
        program(tmp_path, "log.py", LOG)
        rows = [f"{number}" for number in range(1, 1001)]
        (tmp_path / "items.csv").write_text("\n".join(["id", *rows, ""]))
        (tmp_path / "suite.toml").write_text(SUITE + tables)
        monkeypatch.setenv("LOAD_TOKEN", "load-secret-1234")
        environment = {**hosts.environment, "LOAD_TOKEN": "load-secret-1234"}
        ran = told_by(environment, tmp_path, "run", "suite.toml")
        assert ran.code in ({0} if engine == "ssh" else {0, 4}), ran.all  # H5: its clocks
        result = ran.result
        trial = trials_of(result)[0]
        assert trial["failure"] is None
        assert trial["reading"]["responses"] == sum(trial["reading"]["records_taken"]) == 200
        kinds = {k: item["responses"] for k, item in trial["reading"]["kinds"].items()}
        assert kinds == {"read": 150, "order": 50}

        log = (result / "trials/0001/server-log.out").read_text().splitlines()
        mix = load(tmp_path / "suite.toml", Registry()).workloads["mix"]
        seed = json.loads((result / "result.json").read_text())["seed"]
        tools = hosts.addresses["load"], hosts.addresses["load2"]
        records = enumerate(islice(mix.records(seed, 1), 200))
        sent = [f"{tools[n % 2]} {record.head.split()[1].decode()}" for n, record in records]
        firsts = [mix.at(path).first.values() for path in range(2)]
        probed = {request.path for first in firsts for request, _ in first} | {NOT_THERE}
        assert Counter(without(sent, probed)) == Counter(without(log, probed))
        assert len(without(sent, probed)) > 190

        verified = told_by(environment, tmp_path, "verify", result)
        assert "1 not proved, 0 contradicted" in verified.all  # its file is not in the result


def without(lines: Sequence[str], paths: Collection[str]) -> list[str]:
    return [line for line in lines if line.split()[1] not in paths]
