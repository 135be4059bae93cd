"""A kind of a mix that is answered wrongly only under load: the monitor finds it, and names it."""

import json
import sys
from pathlib import Path

import pytest
from front_door import PROGRAMS, Bench
from planted.validity import caught, measured, quiet

BUSY = PROGRAMS / "faulty_servers/busy_kinds.py"
SUITE = """benchforge = 1
smoke = true
loaders.load = {{ use = "pace", connections = 4, requests = 500, duration = "100s" }}
feeds.id = {{ integers = [1, 1000] }}
repeat = {{ blocks = 1, quiet = "off" }}
{servers}
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
"""
KINDS = {"item": "item", "pay": "buy.pay"}
FAULTS = {
    "item": "a wrong body, as long, to one kind of a mix, where four connections are open",
    "pay": "a wrong body, as long, to the last step of a flow, where four connections are open",
}


def suite(*labels: str) -> str:
    servers = "".join(
        f'[servers.{label}]\nuse = "command"\n'
        f"command = {json.dumps([sys.executable, str(BUSY), '{port}', label])}\n"
        for label in labels
    )
    return SUITE.format(servers=servers, labels=json.dumps(labels))


@pytest.mark.parametrize("fault", ["pay", pytest.param("item", marks=pytest.mark.exhaustive)])
def test_a_kind_wrong_under_load_is_named(bench: Bench, tmp_path: Path, fault: str) -> None:
    seen = measured(bench, tmp_path, suite("none", fault))
    check = caught(FAULTS[fault], seen, "E6", server=fault)
    assert f"wrong answer to {KINDS[fault]}" in check["message"] or KINDS[fault] in check["message"]
    quiet(seen, "E6", server="none")
    for server, wrong in (("none", set()), (fault, {KINDS[fault]})):
        (trial,) = seen.trials(server)
        answers = trial["monitor"]["answers"]
        assert {one["kind"] for one in answers} == {"item", "buy.add", "buy.pay"}
        assert {one["kind"] for one in answers if one["wrong"]} == wrong
        windows = trial["load_answers"]["kinds"]
        assert {kind for kind, one in windows.items() if one["wrong"]} <= wrong
        assert not wrong or check["message"] in trial["failure"]["message"]
    assert f"a wrong answer to {KINDS[fault]}" in " ".join(seen.told.out.split())
    verified = bench("verify", seen.result)
    assert verified.code == 0, verified.all
