"""When requests are sent at random moments of a load, and when they are not."""

import json
from pathlib import Path
from typing import Any

import pytest
from front_door import Bench, answering, needed
from planted.beside import program

from benchforge.plugin import Request
from benchforge.suite.suite import Moments, Scenario

SCENARIOS = """benchforge = 1
repeat = {{ blocks = 1, quiet = "off" }}
[servers.a]
{server}
[loaders.load]
use = "pace"
connections = 2
duration = "{duration}"
{scenarios}
"""
SCENARIO = """[scenarios.{label}]
request = {{ {request} }}
servers = ["a"]
loaders = ["load"]
{more}
"""


def measured(
    bench: Bench, folder: Path, server: str, duration: str = "400ms", **scenarios: tuple[str, str]
) -> dict[str, Path]:
    """Return the folder of each scenario's last trial."""
    tables = "".join(
        SCENARIO.format(label=label, request=request, more=more)
        for label, (request, more) in scenarios.items()
    )
    text = SCENARIOS.format(server=server, duration=duration, scenarios=tables)
    (folder / "suite.toml").write_text(text)
    run = bench("run", "suite.toml", "-o", "out")
    files = sorted(folder.glob("out/*/trials/*/trial.json"))
    folders = {trial(file.parent)["case"]["scenario"]: file.parent for file in files}
    assert folders.keys() == scenarios.keys(), run.all
    return folders


def trial(folder: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((folder / "trial.json").read_text())
    return document


def e6(folder: Path) -> tuple[str, str]:
    (check,) = (item for item in trial(folder)["checks"] if item["id"] == "E6")
    return check["status"], check["message"]


@pytest.mark.parametrize(
    ("written", "method", "moments"),
    [
        ({}, "GET", Moments(20, exact=False)),
        ({}, "HEAD", Moments(20, exact=False)),
        ({}, "POST", None),
        ({}, "PUT", None),
        ({"monitor": "30/s"}, "POST", Moments(30, exact=True)),
        ({"monitor": "30/s"}, "GET", Moments(30, exact=True)),
        ({"monitor": "off"}, "GET", None),
        ({"monitor": False}, "GET", None),
        ({"monitor": 0}, "GET", None),
    ],
)
def test_repeated_requests(written: dict[str, Any], method: Any, moments: Moments | None) -> None:
    scenario = Scenario.model_validate({"servers": ["a"], **written})
    assert scenario.monitored(Request(method=method)) == moments


def test_a_monitor_that_is_off_sends_nothing(bench: Bench, tmp_path: Path) -> None:
    folders = measured(
        bench,
        tmp_path,
        answering(),
        "1s",
        off=('path = "/"', "monitor = false"),
        post=('method = "POST"', ""),
        wanted=('method = "POST"', 'monitor = "50/s"'),
    )
    for label in ("off", "post"):
        assert trial(folders[label])["monitor"] is None
        assert not (folders[label] / "monitor.json").exists()
        assert "of the monitor" not in e6(folders[label])[1]
    monitor = trial(folders["wanted"])["monitor"]
    assert monitor["moments"] > 0
    assert monitor["wrong"] == 0
    assert trial(folders["wanted"])["load_answers"]["load"]["judged"] > 0
    record = json.loads((folders["wanted"] / "monitor.json").read_text())
    assert len(record["moments"]) >= monitor["moments"]
    # The kernel counts the connections of both: those of the monitor are taken out.
    assert trial(folders["wanted"])["observation"]["counters"]["TcpPassiveOpens"] == 2


def test_a_busy_server_is_not_wrong(bench: Bench, tmp_path: Path) -> None:
    """It serves each connection as long as it lasts: the monitor waits, with one connection."""
    server = program("servers/in_turn.py", "{port}")
    folders = measured(bench, tmp_path, server, s=('path = "/"', 'monitor = "50/s"'))
    monitor = trial(folders["s"])["monitor"]
    # The load tool's end frees the server, which then answers; before it, one connection waits.
    assert monitor["connections"] - monitor["moments"] <= 1
    assert monitor["wrong"] == 0
    assert set(monitor["unanswered"]) <= {"the load ended first"}
    assert e6(folders["s"])[0] in {"unknown", "pass"}


def test_a_body_is_sent_again_as_the_load_tool_sends_it(bench: Bench, tmp_path: Path) -> None:
    body = """{"name": "Ada", "of": "London \u00e9"}"""
    headers = 'headers = { Content-Type = "application/json" }'
    posted = f"""method = "POST", {headers}, body = '{body}'"""
    expected = f"""expect = {{ body = '{body}' }}\nmonitor = "50/s\""""
    server = program("servers/echoes.py", "{port}")
    monitor = monitored(bench, tmp_path, server, posted, expected)
    assert (monitor["wrong"], monitor["head"]) == (0, "load tool")
    (kind,) = monitor["answers"]
    assert kind["length"] == len(body.encode())


def test_answers_over_tls_are_judged(bench: Bench, tmp_path: Path) -> None:
    """It cannot hear the load tool's headers there, and opens a connection at each moment."""
    needed("nginx", "openssl")
    server = 'use = "nginx"\ntls = true\n'
    expected = """expect = { length = 13 }\nmonitor = "20/s\""""
    monitor = monitored(bench, tmp_path, server, 'path = "/"', expected)
    assert (monitor["wrong"], monitor["head"]) == (0, "scenario")
    assert monitor["connections"] >= monitor["moments"]


def monitored(bench: Bench, folder: Path, server: str, request: str, more: str) -> dict[str, Any]:
    """Return what the monitor of a load tells; again where it had no answer in that second."""
    actual: dict[str, Any] = {"moments": 0}
    for _ in range(5):
        actual = trial(measured(bench, folder, server, s=(request, more))["s"])["monitor"]
        if actual["moments"]:
            break
    assert actual["moments"], actual
    return actual
