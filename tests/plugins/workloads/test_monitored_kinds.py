"""The monitor of a mix: which requests it sends, and which kind it finds wrong under load only."""

import json
import sys
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from benchforge_workloads.feeds import loaded
from benchforge_workloads.stream import Mix
from benchforge_workloads.tables import Feed, RequestKind, UserSession
from front_door import PROGRAMS, Bench

BUSY = PROGRAMS / "faulty_servers/busy_kinds.py"
SUITE = """benchforge = 1
smoke = true
{servers}
[loaders.load]
use = "pace"
connections = 4
requests = 500
duration = "100s"
[scenarios.shop]
servers = {labels}
loaders = ["load"]
monitor = "50/s"
[scenarios.shop.kinds.item]
request = {{ path = "/items/{{id}}" }}
expect = {{ json = {{ item = "{{id:integer}}" }} }}
[scenarios.shop.kinds.buy]
[[scenarios.shop.kinds.buy.steps]]
name = "add"
request = {{ method = "POST", path = "/carts", body = '{{"item": {{id}}}}' }}
expect = {{ status = 201 }}
take = {{ cart = "json:/cart" }}
[[scenarios.shop.kinds.buy.steps]]
name = "pay"
request = {{ method = "POST", path = "/carts/{{cart}}/pay" }}
expect = {{ json = {{ paid = "{{cart:integer}}" }} }}
[feeds.id]
integers = [1, 1000]
[repeat]
blocks = 1
quiet = "off"
"""


def suite(faults: Sequence[str]) -> str:
    servers = "".join(
        f'[servers.{fault}]\nuse = "command"\n'
        f"command = {json.dumps([sys.executable, str(BUSY), '{port}', fault])}\n"
        for fault in faults
    )
    return SUITE.format(servers=servers, labels=json.dumps(list(faults)))


@pytest.mark.parametrize(
    "faults", [("none", "pay"), pytest.param(("item",), marks=pytest.mark.exhaustive)]
)
def test_a_kind_that_is_wrong_under_load_only_is_named(
    bench: Bench, tmp_path: Path, faults: Sequence[str]
) -> None:
    (tmp_path / "suite.toml").write_text(suite(faults))
    ran = bench("run", "suite.toml", "-o", "results")
    (result,) = (tmp_path / "results").iterdir()
    trials: dict[str, dict[str, Any]] = {}
    for file in result.glob("trials/*/trial.json"):
        trial = json.loads(file.read_text())
        trials[trial["case"]["server"]] = trial
    assert trials.keys() == set(faults), ran.all
    names = {"item": "item", "add": "buy.add", "pay": "buy.pay"}
    for fault, trial in trials.items():
        (check,) = (one for one in trial["checks"] if one["id"] == "E6")
        answers = trial["monitor"]["answers"]
        assert {one["kind"] for one in answers} == {"item", "buy.add", "buy.pay"}
        wrong = {one["kind"] for one in answers if one["wrong"]}
        if fault == "none":
            assert (check["status"], wrong) == ("pass", set())
            continue
        label = names[fault]
        assert (check["status"], wrong) == ("fail", {label})
        assert f"random moments an answer to {label} was wrong" in check["message"]
        assert check["message"] in trial["failure"]["message"]
        assert f"an answer to {label} was wrong" in " ".join(ran.out.split())
    verified = bench("verify", result)
    assert verified.code == 0, verified.all


def mix(session: UserSession | None = None) -> Mix:
    """Return a mix of three kinds, of which one uses each row of a feed once."""
    paths = {"list": "/", "item": "/items/{id}", "member": "/of/{member}"}
    shares = {"list": 6, "item": 3, "member": 1}
    kinds = {
        label: RequestKind.model_validate({"share": shares[label], "request": {"path": path}})
        for label, path in paths.items()
    }
    feeds = {
        "id": Feed(integers=(1, 10**9)),
        "member": Feed(integers=(1, 50), order="each once"),
    }
    return Mix(kinds, {k: loaded(k, feed, None) for k, feed in feeds.items()}, session)


def test_it_sends_a_stream_of_its_own_with_the_shares() -> None:
    whole = mix()
    kinds = {"list": whole.kinds["list"], "item": whole.kinds["item"]}
    workload = Mix(kinds, {"id": whole.feeds["id"]})
    dealt, rows, _ = workload.monitoring(1, 1).args
    planned = [record for record, _ in islice(dealt, 300)]
    assert Counter(record.kind for record in planned) == {0: 200, 1: 100}
    assert list(rows) == ["list", "item"]
    assert planned != list(islice(workload.records(1, 1), 300))
    again, _, _ = workload.monitoring(1, 1).args
    assert planned == [record for record, _ in islice(again, 300)]


def test_rows_that_come_once_are_left_to_the_load() -> None:
    _, rows, _ = mix().monitoring(1, 1).args
    assert list(rows) == ["list", "item"]
    login = {"users": 5, "request": {"path": "/login/{member}"}}
    _, rows, _ = mix(UserSession.model_validate(login)).monitoring(1, 1).args
    assert list(rows) == ["list", "item", "member"]
