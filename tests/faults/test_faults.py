"""What goes wrong, by the front door: each fault has a line, an exit code, and leaves nothing."""

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import warm
from faults.processes import descendant, marked
from faults.watched import until
from front_door import PROGRAMS, WAITS_S, Bench, Told, bench_words, captured, needed, needed_module
from measured.on_disk import only_result
from planted.beside import program
from suite_texts.with_wrk import suite, trials

MISBEHAVES = PROGRAMS / "faulty_servers/misbehaves.py"


def misbehaving(*options: str, ready_within: str = "60s") -> str:
    server = program("faulty_servers/misbehaves.py", "--port", "{port}", *options)
    return f'{server}ready_within = "{ready_within}"\n'


def marked_server(folder: Path) -> tuple[str, str]:
    """Return the TOML of a server, and a mark in the command lines of all its processes."""
    mark = f"marked-{folder.name}"
    (folder / mark).symlink_to(MISBEHAVES)
    return misbehaving().replace(str(MISBEHAVES), str(folder / mark)), mark


def failure(folder: Path) -> str:
    (trial,) = trials(folder)
    return str(trial["failure"]["message"])


@contextlib.contextmanager
def running(folder: Path, *words: str | Path, **environment: str) -> Iterator[warm.Called]:
    """Call benchforge in the background; it is ended at the latest when the test ends."""
    outputs = folder / "out", folder / "err"
    process = warm.Called([*map(str, words)], folder, os.environ | environment, *outputs)
    try:
        yield process
    finally:
        process.kill()


@pytest.mark.samples(3)
@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--way", "half"), "the body ends after 2 of 4 bytes"),
        (("--way", "close"), "closed connection without response"),
        (("--way", "half", "--after", "50"), "after the load: the body ends after 2 of 4 bytes"),
        (("--way", "close", "--after", "50"), "after the load: RemoteDisconnected"),
        (("--way", "garbage"), "BadStatusLine"),
        (("--binary",), "ended with exit code 7 before it was ready"),
    ],
)
def test_garbage_fails(bench: Bench, tmp_path: Path, options: tuple[str, ...], says: str) -> None:
    for ready_within in ("1s", "30s"):  # a loud machine may not have started it within a second
        folder = tmp_path / ready_within
        folder.mkdir()
        server = misbehaving(*options, ready_within=ready_within)
        call = bench("run", suite(folder, server), "-o", folder / "results", code=4)
        if says in failure(folder):
            break
    assert says in failure(folder)
    assert all(char.isprintable() or char in "\n\t" for char in call.all), repr(call.all)
    assert "left" not in call.err.splitlines()[2]  # nothing is left after the last trial
    bench("validate", only_result(folder), code=0)


def test_a_missing_path_of_a_program_starts_nothing(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "not-executable").write_text("#!/bin/sh\n")
    for name in ("./none", "./not-executable", "/nowhere/none", "no-such-server"):
        server = f'use = "command"\ncommand = ["{name}", "{{port}}"]\n'
        call = bench("run", suite(tmp_path, server), code=3)
        assert f"missing program: {name}\nhint: " in call.err
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize("server", ["gunicorn", "aiohttp"])
def test_the_error_of_the_users_own_app_is_shown(bench: Bench, tmp_path: Path, server: str) -> None:
    needed_module(server)
    (tmp_path / "own").mkdir()
    (tmp_path / "own/broken.py").write_text("import no_such_dependency as d\napp = d.app\n")
    declared = f'use = "{server}"\napp = "broken:app"\ndirectory = "own"\n'
    call = bench("run", suite(tmp_path, declared), code=4)
    assert "No module named 'no_such_dependency'" in failure(tmp_path)
    assert "which has no no_such_dependency: name the one" in " ".join(call.out.split())


def test_the_users_own_app_sees_its_folder_and_environment(bench: Bench, tmp_path: Path) -> None:
    needed_module("gunicorn")
    folder = tmp_path / 'o\'d "f" ü'
    (folder / "site").mkdir(parents=True)
    (folder / "site/own.py").write_text(
        "import os, time\n"
        "def app(environ, start):\n"
        "    time.sleep(0.005)\n"
        "    start('200 OK', [('Content-Type', 'text/plain')])\n"
        "    return [os.environ['MODE'].encode()]\n"
    )
    declared = (
        'use = "gunicorn"\napp = "own:app"\ndirectory = "site"\nenvironment = { MODE = "deep" }\n'
    )
    path = suite(folder, declared, scenario='expect = { body = "deep" }')
    bench("run", path, "-o", folder / "deep/er", code=0)


