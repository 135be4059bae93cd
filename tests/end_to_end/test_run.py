"""`benchforge run`, by the front door, on real programs."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import warm
from faults.processes import marked
from front_door import PROGRAMS, WAITS_S, Bench, answering, bench_words, captured, needed
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
    needed("wrk")
    path = suite(tmp_path, answering(), scenario='expect = { body = "pong" }')
    call = bench("run", "--details", path, code=0)
    assert "1 case, 1 block: 1 trial, " in call.err
    assert "one" in call.out
    (trial,) = trials(tmp_path)
    assert trial["failure"] is None
    assert trial["reading"]["good_at_least"] > 0
    (result,) = (tmp_path / "results").iterdir()
    for name in ("result.json", "summary.json", "report.md", "report.html", "raw.md"):
        assert (result / name).stat().st_size, name
    bench("validate", result, code=0)
    assert "wrk" in (result / "raw.md").read_text()


def test_json_is_all_that_stands_on_stdout(bench: Bench, tmp_path: Path) -> None:
    needed("wrk")
    summary = json.loads(bench("run", suite(tmp_path, answering()), "--json").out)
    assert summary["kind"] == "summary"
    assert summary["cases"][0]["trials"] == 1


def test_a_scenario_takes_the_metrics_that_it_names(bench: Bench, tmp_path: Path) -> None:
    needed("wrk")
    path = suite(tmp_path, answering(), scenario='metrics = ["latency", "throughput"]')
    (case,) = json.loads(bench("run", path, "--json").out)["cases"]
    assert list(dict.fromkeys(line["metric"] for line in case["metrics"])) == [
        "latency",
        "throughput",
    ]


def test_network_counters_give_responses_per_connection(bench: Bench, tmp_path: Path) -> None:
    needed("wrk")
    bench("run", suite(tmp_path, answering()), code=0)
    (trial,) = trials(tmp_path)
    observation = trial["observation"]
    if observation["network"] == "private":
        # Two connections of the load, and the one by which wrk tries the address.
        assert observation["counters"]["TcpPassiveOpens"] == 3


@pytest.mark.samples(4)
@pytest.mark.parametrize(
    ("options", "scenario", "says"),
    [
        (("--status", "500"), "", "expected status 200, got 500: 'pong'"),
        (("--body", "gnop"), 'expect = { body = "pong" }', "the body differs from byte 0 on"),
        (("--type", "text/html"), 'expect = { content_type = "text/plain" }', "got text/html"),
        (("--body", "{{}}"), "expect = { json = { a = 1 } }", "expected $.a in the JSON"),
        (("--die-after", "1"), "", "ended with exit code 3 before it was ready"),
        (("--start-after", "60"), "", "not ready within 1 s: nothing listens on its port"),
        (("--die-after", "100"), "", "ended with exit code 3 during the load"),
        (("--wrong-after", "100"), 'expect = { body = "pong" }', "after the load: GET /ping"),
    ],
)
def test_a_server_that_is_wrong_is_a_trial_that_failed(
    bench: Bench, tmp_path: Path, options: tuple[str, ...], scenario: str, says: str
) -> None:
    needed("wrk")
    within = "1s" if "--start-after" in options else "60s"
    server = f'{answering(*options)}ready_within = "{within}"'
    call = bench("run", "--details", suite(tmp_path, server, scenario=scenario), code=4)
    assert says in call.out.replace("\n", " "), call.all
    (trial,) = trials(tmp_path)
    assert says in trial["failure"]["message"]
    bench("validate", bench("validate", tmp_path / "results", code=2).result, code=0)


def test_a_server_that_wants_a_login_has_a_hint(bench: Bench, tmp_path: Path) -> None:
    needed("wrk")
    call = bench("run", "--details", suite(tmp_path, answering("--status", "401")), code=4)
    assert "hint: log in before the load: set `session` of the scenario" in call.out


def test_the_last_lines_of_a_server_that_dies_are_shown(bench: Bench, tmp_path: Path) -> None:
    needed("wrk")
    assert "dying as told" in bench("run", suite(tmp_path, answering("--die-after", "1"))).out


def test_servers_that_answer_otherwise_than_one_another_fail(bench: Bench, tmp_path: Path) -> None:
    needed("wrk")
    path = suite(
        tmp_path,
        answering() + "[servers.two]\n" + answering("--body", "pung"),
        scenario="expect = { same_body = true }",
    )
    path.write_text(path.read_text().replace('servers = ["one"]', 'servers = ["one", "two"]'))
    call = bench("run", "--details", path, code=4)
    assert "not the body that" in call.out
    assert "differs from byte 1 on" in call.out.replace("\n", " ")


def test_a_missing_program_is_named_before_the_start(bench: Bench, tmp_path: Path) -> None:
    path = suite(tmp_path, 'use = "command"\ncommand = ["no-such-server", "{port}"]\n')
    call = bench("run", path, code=3)
    assert "no-such-server" in call.err
    assert "hint:" in call.err
    assert not (tmp_path / "results").exists()


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
    needed("wrk")
    (tmp_path / "file").write_text("")
    call = bench("run", suite(tmp_path, answering()), "-o", tmp_path / "file", code=5)
    assert "hint:" in call.err


def test_a_full_disk_keeps_what_was_measured(tmp_path: Path) -> None:
    needed("wrk")
    if subprocess.run(["unshare", "-rm", "true"], check=False, capture_output=True).returncode:
        pytest.skip("user namespaces are not allowed here")
    path = suite(tmp_path, answering(), more="")
    path.write_text(path.read_text().replace("blocks = 1", "blocks = 20"))
    full = tmp_path / "full"
    full.mkdir()
    # A disk of 60 files is full within a few trials; what is on it is looked at before it is gone.
    look = f"{' '.join(bench_words('validate'))} '{full}'/r/*"
    call = " ".join(bench_words("run", f"'{path}'", "-o", f"'{full}/r'"))
    mount = f"mount -t tmpfs -o size=64m,nr_inodes=60 none '{full}'"
    script = f"{mount}; {call}; echo code $?; {look}; echo $?"
    done = captured(["unshare", "-rm", "sh", "-c", script], timeout=WAITS_S, cwd=tmp_path)
    assert "Traceback" not in done.stdout + done.stderr, done.stderr
    assert "code 5" in done.stdout, done.stdout + done.stderr
    assert "No space left on device" in done.stderr
    assert ": valid: " in done.stdout.splitlines()[-2], done.stdout
    assert done.stdout.endswith("\n0\n")


def test_of_two_at_once_the_second_waits_and_names_the_first(tmp_path: Path) -> None:
    needed("wrk")
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
                assert second.stderr is not None
                waits = f"benchforge run (process {first.pid}) is measuring: waiting until it ends"
                assert second.stderr.readline().startswith(waits)
                assert not (tmp_path / "results").exists()
                first.terminate()
                second.communicate(timeout=WAITS_S)
        finally:
            first.terminate()
        assert first.wait(WAITS_S) == 143
    assert second.returncode == 0
    assert list(tmp_path.glob("results/*/summary.json"))


@pytest.mark.samples(1)
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_all(bench: Bench, tmp_path: Path, number: signal.Signals, code: int) -> None:
    needed("wrk")
    mark = f"mark-{tmp_path.name}-{number.name}"
    path = suite(tmp_path, answering("--body", mark))
    path.write_text(path.read_text().replace("blocks = 1", "blocks = 50"))
    out, errors = tmp_path / "out", tmp_path / "errors"
    process = warm.Called(["run", str(path)], tmp_path, os.environ, out, errors)
    try:
        while not trials(tmp_path):
            assert process.poll() is None, errors.read_text()
            time.sleep(0.05)
        process.send_signal(number)
        ended = process.wait(WAITS_S)
    finally:
        process.kill()
    err = errors.read_text()
    assert ended == code, err
    assert "interrupted: " in err
    assert "Traceback" not in err
    assert not marked(mark)
    (result,) = (tmp_path / "results").iterdir()
    bench("validate", result, code=0)
    assert (result / "report.md").exists()


def test_a_running_server_uses_the_hosts_network(bench: Bench, tmp_path: Path) -> None:
    needed("wrk", "ab")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [sys.executable, str(PROGRAMS / "servers/answers.py"), "--port", str(port)]
    with subprocess.Popen(words) as server:
        try:
            path = suite(tmp_path, f'use = "url"\nurl = "http://127.0.0.1:{port}"')
            ab = '[loaders.ab]\nuse = "ab"\nkeep_alive = false\nduration = "1s"\n'
            text = path.read_text().replace('["wrk"]', '["wrk", "ab"]')
            path.write_text(text.replace("[repeat]", f"{ab}[repeat]"))
            call = bench("run", "--details", path)
        finally:
            server.terminate()
    assert call.code == 0, call.all
    assert [trial["failure"] for trial in trials(tmp_path)] == [None, None]
    assert "unknown" in call.out  # the CPU time of what was not started here


def test_a_time_limit_and_fail_fast_end_early(bench: Bench, tmp_path: Path) -> None:
    needed("wrk")
    path = suite(tmp_path, answering())
    path.write_text(path.read_text().replace("blocks = 1", "blocks = 50"))
    bench("run", path, "--time-limit", "4s", code=0)
    assert 1 <= len(trials(tmp_path)) <= 3
    failing = tmp_path / "failing"
    failing.mkdir()
    path = suite(failing, answering("--status", "500"))
    path.write_text(path.read_text().replace("blocks = 1", "blocks = 5"))
    bench("run", path, "--fail-fast", "-o", failing / "results", code=4)
    assert len(trials(failing)) == 1


def test_what_stands_in_a_suite_does_nothing_to_a_terminal(bench: Bench, tmp_path: Path) -> None:
    needed("wrk")
    hostile = r'"a\u001b[2J\nb"'
    varied = f'vary = {{ "servers.one.environment.X" = [{hostile}] }}'
    call = bench("run", suite(tmp_path, answering(), scenario=varied, top=f"title = {hostile}"))
    assert call.code == 0, call.all
    assert "\x1b[2J" not in call.all
    lines = call.err.splitlines()
    assert r"a\x1b[2J\nb" in lines
    assert any(r"a\x1b[2J\nb" in line for line in lines if line.startswith("[1/1] "))


def test_a_port_that_is_taken_is_told(bench: Bench, tmp_path: Path) -> None:
    needed("wrk")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        server = answering().replace("{port}", port)
        path = suite(tmp_path, server + 'ready_within = "60s"', top='network = "host"')
        call = bench("run", "--details", path)
    assert call.code == 4, call.all
    assert "Address already in use" in call.out


def test_secrets_are_not_written(bench: Bench, tmp_path: Path) -> None:
    needed("wrk")
    server = answering() + '\nenvironment = { API_TOKEN = "correct-horse" }\n'
    bench("run", suite(tmp_path, server), code=0)
    for path in tmp_path.glob("results/**/*"):
        if path.is_file():
            assert b"correct-horse" not in path.read_bytes(), path
    assert os.environ.get("API_TOKEN") is None
