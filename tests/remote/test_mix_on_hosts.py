"""Mixes of requests, and users who log in and go through flows, from load tools on hosts."""

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from dask_lab import connected
from hosts_lab import program, told_by
from measured.on_disk import trials_of
from suite_texts.files import suite_text

from benchforge.parts.registry import Registry
from benchforge.suite.load import load

NOT_THERE = "/benchforge-asks-for-what-is-not-there"
MIX = suite_text("remote/mix_on_hosts")
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
        (tmp_path / "suite.toml").write_text(MIX + tables)
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


FLOWS = suite_text("remote/flows_on_hosts")
SHOP = """
import itertools
import json
import os
import sys
from urllib.parse import parse_qsl

from answerer import Answerer, serve

users, carts, numbers = {}, {}, itertools.count(1)


class Shop(Answerer):
    def do_POST(self):
        body = self.body().decode()
        cookie = self.headers.get("Cookie", "").removeprefix("session=")
        user, headers = users.get(cookie), {}
        right = self.headers.get("X-Token") == cookie[::-1]
        status, answer = 401, {}
        if self.path == "/login":
            form = dict(parse_qsl(body))
            if form["password"] == os.environ["PASSWORD"]:
                number = str(next(numbers) + 1000)
                users[number], user = form["name"], form["name"]
                headers = {"Set-Cookie": f"session={number}", "X-Token": number[::-1]}
                status = 302
        elif user and self.path == "/carts":
            cart = next(numbers)
            carts[cart] = cookie, json.loads(body)["product"]
            status, answer = 201, {"cart": {"id": cart}}
        elif user and right and self.path.endswith("/pay"):
            cart = int(self.path.split("/")[2])
            if carts.pop(cart, ("", 0))[0] == cookie:
                status, answer = 200, {"paid": cart}
        elif user and right and self.path == f"/mine/{user}":
            status, answer = 200, {"mine": user}
        print(self.client_address[0], status, user, self.path, flush=True)
        headers["Content-Type"] = "application/json"
        self.send(status, json.dumps(answer).encode(), headers.items())

    do_GET = do_POST


serve(sys.argv[2], Shop, sys.argv[1])
"""
LOGIN = "correct-horse-battery"
KINDS = {"mine", "refused", "buy.add", "buy.pay"}


@pytest.mark.exhaustive
@pytest.mark.parametrize("engine", ["ssh", "dask"])
def test_users_log_in_and_flows_go_on_from_each_host(tmp_path: Path, engine: str) -> None:
    with connected(engine, tmp_path, ("load", "load2", "app")) as (hosts, tables):
        program(tmp_path, "shop.py", SHOP)
        (tmp_path / "products.csv").write_text("\n".join(["id", *map(str, range(50)), ""]))
        (tmp_path / "suite.toml").write_text(FLOWS + tables)
        environment = {**hosts.environment, "SHOP_PASSWORD": LOGIN}
        ran = told_by(environment, tmp_path, "run", "suite.toml")
        assert ran.code in ({0} if engine == "ssh" else {0, 4}), ran.all  # H5: its clocks
        trials = {trial["case"]["driver"]: trial for trial in trials_of(ran.result)}
        assert trials.keys() == {"pace", "single"}
        for tool, trial in trials.items():
            assert trial["failure"] is None, trial["failure"]
            kinds = trial["reading"]["kinds"]
            assert kinds.keys() == KINDS
            assert all(value["responses"] for value in kinds.values()), kinds
            assert not any(value["errors"].get("status") for value in kinds.values()), kinds
            assert kinds["buy.pay"]["not_reached"] == 0
            lines = requests_in(ran.result / f"trials/{trial['number']:04d}/server-shop.out")
            tools = {hosts.addresses[item] for item in ("load", "load2")}
            assert lines.keys() == (tools if tool == "pace" else {hosts.addresses["load"]})
            for value in lines.values():
                # Each load tool logs in all users, and makes the later steps of its own flows.
                users = {user for _, user, path in value if path == "/login"}
                assert users == {"ann", "bob", "cleo", "dan"}
                counts = Counter((path.split("/")[-1], status) for status, _, path in value)
                assert counts["carts", "201"] >= counts["pay", "200"] > 10
                paid = {status for status, _, path in value if path.startswith("/carts/")}
                assert paid == {"200"}
        verified = told_by(environment, tmp_path, "verify", ran.result)
        assert "0 contradicted" in verified.all, verified.all
        for file in tmp_path.rglob("*"):
            assert not file.is_file() or LOGIN.encode() not in file.read_bytes(), file


def requests_in(file: Path) -> dict[str, list[Any]]:
    """Return status, user and path of each request, by the address that sent it."""
    observed: dict[str, list[Any]] = defaultdict(list)
    for line in file.read_text().splitlines():
        address, *others = line.split()
        observed[address].append(others)
    return observed
