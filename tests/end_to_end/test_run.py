"""`benchforge run`, by the front door, on real programs."""

import json
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from front_door import PROGRAMS, WAITS_S, Bench, answering, bench_words, captured, needed
from present import present
from serving.apps import free_port
from suite_texts.with_wrk import suite, trials


def test_help_imports_click_and_nothing_else() -> None:
    program = """
import sys
before = set(sys.modules)
sys.argv = ["benchforge", "--help"]
from benchforge.cli.app import main
try:
    main()
except SystemExit as end:
    assert end.code == 0, end.code
tops = {name.partition(".")[0] for name in set(sys.modules) - before}
print(sorted(tops - set(sys.stdlib_module_names)), file=sys.stderr)
"""
    done = captured([sys.executable, "-c", program], check=True)
    assert "Measure a suite" in done.stdout
    assert done.stderr.strip() == "['benchforge', 'click']"


def test_a_run_measures_reports_and_is_valid(bench: Bench, tmp_path: Path) -> None:
    path = suite(tmp_path, answering(), scenario='expect = { body = "pong" }')
    call = bench("run", "--details", path, code=0)
    assert "1 case, 1 block: 1 trial, " in call.err
    assert "one" in call.out
    (trial,) = trials(tmp_path)
    assert trial["failure"] is None
    assert trial["reading"]["good_at_least"] > 0
    observation = trial["observation"]
    if observation["network"] == "private":
        # Two connections of the load, and the one by which wrk tries the address.
        assert observation["counters"]["TcpPassiveOpens"] == 3
    for name in ("result.json", "summary.json", "report.md", "report.html", "raw.md"):
        assert (call.result / name).stat().st_size, name
    bench("validate", call.result, code=0)
    assert "wrk" in (call.result / "raw.md").read_text()


def test_json_is_all_of_stdout_and_has_the_metrics_named(bench: Bench, tmp_path: Path) -> None:
    path = suite(tmp_path, answering(), scenario='metrics = ["latency", "throughput"]')
    summary = json.loads(bench("run", path, "--json").out)
    (case,) = summary["cases"]
    assert (summary["kind"], case["trials"]) == ("summary", 1)
    metrics = dict.fromkeys(line["metric"] for line in case["metrics"])
    assert list(metrics) == ["latency", "throughput"]


@pytest.mark.samples(5)
@pytest.mark.parametrize(
    ("options", "scenario", "says"),
    [
        (("--status", "401"), "", "hint: log in before the load: set `session` of the scenario"),
        (("--status", "500"), "", "expected status 200, got 500: 'pong'"),
        (("--type", "text/html"), 'expect = { content_type = "text/plain" }', "got text/html"),
        (("--body", "gnop"), 'expect = { body = "pong" }', "the body differs from byte 0 on"),
        (("--die-after", "1"), "", "dying as told"),  # the last lines of the server
        (("--die-after", "1"), "", "ended with exit code 3 before it was ready"),
        (("--die-after", "100"), "", "ended with exit code 3 during the load"),
        (("--body", "{{}}"), "expect = { json = { a = 1 } }", "expected $.a in the JSON"),
        (("--start-after", "60"), "", "not ready within 1 s: nothing listens on its port"),
        (("--wrong-after", "100"), 'expect = { body = "pong" }', "after the load: GET /ping"),
    ],
)
def test_a_server_that_is_wrong_is_a_trial_that_failed(
    bench: Bench, tmp_path: Path, options: tuple[str, ...], scenario: str, says: str
) -> None:
    within = "1s" if "--start-after" in options else "60s"
    server = f'{answering(*options)}ready_within = "{within}"'
    call = bench("run", "--details", suite(tmp_path, server, scenario=scenario), code=4)
    assert says in call.out.replace("\n", " "), call.all
    (trial,) = trials(tmp_path)
    assert says.removeprefix("hint: ") in " ".join(map(str, trial["failure"].values()))
    bench("validate", call.result, code=0)


