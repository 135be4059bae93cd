"""A kind of a mix that is answered wrongly only under load: the monitor finds it, and names it."""

import json
from pathlib import Path

import pytest
from front_door import Bench
from planted.beside import program
from planted.validity import caught, measured, quiet
from suite_texts.files import suite_text

BUSY = "faulty_servers/busy_kinds.py"
KINDS = {"item": "item", "pay": "buy.pay"}
FAULTS = {
    "item": "a wrong body, as long, to one kind of a mix, where four connections are open",
    "pay": "a wrong body, as long, to the last step of a flow, where four connections are open",
}


def suite(*labels: str) -> str:
    tables = (f"[servers.{label}]\n{program(BUSY, '{port}', label)}" for label in labels)
    servers = "".join(tables)
    return suite_text("validity/validity_kinds", servers=servers, labels=json.dumps(labels))


@pytest.mark.parametrize("fault", ["pay", pytest.param("item", marks=pytest.mark.exhaustive)])
def test_a_kind_wrong_under_load_is_named(bench: Bench, tmp_path: Path, fault: str) -> None:
    result = measured(bench, tmp_path, suite("none", fault), "--details")
    check = caught(FAULTS[fault], result, "E6", server=fault)
    assert KINDS[fault] in check["message"]
    quiet(result, "E6", server="none")
    for server, wrong in (("none", set()), (fault, {KINDS[fault]})):
        (trial,) = result.trials(server)
        answers = trial["monitor"]["answers"]
        assert {answer["kind"] for answer in answers} == {"item", "buy.add", "buy.pay"}
        assert {answer["kind"] for answer in answers if answer["wrong"]} == wrong
        windows = trial["load_answers"]["kinds"]
        assert {kind for kind, window in windows.items() if window["wrong"]} <= wrong
        assert not wrong or check["message"] in trial["failure"]["message"]
    assert f"a wrong answer to {KINDS[fault]}" in " ".join(result.told.out.split())
    bench("verify", result.result, code=0)
