"""Servers that answer wrongly only while they are loaded: the monitor finds them."""

from pathlib import Path

import pytest
from front_door import Bench
from planted.lies import liars
from planted.turning import suite
from planted.validity import ONCE, Seen, caught, measured, quiet

EXPECT = """expect = { json = { message = "pong" } }
monitor = "100/s"
"""
LIARS = {
    "busy": "a wrong body, as long, where four connections are open",
    "tenth": "a wrong body, as long, to one request in ten",
    "later": "a wrong body, as long, from the second request of a connection on",
    "hundredth": "a wrong body, as long, to one request in a hundred",
    "encoded": "a wrong body, as long, to requests without Accept-Encoding: identity",
}
ROWS = {"wrk": "Requests/sec", "pace": "", "ab": "Failed requests", "h2load": "status codes"}


def loading(tool: str) -> str:
    return f'use = "{tool}"\nconnections = 4\nduration = "2s"'


def lying(bench: Bench, folder: Path, tool: str, load: str, *faults: str) -> Seen:
    """Each of these liars is caught under this tool, and the server that answers rightly is not."""
    text = suite(liars("right", *faults), load, scenario=EXPECT, top=ONCE)
    result = measured(bench, folder, text)
    for fault in faults:
        server = f"s{fault}"
        says = f"{LIARS[fault]}, by {tool}"
        error = caught(says, result, "E6", server=server, word=ROWS[tool])
        assert "$.message" in error["message"]
        trial = result.trials(server)[-1]
        says = "the load tool does not tell such answers from right ones"
        assert says in trial["failure"]["message"]
        assert trial["monitor"]["head"] == "load tool"
    quiet(result, "E6", server="sright")
    assert result.trials("sright")[-1]["monitor"]["moments"] > 0
    return result


def test_a_body_that_is_wrong_under_load_only(bench: Bench, tmp_path: Path) -> None:
    load = 'use = "pace"\nconnections = 4\nthink = "5ms"\nduration = "1s"'
    bench("verify", lying(bench, tmp_path, "pace", load, "later").result, code=0)


@pytest.mark.exhaustive
@pytest.mark.parametrize("tool", list(ROWS))
def test_all_liars_by_all_tools(bench: Bench, tmp_path: Path, tool: str) -> None:
    lying(bench, tmp_path, tool, loading(tool), *(lie for lie in LIARS if lie != "hundredth"))


def test_a_sample_finds_one_answer_in_a_hundred(bench: Bench, tmp_path: Path) -> None:
    """Two wrong ones in 1,700 are a failure: fewer come in one run of a million."""
    load = 'use = "pace"\nconnections = 4\nrequests = 1700\nduration = "100s"\nsample = "99%"'
    text = suite(liars("right", "hundredth"), load, scenario=EXPECT, top=ONCE)
    result = measured(bench, tmp_path, text)
    fault = f"{LIARS['hundredth']}, by pace with a sample of 99 %"
    assert "gnop" in caught(fault, result, "E7", server="shundredth")["message"]
    quiet(result, "E7", server="sright")
