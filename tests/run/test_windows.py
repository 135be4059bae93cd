"""Windows of a load: what they show of its own answers, alone and in turns, and where not."""

import gc
import json
import random
import sys
import time
import warnings
import weakref
from pathlib import Path
from typing import Any

import pytest
from front_door import Bench, needed, needed_tool
from hypothesis import given
from hypothesis import strategies as st
from made.plain import reading
from planted.beside import command
from suite_texts.files import suite_text

from benchforge.model.trial.reading import Load
from benchforge.run.http.wire.capture import LoadWindows
from benchforge.run.http.wire.record import record_of, tallied
from benchforge.run.sandbox.host import LocalHost
from benchforge.run.trial.stages.windows import around_s, in_unknown

LIAR = """
import asyncio, sys
WRONG, FROM = sys.argv[2].encode(), int(sys.argv[3])
TAKES_S = float(sys.argv[4])
class Protocol(asyncio.Protocol):
    requests = connections = 0
    def connection_made(self, transport):
        self.transport = transport
        Protocol.connections += 1
    def connection_lost(self, reason):
        Protocol.connections -= 1
    def data_received(self, content):
        self.requests += 1
        lies = self.requests >= FROM if FROM else Protocol.connections > 2
        body = WRONG if lies else b"right"
        head = b"HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body)
        self.transport.write(head + body[:1])
        asyncio.get_running_loop().call_later(TAKES_S, self.end, body[1:], content)
    def end(self, rest, content):
        self.transport.write(rest)
        if b"connection: close" in content.lower() or b"HTTP/1.0" in content:
            self.transport.close()
async def main():
    server = await asyncio.get_running_loop().create_server(Protocol, "127.0.0.1", sys.argv[1])
    await server.serve_forever()
asyncio.run(main())
"""


def measured(
    bench: Bench, folder: Path, servers: dict[str, str], scenario: str, **options: str
) -> dict[str, Path]:
    """Return the folder of each server's last trial."""
    tables = "\n".join(f"[servers.{label}]\n{server}" for label, server in servers.items())
    words = {"loader": "pace", "warmup": "0s", "length": 'duration = "1s"', **options}
    labels = ", ".join(f'"{label}"' for label in servers)
    text = suite_text("run/windows", servers=tables, scenario=scenario, labels=labels, **words)
    (folder / "suite.toml").write_text(text)
    run = bench("run", "suite.toml", "-o", "out")
    files = sorted(folder.glob("out/*/trials/*/trial.json"))
    folders = {json.loads(file.read_text())["case"]["server"]: file.parent for file in files}
    assert folders.keys() == servers.keys(), run.all
    return folders


def liar(folder: Path, wrong: str = "wrong", first: int = 20, takes_s: float = 0.0) -> str:
    """Return a server that begins each answer at once, and ends it later.

    It is wrong from that request of a connection on; if that is 0, while connections are several.
    """
    (folder / "liar.py").write_text(LIAR)
    return command(sys.executable, folder / "liar.py", "{port}", wrong, first, takes_s)


def answers(folder: Path) -> dict[str, Any]:
    windows: dict[str, Any] = json.loads((folder / "trial.json").read_text())["load_answers"]
    if not windows["why"]:
        text = (folder / "load-answers.json").read_bytes()
        assert tallied(record_of(text)).model_dump(mode="json") == windows
    return windows


@pytest.mark.parametrize("loader", ["pace", "wrk"])
@pytest.mark.parametrize("interleave", ["off", "50ms"])
def test_a_server_that_is_wrong_on_older_connections_is_seen_and_an_honest_one_is_not(
    bench: Bench, tmp_path: Path, loader: str, interleave: str
) -> None:
    needed_tool(f'use = "{loader}"')
    servers = {"liar": liar(tmp_path), "honest": liar(tmp_path, "right")}
    scenario = f'expect = {{ body = "right" }}\ninterleave = "{interleave}"'
    folders = measured(bench, tmp_path, servers, scenario, loader=loader)
    lies, honest = answers(folders["liar"]), answers(folders["honest"])
    assert lies["load"]["wrong"] > 0
    assert lies["load"]["wrong_answers"] > 0
    assert lies["answers"][0]["wrong"]
    assert (folders["liar"] / "wrong-answer-1").read_bytes() == b"wrong"
    assert honest["load"]["judged"] > 0
    assert honest["load"]["wrong"] == honest["around"]["wrong"] == 0
    trial = json.loads((folders["honest"] / "trial.json").read_text())
    assert trial["monitor"] is None
    if interleave == "off":
        assert 2 * honest["load"]["judged"] >= honest["load"]["windows"]
    else:
        assert trial["turns"] is not None
        assert honest["around"]["windows"] > 0