@pytest.mark.samples(1)
@pytest.mark.parametrize("reader", ["head -n 1", "head -c 10", "true"])
def test_a_reader_that_leaves_loses_no_report(tmp_path: Path, reader: str) -> None:
    suite(tmp_path, misbehaving())
    # Nor is there a place for what is said beside it.
    assert shell(tmp_path, f"{{ BENCH --json 2>/dev/full; echo $? >&2; }} | {reader}").err == "0\n"
    assert (only_result(tmp_path) / "summary.json").exists()
    assert (only_result(tmp_path) / "report.html").exists()


@pytest.mark.samples(1)
@pytest.mark.parametrize(
    ("where", "code"), [(">&-", 0), ("2>&-", 0), ("2>/dev/full", 0), (">/dev/full", 5)]
)
def test_broken_streams_lose_no_report(tmp_path: Path, where: str, code: int) -> None:
    suite(tmp_path, misbehaving())
    finished = shell(tmp_path, f"BENCH {where}")
    assert finished.code == code, finished.all
    assert "Traceback" not in finished.all
    assert (only_result(tmp_path) / "report.html").exists()


@pytest.mark.parametrize("words", ["--help", "--version", "run --help", "validate .", "verify ."])
def test_whatever_prints_to_a_full_disk_says_so_in_one_line(tmp_path: Path, words: str) -> None:
    finished = shell(tmp_path, f"{' '.join(bench_words(*words.split()))} >/dev/full")
    assert "Traceback" not in finished.all
    if words == "verify .":  # it prints nothing of what is no result
        assert finished.code == 2, finished.all
    else:
        assert finished.code == 5, finished.all
        assert finished.err.startswith("error: ")
        assert "No space left on device" in finished.err.splitlines()[0]


def test_a_folder_that_was_removed_is_told(tmp_path: Path) -> None:
    suite(tmp_path, misbehaving())
    call = " ".join(bench_words("run", "../small.toml"))
    finished = shell(tmp_path, f"mkdir gone && cd gone && rmdir ../gone && {call}")
    assert finished.code == 2, finished.all
    says = "error: the current folder was removed\nhint: change to an existing folder\n"
    assert finished.err == says


def shell(folder: Path, script: str) -> Told:
    call = " ".join(bench_words("run", "small.toml"))
    done = captured(["sh", "-c", script.replace("BENCH", call)], cwd=folder, timeout=WAITS_S)
    return Told(done.returncode, done.stdout, done.stderr)


def test_a_time_limit_names_the_missing_measurements(bench: Bench, tmp_path: Path) -> None:
    for limit in ("0", "0.5s"):
        call = bench("run", suite(tmp_path, misbehaving()), "--time-limit", limit, code=4)
        assert "not measured: 1 planned measurement, which the time limit" in call.err
    assert not trials(tmp_path)


@pytest.mark.samples(3)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("delay", [0.0, 0.3, 0.7, 1.1])
def test_a_signal_at_any_moment_leaves_nothing(
    bench: Bench, tmp_path: Path, number: signal.Signals, delay: float
) -> None:
    (scratch := tmp_path / "t").mkdir()
    server, mark = marked_server(tmp_path)
    path = suite(tmp_path, server, duration="60s")
    with running(tmp_path, "run", path, TMPDIR=str(scratch)) as process:
        until(lambda: list(tmp_path.glob("results/*")))
        time.sleep(delay)
        process.send_signal(number)
        _, err = process.communicate(timeout=WAITS_S)
    assert process.returncode == 128 + number, err
    assert "interrupted: " in err
    assert "Traceback" not in err
    assert not marked(f"{mark} --port")
    assert not list(scratch.iterdir())
    for item in (tmp_path / "results").iterdir():  # none, where it was not yet made
        bench("validate", item, code=0)


