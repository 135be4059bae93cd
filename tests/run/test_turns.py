"""Servers in turns, by the front door: what is kept, what is proved of it, what goes wrong.

And a load alone that ends before its tool would by itself.
"""

import json
import re
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from benchforge_loaders.wrk.wrk import Wrk
from faults.watched import until
from front_door import Bench, answering, bench_words, calls, needed, needed_module
from measured.on_disk import cut_off, only_result
from measured.on_disk import trials_of as trials
from measured.once import made_once
from planted.beside import command, program
from suite_texts.files import suite_text

from benchforge.errors import LaunchLost
from benchforge.model.trial.answers.answer import Request
from benchforge.parts.command import Command
from benchforge.parts.site import Target
from benchforge.run.sandbox.host import LocalHost, Running, Sandbox
from benchforge.run.trial.scope import TrialRecorder
from benchforge.run.trial.stages.drive import LoadToolRun, drive
from benchforge.run.trial.turns.freeze import Freezer
from benchforge.run.trial.turns.tools import OPENED, FrozenTool
from benchforge.stats.turns import order

OTHER = answering("--wait", "0.0035")
ESCAPES = """
import os, signal, time
signal.signal(signal.SIGTSTP, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    signal.signal(signal.SIGCONT, lambda *_: None)
while True:
    pass
"""

FORKS = """
import os, time
pages = bytearray(100 << 20)  # of which each fork copies the tables: it takes a while
while True:
    if os.fork() == 0:
        ends = time.monotonic() + 0.02
        while time.monotonic() < ends:
            pass
        os._exit(0)
    os.wait()
"""


def suite(folder: Path, other: str = OTHER, blocks: int = 2) -> Path:
    path = folder / "turns.toml"
    path.write_text(suite_text("run/turns", two=answering(), other=other, blocks=blocks))
    return path


def ran(bench: Bench, folder: Path, **how: Any) -> Path:
    call = bench("run", suite(folder, **how), "-o", folder / "results")
    assert "results in" in call.err, call.all
    return only_result(folder)