def test_a_window_of_many_packets_that_are_read_after_the_load_shows_answers(
    bench: Bench, tmp_path: Path
) -> None:
    needed("nginx", "wrk")
    servers = {"fast": 'use = "nginx"'}
    folder = measured(bench, tmp_path, servers, "expect = { status = 200 }", loader="wrk")
    windows = answers(folder["fast"])
    assert 2 * windows["load"]["judged"] >= windows["load"]["windows"]
    assert windows["load"]["answers"] >= 5 * windows["load"]["judged"]


def test_a_post_whose_answer_has_another_content_is_seen_with_and_without_expect(
    bench: Bench, tmp_path: Path
) -> None:
    servers = {"liar": liar(tmp_path, "login")}
    scenario = 'request = { method = "POST", path = "/cart", body = "a=1" }'
    windows = answers(measured(bench, tmp_path, servers, scenario, warmup="1s")["liar"])
    assert windows["load"]["other_bodies"] > 0
    assert windows["load"]["wrong"] == 0
    assert windows["around"]["judged"] > 0
    scenario += '\nexpect = { body = "right" }'
    windows = answers(measured(bench, tmp_path, servers, scenario, warmup="1s")["liar"])
    assert windows["load"]["wrong"] > 0


def test_windows_of_a_trial_that_fails_are_closed(tmp_path: Path) -> None:
    with warnings.catch_warnings(record=True) as unclosed, LocalHost().trial(tmp_path) as sandbox:
        warnings.simplefilter("always")
        windows = LoadWindows(sandbox, 8000)
        if windows.why:
            pytest.skip(windows.why)
        with windows.during("load", [0.0, 0.001], 0.001):
            time.sleep(0.05)
        alive = weakref.ref(windows)
        del windows
        while alive() is not None:  # its thread ends soon
            time.sleep(0.01)
            gc.collect()
    assert not unclosed


def test_slow_answers_are_followed_to_their_end_while_further_windows_open(
    bench: Bench, tmp_path: Path
) -> None:
    servers = {"slow": liar(tmp_path, takes_s=0.2)}
    scenario = 'expect = { body = "right" }'
    windows = answers(measured(bench, tmp_path, servers, scenario)["slow"])
    assert windows["load"]["judged"] >= 3, windows
    assert windows["load"]["longest_s"] >= 0.2


@given(st.integers(0, 99), st.floats(0.05, 100), st.floats(1, 1000))
def test_a_load_of_unknown_length_has_as_many_windows_as_there_is_room_for(
    seed: int, lasts_s: float, times: float
) -> None:
    moments = in_unknown(random.Random(seed), lasts_s * times)
    assert sum(moment <= lasts_s for moment in moments) >= 8
    assert len(moments) <= 40


def test_an_upstream_server_is_read_behind_tls(bench: Bench, tmp_path: Path) -> None:
    needed("nginx", "openssl")
    front = 'use = "nginx"\nupstream = "behind"\ntls = true'
    behind = liar(tmp_path, first=0, takes_s=0.01)
    servers = {"front": f"{front}\n[servers.behind]\n{behind}"}
    scenario = 'expect = { body = "right" }'
    folder = measured(bench, tmp_path, servers, scenario)["front"]
    read = answers(folder)
    assert read["behind"] == "nginx's TLS"
    assert read["load"]["wrong"] > 0
    trial = json.loads((folder / "trial.json").read_text())
    assert trial["url"].startswith("https:")
    assert trial["monitor"]["requests"] > 0
    says = next(check["message"] for check in trial["checks"] if check["id"] == "E6")
    assert "random windows of the load behind nginx's TLS (" in says


@given(st.integers(1, 10**6), st.integers(1, 10_000), st.floats(0.001, 3600))
def test_a_load_after_the_load_has_room_for_its_windows_and_no_more(
    responses: int, connections: int, seconds: float
) -> None:
    load, of_load = Load(concurrency=connections), reading(responses, seconds=seconds)
    each_s = 0.003 + (1 + connections) * seconds / responses
    assert around_s(of_load, load) == pytest.approx(min(0.4, 48 * each_s))
    assert around_s(None, load) == around_s(reading(0), load) == around_s(of_load, Load()) == 0.4
