"""Servers are asked in the load's version of HTTP: what is wrong over HTTP/2 alone is found."""

import sys
from pathlib import Path
from typing import Any

import pytest
from front_door import PROGRAMS, Bench, needed
from measured.on_disk import trials_of
from serving.certificate import pair
from serving.faulty import Outside, probe, serving

from benchforge.model.trial.reading import Load
from benchforge.parts.part import Driver
from benchforge.parts.registry import Registry
from benchforge.run.http.probes import ask_repeatedly
from benchforge.run.http.request import version_of

SUITE = """benchforge = 1
smoke = true
loaders.load = {{ use = "h2load", protocol = "{protocol}", connections = 2, duration = "1s" }}
repeat = {{ blocks = 1, warmup = "0s" }}
[scenarios.streams]
servers = {faults}
loaders = ["load"]
expect = {{ body = "Hello World!" }}
"""
SERVER = """[servers.{fault}]
use = "command"
command = ['{python}', '{program}', '{{port}}', '{fault}', {words}]
ready_within = "60s"
{options}
"""


def suite(
    folder: Path, faults: list[str], protocol: str, words: str = "", options: str = ""
) -> Path:
    needed("h2load")
    fields = {"python": sys.executable, "program": PROGRAMS / "faulty_servers/http2_faults.py"}
    fields |= {"words": words, "options": options}
    servers = "".join(SERVER.format(fault=fault, **fields) for fault in faults)
    file = folder / "suite.toml"
    file.write_text(SUITE.format(protocol=protocol, faults=faults) + servers)
    return file


def by_server(result: Path) -> dict[str, Any]:
    return {trial["case"]["server"]: trial for trial in trials_of(result)}


def test_a_server_that_is_wrong_over_http_2_only_is_found(bench: Bench, tmp_path: Path) -> None:
    """By its status, its body of equal length, and from the 20th stream of a connection on.

    The answer says whose connections nobody read.
    """
    faults = ["only", "status", "body", "late"]
    result = bench("run", suite(tmp_path, faults, "h2c"), code=4).result
    by_fault = by_server(result)
    assert "expected status 200, got 203" in by_fault["status"]["failure"]["message"]
    assert "the body differs from byte 7 on" in by_fault["body"]["failure"]["message"]
    right, late = by_fault["only"], by_fault["late"]
    assert right["failure"] is None
    assert {right["probes"]["version"], right["monitor"]["version"]} == {"HTTP/2"}
    assert right["answers"][0]["version"] == "HTTP/2"
    assert sum(late["probes"]["wrong"].values()) >= 13
    says = {check["id"]: check for check in late["checks"] if check["status"] == "fail"}
    assert "the body differs from byte 7 on" in says["E3"]["message"]
    assert right["monitor"]["moments"] > 0
    (e6,) = (check["message"] for check in right["checks"] if check["id"] == "E6")
    assert "random moments of the monitor over HTTP/2, on connections of its own" in e6
    assert "of these moments were on a connection that it held open, up to its request " in e6
    assert "nobody read the load's own connections: the load speaks HTTP/2" in e6
    assert right["monitor"]["wrong"] == 0
    bench("verify", result, code=0)


def test_a_server_of_http_2_alone_is_measured_over_tls(bench: Bench, tmp_path: Path) -> None:
    options = 'tls = true\nca_file = "own.pem"'
    file = suite(tmp_path, ["only"], "h2", f"'{pair(tmp_path)[1]}'", options)
    trial = by_server(bench("run", file, code=0).result)["only"]
    assert {trial["probes"]["version"], trial["monitor"]["version"]} == {"HTTP/2"}


@pytest.mark.parametrize(
    ("protocol", "fault", "says", "hint"),
    [
        ("http/1.1", "hangs-after-settings", "speaks HTTP/2 only", 'protocol = "h2c"'),
        ("h2c", "http1", "speaks HTTP/1 only, and the load speaks HTTP/2", 'protocol = "http/1.1"'),
        ("h2c", "reset", "it reset the stream: RST_STREAM, CANCEL", ""),
    ],
)
def test_another_version_than_the_loads_is_named(
    bench: Bench, tmp_path: Path, protocol: str, fault: str, says: str, hint: str
) -> None:
    call = bench("serve", suite(tmp_path, [fault], protocol), fault, code=4)
    assert f"error: {fault}: " in call.err
    assert says in call.err
    assert hint in call.err
    assert "Traceback" not in call.all


def test_requests_of_one_side_share_a_connection_while_it_lasts(tmp_path: Path) -> None:
    with serving("http2_faults", "late") as port:
        question = probe(f"http://127.0.0.1:{port}", version="HTTP/2")
        for count, kinds in ((32, 2), (19, 1)):
            results = ask_repeatedly(Outside(), question, count, None)
            assert len({item.answer.sha256 for item in results if item.answer}) == kinds


def test_a_driver_says_its_version() -> None:
    http, https = "http://127.0.0.1", "https://127.0.0.1"
    versions = {
        ("loader", "ab"): ("HTTP/1.0", "HTTP/1.0"),
        ("loader", "wrk"): ("HTTP/1.1", "HTTP/1.1"),
        ("loader", "k6"): ("HTTP/1.1", "either"),
        ("client", "pycurl"): ("HTTP/1.1", "either"),
        ("client", "httpx"): ("HTTP/1.1", "HTTP/1.1"),
    }
    for (kind, name), (plain, over_tls) in versions.items():
        part = Registry().part("loader" if kind == "loader" else "client", name)()
        assert isinstance(part, Driver)
        assert (version_of(part.load(), http), version_of(part.load(), https)) == (plain, over_tls)
    h2 = Load(protocol="HTTP/2")
    assert (version_of(h2, http), version_of(None, https)) == ("HTTP/2", "HTTP/1.1")