@pytest.mark.parametrize("way", ["run", "turns", "serve", "calibrate"])
def test_a_kill_leaves_no_process_and_the_next_start_clears_the_rest(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """It needs the lock, too. On hosts: tests/remote; at random moments: torture.py."""
    (scratch := tmp_path / "t").mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    server, mark = marked_server(tmp_path)
    path = suite(tmp_path, server, top=f"[servers.two]\n{server}", duration="60s")
    words: tuple[str | Path, ...] = ("run", path)
    if way == "turns":
        text = path.read_text().replace('["one"]', '["one", "two"]')
        path.write_text(f'{text}interleave = "100ms"\neach = "60s"\n')
    elif way == "serve":
        words = ("serve", path, "one")
    elif way == "calibrate":
        words, mark = ("calibrate", "--seconds", "60"), "benchforge/run/ceiling/null_program.py"
    with running(tmp_path, *words):
        until(lambda: marked(f"{mark} --"))
        time.sleep(0.3)
    until(lambda: not marked(f"{mark} --"))
    assert "left by a killed benchforge: removed" in bench("run", path, "--time-limit", "0").err
    assert not list(scratch.iterdir())
    for folder in tmp_path.glob("results/*"):
        bench("validate", folder, code=0)


def test_a_load_tool_that_is_killed_is_a_failed_attempt(bench: Bench, tmp_path: Path) -> None:
    with running(tmp_path, "run", suite(tmp_path, misbehaving(), duration="2s")) as process:
        os.kill(until(lambda: descendant(process.pid, "wrk")), signal.SIGKILL)
        out, err = process.communicate(timeout=WAITS_S)
    assert process.returncode == 0, err
    first, second = trials(tmp_path)
    assert first["failure"]["subject"] == "apparatus"
    assert second["failure"] is None
    assert "attempt 2" in err
    assert out
    bench("validate", only_result(tmp_path), code=0)


def database(folder: Path, options: str, tool: str = 'use = "wrk"', duration: str = "1s") -> Path:
    needed_module("flask")
    needed("postgres", "psql", "initdb")
    server = 'use = "gunicorn"\napp = "flask_agents"\nworkers = 1\n[backends.db]\n'
    server += f'use = "postgresql"\n{options}\n'
    path = suite(folder, server, scenario='backends = ["db"]', duration=duration)
    path.write_text(path.read_text().replace("/ping", "/agents").replace('use = "wrk"', tool))
    return path


@pytest.mark.samples(2)
@pytest.mark.parametrize(
    ("options", "says"),
    [
        ('dataset = "agents"\nsettings = { shared_buffers = "999TB" }', "FATAL:"),
        ('dataset = "agents"\nsettings = { no_such_thing = 5 }', "FATAL:"),
        ('dataset = "./bad"', 'syntax error at or near "SELEKT"'),
        ('dataset = "./few"', "few has 0 rows instead of 3"),
    ],
)
def test_a_missing_database_program(bench: Bench, tmp_path: Path, options: str, says: str) -> None:
    for name, sql in (("bad", "SELEKT 1;"), ("few", "CREATE TABLE few (id int);")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "data.sql").write_text(sql)
        (tmp_path / name / "dataset.toml").write_text(
            f'name = "{name}"\nfiles = ["data.sql"]\n[rows]\nfew = 3\n'
        )
    call = bench("run", database(tmp_path, options), code=4)
    assert says in call.out, call.out
    bench("validate", only_result(tmp_path), code=0)


def test_a_database_that_is_killed_meanwhile_is_a_failed_trial(tmp_path: Path) -> None:
    path = database(tmp_path, 'dataset = "agents"', 'use = "pace"\nrate = "20/s"', "3s")
    with running(tmp_path, "run", path) as process:
        until(lambda: list(tmp_path.glob("results/*/trials/0001/loader-wrk.out")))
        # Never 0, which is our own group of processes.
        os.kill(until(lambda: descendant(process.pid, "postgres")), signal.SIGKILL)
        out, err = process.communicate(timeout=WAITS_S)
    assert process.returncode == 4, err
    assert "db: ended with exit code -9 during the load" in failure(tmp_path), out


@pytest.mark.parametrize("content", [b"", os.urandom(999), b'{"a": 1}', b"[]"])
def test_files_that_are_no_results_are_told(bench: Bench, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "odd.json").write_bytes(content)
    os.mkfifo(tmp_path / "pipe")
    call = bench("validate", "odd.json", "pipe", "/dev/null", within_s=100, code=2)
    assert call.out.startswith("odd.json")
    assert call.out.count("is not a file") == 2