def measured(result: Path) -> bool:
    return all(item["failure"] is None for item in trials(result))


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result of two blocks. A machine may be too loud for fifty requests a slice: five tries."""

    def make(folder: Path) -> Path:
        for number in range(5):
            (path := folder / str(number)).mkdir()
            made = ran(calls(bench_words(), path), path)
            if measured(made):
                return made
        raise AssertionError("no try measured all trials")

    return made_once(tmp_path_factory, "turns", make)


def test_two_servers_take_turns_and_all_of_it_is_proved(bench: Bench, result: Path) -> None:
    actual = trials(result)
    assert [item["turns"]["trials"] for item in actual] == [[1, 2], [1, 2], [3, 4], [3, 4]]
    for item_ in actual:
        turns, reading = item_["turns"], item_["reading"]
        assert sum(slice_["responses"] for slice_ in turns["slices"]) == reading["responses"]
        assert len(turns["slices"]) == turns["rounds"]
        assert reading["latency"] is None
        assert "quiet" not in item_["phases"]
        # A frozen server uses no CPU, and sound ones are looked at.
        statuses = {check["id"]: check["status"] for check in item_["checks"]}
        assert {statuses[id_] for id_ in ("I1", "D1", "D2", "D3")} == {"pass"}, item_["checks"]
    shared = {"freeze", "rates", "load", "end", "idle", "stop"}
    for launch in (actual[:2], actual[2:]):
        phases = [item["phases"] for item in launch]
        of_each = [each[name] for each in phases for name in each.keys() - shared]
        of_all = [max(each.get(name, 0.0) for each in phases) for name in shared]
        assert sum(of_each) + sum(of_all) <= max(item["seconds"] for item in launch)
    bench("verify", result, code=0)


def test_only_one_server_runs_at_a_time_in_the_order_of_the_seed(result: Path) -> None:
    actual = trials(result)
    for joint in (actual[:2], actual[2:]):
        turns = [item["turns"] for item in joint]
        ends = 0.0
        for number, indices in enumerate(order(turns[0]["seed"], 2, turns[0]["rounds"])):
            for slice_ in (turns[index]["slices"][number] for index in indices):
                assert ends <= slice_["start_s"] <= slice_["end_s"]
                ends = slice_["end_s"]
    assert actual[0]["turns"]["seed"] != actual[2]["turns"]["seed"]


def test_a_dead_server_has_no_later_launches(bench: Bench, tmp_path: Path) -> None:
    """The others are measured in each block, in another attempt of the first one."""
    broken = 'use = "command"\ncommand = "{python} -c \'exit(3)\' {port}"'
    path = suite(tmp_path)
    text = path.read_text().replace("[claims", f"[servers.broken]\n{broken}\n[claims", 1)
    path.write_text(text.replace('["two", "three"]', '["two", "broken", "three"]'))
    call = bench("run", path, "-o", tmp_path / "results")
    result = call.result
    by_server: dict[str, list[dict[str, Any]]] = {}
    for trial in trials(result):
        by_server.setdefault(trial["case"]["server"], []).append(trial)
    assert len(by_server["broken"]) == 2
    first, second = (trial["failure"]["message"] for trial in by_server["broken"])
    assert second == f"left out of turns: {first}"
    assert not by_server["broken"][1]["processes"]
    for label in ("two", "three"):
        lost, *others = by_server[label]
        message = "broken did not start: measured again without it"
        assert lost["failure"]["message"] == message, call.all
        assert {trial["block"] for trial in others} == {1, 2}
        assert not any("broken" in str(trial["failure"]) for trial in others), call.all
    assert call.err.count("did not start: the other launches are without it") == 1
    bench("verify", result, code=0)
    bench("run", "--resume", result, code=call.code)


def test_the_report_says_that_servers_took_turns(bench: Bench, result: Path) -> None:
    details = bench("report", result, "--details").out
    assert "(in turns)" in details
    summary = json.loads((result / "summary.json").read_text())
    (bias,) = {comparison["verdict"]["bias"] for comparison in summary["comparisons"]}
    assert bias.startswith("ratios in turns may differ by up to 7 % from those of the same loads")
    assert Path("docs", bias.rpartition("(")[2].strip(")")).exists()
    for text in (details, *((result / f"report.{form}").read_text() for form in ("md", "html"))):
        assert bias in " ".join(text.split())
    assert all(case["in_turns"] for case in summary["cases"])
    (verdict,) = summary["verdicts"]
    assert "in turns" in verdict["sentence"]
    latency = [line for case in summary["cases"] for line in case["metrics"] if line["of"] == "p99"]
    assert latency
    assert all(line["median"] is None and "in turns" in line["why"] for line in latency)


def test_slices_that_were_changed_are_found(bench: Bench, result: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(result, copy)
    file = copy / "trials/0001/trial.json"
    content = json.loads(file.read_text())
    content["turns"]["slices"][0]["responses"] += 1
    content["turns"]["slices"][0]["sent"] += 1
    file.write_text(json.dumps(content))
    assert "but the load tool" in bench("validate", copy, code=1).all
    bench("verify", copy, code=1)


def test_half_a_launch_is_measured_again(bench: Bench, result: Path, tmp_path: Path) -> None:
    made = Path(shutil.copytree(result, tmp_path / result.name))
    first = {trial["number"]: trial["started"] for trial in trials(made)}
    cut_off(made, 3)
    call = bench("run", "--resume", made)
    actual = trials(made)
    assert [item["number"] for item in actual] == [1, 2, 3, 4], call.all
    joint = [item["turns"]["trials"] for item in actual if item["turns"]]
    assert joint[:1] in ([[1, 2]], [[3, 4]], [])
    assert actual[0]["started"] == first[1]
    assert actual[2]["started"] != first[3]
    bench("validate", made, code=0)


def test_a_dead_server_loses_the_launch(bench: Bench, tmp_path: Path) -> None:
    ends = command(sys.executable, "-c", "raise SystemExit(3)")
    made = ran(bench, tmp_path, other=ends, blocks=1)
    actual = {trial["case"]["server"]: trial["failure"] for trial in trials(made)}
    assert "exit code 3" in actual["three"]["message"]
    assert actual["two"]["message"].startswith("the launch was lost for all that took turns: three")
    assert actual["two"]["hint"] == "see the trial of three"
    bench("validate", made, code=0)


def test_servers_start_at_the_same_time(bench: Bench, tmp_path: Path) -> None:
    """Each waits for the other one: if one started after the other, neither would answer."""
    wait = 'touch "$1"; while [ ! -e "$2" ]; do sleep 0.01; done; shift 2; exec "$@"'
    words = re.findall("'([^']*)'", answering())

    def waiting(mine: str, other: str) -> str:
        return command("sh", "-c", wait, "sh", tmp_path / mine, tmp_path / other, *words)

    path = tmp_path / "turns.toml"
    text = suite_text("run/turns", two=waiting("a", "b"), other=waiting("b", "a"), blocks=1)
    path.write_text(text)
    run = bench("run", path)
    assert all(trial["answers"] for trial in trials(run.result)[:2]), run.all


def test_a_launch_that_a_slow_server_lost_is_measured_again(bench: Bench, tmp_path: Path) -> None:
    slow = program("faulty_servers/frozen.py", "{port}", "slow", tmp_path / "was-slow")
    made = ran(bench, tmp_path, other=slow, blocks=1)
    actual = trials(made)
    assert [item["attempt"] for item in actual[:4]] == [1, 1, 2, 2]
    lost = {item["case"]["server"]: item["failure"] for item in actual[:2]}
    assert "are too few for turns of 2 servers" in lost["three"]["message"]
    assert lost["two"]["subject"] == lost["three"]["subject"] == "apparatus"
    for item_ in actual[2:4]:
        assert item_["turns"] is None or item_["turns"]["slice_s"] >= 0.1
    summary = json.loads((made / "summary.json").read_text())
    assert all(case["failed"][0]["attempt"] == 1 for case in summary["cases"])
    assert "block 1) of three failed" in (made / "report.md").read_text()
    bench("verify", made, code=0)

    cut_off(made, 1)  # a kill came between the two that were lost
    call = bench("run", "--resume", made)
    first, second, *_ = [(trial["number"], trial["attempt"]) for trial in trials(made)]
    assert (first, second) == ((1, 1), (2, 1)), call.all
    bench("validate", made, code=0)


CLIENTS = f"benchforge = 1\n[servers.one]\n{answering()}{suite_text('run/turns_clients')}"


def test_clients_take_turns_each_with_a_server_of_its_own(bench: Bench, tmp_path: Path) -> None:
    made = bridged(bench, tmp_path, CLIENTS.replace("bridge = 3\n", ""))
    actual = [trial for trial in trials(made) if trial["failure"] is None]
    assert {item["case"]["driver"] for item in actual} == {"kept", "anew", "tornado"}
    for item in actual:
        slices = item["turns"]["slices"]
        assert sum(slice_["responses"] for slice_ in slices) == item["reading"]["responses"] > 0
        assert all(slice_["loader_cpu_s"] > 0 for slice_ in slices)
        assert len(item["turns"]["trials"]) == 3
    summary = json.loads((made / "summary.json").read_text())
    for case in summary["cases"]:
        subject = {(line["metric"], line["of"]): line["median"] for line in case["metrics"]}
        assert subject["wall", "load"] == pytest.approx(1 / subject["throughput", None])
        assert 0 < subject["client_cpu", "total"] < subject["wall", "load"]
    (comparison,) = summary["comparisons"]
    assert len(comparison["cases"]) == 3
    assert {"I2", "I4", "I5"} <= {check["id"] for check in comparison["checks"]}
    about = [item["component"] for item in comparison["checks"] if item["id"] == "I5"]
    assert about == ["kept / anew", "kept / tornado", "anew / tornado"]
    bench("verify", made, code=0)


@pytest.mark.exhaustive
def test_a_bridge_measures_the_same_clients_without_turns(bench: Bench, tmp_path: Path) -> None:
    made = bridged(bench, tmp_path, CLIENTS.replace("blocks = 1", "blocks = 4"))
    outside = [trial for trial in trials(made) if trial["turns"] is None]
    assert {item["case"]["scenario"] for item in outside} == {"hello-alone"}
    assert {item["block"] for item in outside} == {1, 2, 3}
    in_turns, alone = json.loads((made / "summary.json").read_text())["comparisons"]
    assert alone["scenario"] == f"{in_turns['scenario']}-alone"
    about = [check["component"] for check in in_turns["checks"] if check["id"] == "I8"]
    assert sorted(about) == ["anew / tornado", "kept / anew", "kept / tornado"]
    bench("verify", made, code=0)


def test_a_frozen_tool_is_counted_by_its_bytes(bench: Bench, tmp_path: Path) -> None:
    """One of the servers logs 60 bytes of each request: what it writes is counted by the slices."""
    needed("wrk")
    logs = answering("--wait", "0.0035", "--log", "60")
    text = suite(tmp_path, other=logs, blocks=1).read_text()
    made = bridged(bench, tmp_path, text.replace('use = "pace"', 'use = "wrk", duration = "1s"'))
    actual = [trial for trial in trials(made) if trial["turns"] is not None]
    assert len(actual) >= 2
    for item in actual:
        (logging,) = (check for check in item["checks"] if check["id"] == "D3")
        if item["case"]["server"] == "two":
            assert (logging["status"], logging["value"]) == ("pass", 0), logging
        else:
            assert logging["status"] == "warn", logging
            assert 30 < logging["value"] < 120, logging
        counts = [slice_["responses"] for slice_ in item["turns"]["slices"]]
        assert sum(counts) == item["reading"]["responses"]
        assert all(slice_["received_bytes"] is not None for slice_ in item["turns"]["slices"])
        assert item["reading"]["latency"] is None
    bench("verify", made, code=0)


def bridged(bench: Bench, folder: Path, text: str) -> Path:
    """Return a result of a suite all of whose trials have a measurement: five tries."""
    text = text.replace('use = "pace"', 'use = "pace", duration = "1s"')
    (folder / "turns.toml").write_text(text)
    printed = ""
    for number in range(5):
        printed = bench("run", "turns.toml", "-o", folder / f"results{number}").all
        if measured(made := only_result(folder / f"results{number}")):
            return made
    raise AssertionError(printed)


def test_load_levels_take_turns_and_ab_among_them(bench: Bench, tmp_path: Path) -> None:
    needed("ab")
    needed_module("cheroot")
    made = bridged(bench, tmp_path, suite_text("run/turns_levels"))
    actual = [trial for trial in trials(made) if trial["failure"] is None]
    assert len({tuple(item["turns"]["trials"]) for item in actual}) == 1
    assert len(actual[0]["turns"]["trials"]) == 4
    subject = {(item["case"]["driver"], *item["case"]["vary"].values()): item for item in actual}
    assert subject.keys() == {("kept",), ("closed",), ("pace", 2), ("pace", 8)}
    for item_ in actual:
        slices = item_["turns"]["slices"]
        assert sum(slice_["responses"] for slice_ in slices) == item_["reading"]["responses"] > 0
        by_bytes = item_["case"]["driver"] != "pace"
        assert all((slice_["received_bytes"] is not None) is by_bytes for slice_ in slices)
    opened = subject[("closed",)]["observation"]["counters"]["TcpPassiveOpens"]
    assert opened >= subject[("closed",)]["reading"]["responses"]  # new connections in each slice
    assert subject[("kept",)]["observation"]["counters"]["TcpPassiveOpens"] < opened
    comparison = json.loads((made / "summary.json").read_text())["comparisons"][0]
    pairs = [item["component"] for item in comparison["checks"] if item["id"] == "I5"]
    assert "cheroot · kept / cheroot · closed" in pairs
    assert len(pairs) == 3  # with each other load; the others are told of the others
    bench("verify", made, code=0)


@pytest.mark.samples(1)
@pytest.mark.parametrize(
    ("use", "dataset", "app", "path", "needs"),
    [
        ("redis", "foo", "redis_tornado_async", "/redis", "redis-server"),
        ("virtuoso", "classes", "virtuoso_tornado_native", "/", "virtuoso-t"),
    ],
)
def test_each_server_has_a_database_of_its_own_that_is_frozen_with_it(
    bench: Bench, tmp_path: Path, use: str, dataset: str, app: str, path: str, needs: str
) -> None:
    needed("wrk", needs)
    needed_module("tornado")
    text = suite_text("run/turns_stores", use=use, dataset=dataset, app=app, path=path)
    made = bridged(bench, tmp_path, text)
    for item in [trial for trial in trials(made) if trial["failure"] is None]:
        (check,) = (check for check in item["checks"] if check["id"] == "I1")
        assert check["status"] == "pass", check["message"]
        assert item["reading"]["responses"] > 0
        by_role = {usage["role"]: usage for usage in item["observation"]["usage"]}
        assert by_role.keys() >= {"server", "backend"}
        assert by_role["server"]["cpu_s"] > 0, "in turns too: it is known apart from its backend's"
    bench("verify", made, code=0)


@contextmanager
def beside_a_loader(folder: Path, server: str) -> Iterator[tuple[Sandbox, Running]]:
    with LocalHost().trial(folder / "logs") as sandbox:
        loader = sandbox.start("loader", Command("sleep", 600), folder, {})
        sandbox.start("server", Command(sys.executable, "-c", server), folder, {})
        yield sandbox, loader


def test_what_leaves_its_session_is_frozen_too(tmp_path: Path) -> None:
    with beside_a_loader(tmp_path, ESCAPES) as (sandbox, loader):
        until(lambda: len(sandbox.others(loader)) >= 2)
        freezer = Freezer(sandbox, loader)
        freezer.freeze()
        time.sleep(0.2)
        freezer.thaw()
        assert freezer.frozen_cpu_s == 0
        assert freezer.freeze() > 0


def test_what_was_just_being_forked_is_frozen_too(tmp_path: Path) -> None:
    with beside_a_loader(tmp_path, FORKS) as (sandbox, loader):
        freezer = Freezer(sandbox, loader)
        for _ in range(50):
            freezer.freeze()
            states = [Path(f"/proc/{pid}/stat").read_text() for pid in sandbox.others(loader)]
            assert all(stat[stat.rindex(")") + 2] in "TZX" for stat in states), states
            freezer.thaw()
            time.sleep(0.005)


@pytest.mark.parametrize(("needs", "within_s", "ends"), [(2, 60.0, True), (1000, 1.0, False)])
def test_a_lost_signal_is_repeated(tmp_path: Path, needs: int, within_s: float, ends: bool) -> None:
    counting = (
        "import signal, sys, time\nmet = []\n"
        f"def meets(*_):\n    met.append(1)\n    len(met) < {needs} or sys.exit(0)\n"
        "signal.signal(signal.SIGINT, meets)\nprint('ready', flush=True)\ntime.sleep(600)\n"
    )
    with LocalHost().trial(tmp_path / "logs") as sandbox:
        running = sandbox.start("wrk", Command(sys.executable, "-c", counting), tmp_path, {})
        until(lambda: b"ready" in running.stdout.read_bytes())
        tool = FrozenTool(sandbox, running, Wrk(connections=1), -1, 1)  # as if it had connected
        tool.anew()
        tool.ask_to_end()
        if ends:
            assert tool.end(within_s).code == 0
            return
        with pytest.raises(LaunchLost, match="wrk did not end within 1 s after its last slice"):
            tool.end(within_s)


def test_late_bytes_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reading = (
        "import os, pathlib, sys, time\n"
        "while not pathlib.Path('go').exists(): time.sleep(0.001)\n"
        "os.read(os.open('/dev/zero', os.O_RDONLY), 100_000)\n"
        "pathlib.Path('done').touch()\ntime.sleep(600)\n"
    )
    with LocalHost().trial(tmp_path / "logs") as sandbox:
        running = sandbox.start("wrk", Command(sys.executable, "-c", reading), tmp_path, {})

        def counters() -> dict[str, int]:
            if (tmp_path / "done").exists():
                return {OPENED: 1}
            (tmp_path / "go").touch()
            until((tmp_path / "done").exists)
            return {OPENED: 0}

        monkeypatch.setattr(sandbox, "counters", counters)
        tool = FrozenTool(sandbox, running, Wrk(connections=1), 0, 1)
        tool.anew()
        assert tool.uncounted_bytes >= 100_000


# --- a load alone --------------------------------------------------------------------------------

GOES_ON = """
import signal, sys, time
signal.signal(signal.SIGINT, lambda *_: sys.exit(7))
time.sleep(600)
"""


def test_a_warm_up_of_less_than_a_second_is_killed_when_it_is_over(tmp_path: Path) -> None:
    class GoesOn(Wrk):
        def commands(self, target: Target) -> Sequence[Command]:
            return [Command(sys.executable, "-c", GOES_ON)]

    driver = GoesOn(connections=1).for_warm_up(0.5)
    target = Target("http://127.0.0.1:1/", Request(), tmp_path, {}, Path(sys.executable))
    trial_recorder = TrialRecorder(lambda _: None)
    with LocalHost().trial(tmp_path / "logs") as sandbox:
        (finished,) = drive(
            sandbox, LoadToolRun(driver, target, "warm-up", length_s=0.5), trial_recorder
        )
    assert finished.code == -9
