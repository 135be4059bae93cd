"""Users who log in and flows of a mix, from load tools on hosts."""

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
from dask_lab import connected
from hosts_lab import program, told_by
from measured.on_disk import trials_of
from suite_texts.files import suite_text

SUITE = suite_text("remote/flows_on_hosts")
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
        (tmp_path / "suite.toml").write_text(SUITE + tables)
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
            lines = log(ran.result / f"trials/{trial['number']:04d}/server-shop.out")
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


def log(file: Path) -> dict[str, list[Any]]:
    """Return status, user and path of each request, by the address that sent it."""
    observed: dict[str, list[Any]] = defaultdict(list)
    for line in file.read_text().splitlines():
        address, *others = line.split()
        observed[address].append(others)
    return observed