def test_servers_that_answer_otherwise_than_one_another_fail(bench: Bench, tmp_path: Path) -> None:
    servers = answering() + "[servers.two]\n" + answering("--body", "pung")
    path = suite(tmp_path, servers, scenario="expect = { same_body = true }")
    path.write_text(path.read_text().replace('servers = ["one"]', 'servers = ["one", "two"]'))
    call = bench("run", "--details", path, code=4)
    assert "not the body that" in call.out
    assert "differs from byte 1 on" in call.out.replace("\n", " ")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("run", "missing.toml"), "missing.toml"),
        (("run", "small.toml", "--profile", "none"), "none"),
        (("run", "small.toml", "--set", "nothing"), "--set nothing: no '=' in it"),
        (("run", "small.toml", "--set", "servers.one.nothing=1"), "nothing"),
        (("run", "small.toml", "--only", "pong"), "ping"),
        (("run", "small.toml", "--time-limit", "soon"), "--time-limit soon: not a duration"),
        (("rum",), "no command 'rum'; available commands: "),
        (("validate", "missing"), "missing"),
    ],
)
def test_unusable_suites(bench: Bench, tmp_path: Path, words: tuple[str, ...], says: str) -> None:
    suite(tmp_path, answering())
    assert says in bench(*words, code=2).all


def test_results_that_cannot_be_written_end_with_5(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    call = bench("run", suite(tmp_path, answering()), "-o", tmp_path / "file", code=5)
    assert "hint:" in call.err


def test_of_two_at_once_the_second_waits_and_names_the_first(tmp_path: Path) -> None:
    path = suite(tmp_path, answering())
    words = bench_words("run", path, "--set", "loaders.wrk.duration=60s", "-o", "first")
    with subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.DEVNULL) as first:
        try:
            while not list(tmp_path.glob("first/*/trials/0001")):
                assert first.poll() is None
                time.sleep(0.05)
            shorter = 'loaders.wrk={ use = "pace", duration = "100ms" }'
            words = bench_words("run", path, "--set", shorter)
            with subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as second:
                waits = f"benchforge run (process {first.pid}) is measuring: waiting until it ends"
                assert present(second.stderr).readline().startswith(waits)
                assert not (tmp_path / "results").exists()
                first.terminate()
                second.communicate(timeout=WAITS_S)
        finally:
            first.terminate()
        assert first.wait(WAITS_S) == 143
    assert second.returncode == 0
    assert list(tmp_path.glob("results/*/summary.json"))


def test_a_running_server_uses_the_hosts_network(bench: Bench, tmp_path: Path) -> None:
    needed("ab")
    port = free_port()
    words = [sys.executable, str(PROGRAMS / "servers/answers.py"), "--port", str(port)]
    with subprocess.Popen(words) as server:
        try:
            path = suite(tmp_path, f'use = "url"\nurl = "http://127.0.0.1:{port}"')
            ab = '[loaders.ab]\nuse = "ab"\nkeep_alive = false\nduration = "1s"\n'
            text = path.read_text().replace('["wrk"]', '["wrk", "ab"]')
            path.write_text(text.replace("[repeat]", f"{ab}[repeat]"))
            call = bench("run", "--details", path, code=0)
        finally:
            server.terminate()
    assert [trial["failure"] for trial in trials(tmp_path)] == [None, None]
    assert "unknown" in call.out  # the CPU time of what was not started here


def test_a_time_limit_and_fail_fast_end_early(bench: Bench, tmp_path: Path) -> None:
    bench("run", suite(tmp_path, answering(), blocks=50), "--time-limit", "4s", code=0)
    assert 1 <= len(trials(tmp_path)) <= 3
    failing = tmp_path / "failing"
    failing.mkdir()
    path = suite(failing, answering("--status", "500"), blocks=5)
    bench("run", path, "--fail-fast", "-o", failing / "results", code=4)
    assert len(trials(failing)) == 1


def test_what_stands_in_a_suite_does_nothing_to_a_terminal(bench: Bench, tmp_path: Path) -> None:
    hostile = r'"a\u001b[2J\nb"'
    varied = f'vary = {{ "servers.one.environment.X" = [{hostile}] }}'
    path = suite(tmp_path, answering(), scenario=varied, top=f"title = {hostile}")
    call = bench("run", path, code=0)
    assert "\x1b[2J" not in call.all
    lines = call.err.splitlines()
    assert r"a\x1b[2J\nb" in lines
    assert any(r"a\x1b[2J\nb" in line for line in lines if line.startswith("[1/1] "))


def test_a_port_that_is_taken_is_told(bench: Bench, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        server = answering().replace("{port}", port)
        path = suite(tmp_path, server + 'ready_within = "60s"', top='network = "host"')
        call = bench("run", "--details", path, code=4)
    assert "Address already in use" in call.out
