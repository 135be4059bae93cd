"""`benchforge run --resume`, by the front door: what was cut off goes on as if never cut."""

import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from faults.watched import Watched, keepers, started, until, watched
from front_door import WAITS_S, Bench, answering, bench_words, calls, captured, lack
from measured.on_disk import cut_off, edited, places
from measured.once import made_once
from suite_texts.with_pace import suite

from benchforge.checks.summary import concluded
from benchforge.model.files.folder import read_ceilings, read_header, read_sessions, read_trials
from benchforge.model.trial.trial import ATTEMPTS
from benchforge.parts.registry import Registry
from benchforge.results.verify.recompute.compare import verify
from benchforge.suite.load import load

Cut = Callable[..., Path]
"Gives a result of which so many trials are left, and a half one: what a kill leaves."


@pytest.fixture
def cut(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Cut:
    """Cut off copies of a run that was made once, as if it had been begun in the test's folder."""

    def cut(writer: int, blocks: int = 3) -> Path:
        def measured(folder: Path) -> Path:
            return finished(calls(bench_words(), folder), folder, blocks=blocks)

        made = made_once(tmp_path_factory, f"finished-{blocks}", measured)
        result = Path(shutil.copytree(made, tmp_path / "results" / made.name))
        path = suite(tmp_path, blocks=blocks)
        edited(result / "result.json", lambda header: header.update(suite_file=str(path)))
        return cut_off(result, writer)

    return cut


def finished(bench: Bench, folder: Path, **how: Any) -> Path:
    call = bench("run", suite(folder, **how), "-o", folder / "results")
    assert "small-" in call.err, call.all
    (result,) = (folder / "results").iterdir()
    return result


def planned(result: Path) -> list[tuple[int, int]]:
    return [(item.block, item.position) for item in read_header(result).plan]


def resummarized(result: Path, path: Path) -> str:
    """What the trials and the checks give of all that is in a result."""
    files = read_sessions(result), read_ceilings(result)
    metrics = load(path, Registry()).metrics
    summary = concluded(read_header(result), read_trials(result), metrics, *files)
    return summary.model_dump_json(indent=1, by_alias=True) + "\n"


def test_missing_trials_have_the_planned_order(bench: Bench, cut: Cut, tmp_path: Path) -> None:
    result = cut(writer=3)
    header = (result / "result.json").read_bytes()
    first = [trial.started for trial in read_trials(result)]
    call = bench("run", "--resume", result, code=0)
    assert "resumed: 3 of 6 measurements are done" in call.err
    assert "[4/6] round 2" in call.err
    assert "[3/6]" not in call.err
    assert places(result) == planned(result)
    trials = read_trials(result)
    assert [trial.started for trial in trials][:3] == first
    assert [trial.seed for trial in trials] == [item.seed for item in read_header(result).plan]
    assert [trial.number for trial in trials] == [1, 2, 3, 4, 5, 6]
    assert (result / "result.json").read_bytes() == header
    assert (result / "summary.json").read_text() == resummarized(result, tmp_path / "small.toml")
    (session,) = read_sessions(result)
    assert (session.number, session.first_trial, session.differences) == (2, 4, ())
    report = (result / "report.md").read_text()
    assert "- resumed: trials 4 to 6 on " in report
    assert "NOT COMPLETE" not in report
    bench("validate", result, result / "sessions/0002.json", code=0)


def test_a_killed_session_contradicts_nothing_and_is_not_proved(bench: Bench, cut: Cut) -> None:
    """Summary, reports and manifest are those of the session before it, and `verify` says so."""
    result = cut(writer=4)
    assert bench("report", result, "--write").code == 0
    formed = {file: file.read_bytes() for file in result.iterdir() if file.is_file()}
    bench("run", "--resume", result, code=0)
    for file, content in formed.items():
        file.write_bytes(content)
    (result / "manifest.json").unlink()
    for trial in sorted(result.glob("trials/*"))[5:]:
        shutil.rmtree(trial)
    bench("validate", result, code=0)
    run = bench("verify", "--all", result, code=2)
    assert "0 contradicted" in run.out
    assert "summary.json:1: it sums up 4 of 5 trials: the others are of a session that" in run.out
    # So are those of a summary that is too large to be read as a whole.
    large = verify(result, Registry(), most_bytes=1000)
    assert large.differing == []
    assert any("it sums up 4 of 5 trials" in item.message for item in large.cannot)
    edited(result / "summary.json", lambda summary: summary["cases"][0].update(trials=7))
    bench("verify", result, code=1)


@pytest.mark.exhaustive
def test_repeated_kills_leave_each_trial_once(bench: Bench, tmp_path: Path) -> None:
    path = suite(tmp_path, blocks=6)
    moments = random.Random(20)
    killed(tmp_path, ["run", path], moments.uniform(0.0, 2.5))
    (result,) = (tmp_path / "results").iterdir()
    words: list[str | Path] = ["run", "--resume", result]
    for _ in range(3):
        bench("validate", result, code=0)
        killed(tmp_path, words, moments.uniform(0.0, 2.5))
    bench(*words, code=0)
    assert places(result) == planned(result)
    assert [trial.failure for trial in read_trials(result)] == [None] * 12
    assert [int(item.name) for item in sorted(result.glob("trials/*"))] == list(range(1, 13))
    assert (result / "summary.json").read_text() == resummarized(result, path)
    bench("validate", result, code=0)


def killed(folder: Path, words: list[str | Path], after_s: float) -> None:
    """Kill a run so many seconds after it told that it begins to measure."""
    with started(folder, *words) as run:
        until(lambda: run.process.poll() is not None or "seed " in (folder / "err").read_text())
        time.sleep(after_s)


def test_an_interrupt_names_the_command_that_goes_on(bench: Bench, tmp_path: Path) -> None:
    with watched(tmp_path, "run", suite(tmp_path, blocks=50)) as run:
        until(lambda: len(there(run, "trials/*")) > 2)
        run.signal(signal.SIGINT)
        interrupted, result = run.ended(), run.result
    assert interrupted.code == 130, interrupted.all
    command = f"benchforge run --resume results/{result.name}"
    assert f"to continue: {command}\n" in interrupted.err
    first = read_trials(result)
    count = len(first)
    limit_s = 1 + 1.5 * max(trial.seconds for trial in first)  # for one at least, and not for all
    call = bench(*command.split()[1:], "--time-limit", f"{limit_s:.1f}s", code=0)
    assert f"resumed: {count} of 100 measurements are done" in call.err
    assert f"to continue: {command}\n" in call.err
    assert places(result) == planned(result)[: len(places(result))]
    assert len(places(result)) > count


@pytest.mark.exhaustive
def test_only_the_attempts_that_are_left_are_made(tmp_path: Path) -> None:
    tool = tmp_path / "bin/wrk"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\necho nonsense\n")
    tool.chmod(0o755)
    mine = {**os.environ, "PATH": f"{tool.parent}:{os.environ['PATH']}"}
    bench = calls(bench_words(), tmp_path, mine)
    path = suite(tmp_path, blocks=1)
    path.write_text(path.read_text().replace('use = "pace"', 'use = "wrk"').replace("200ms", "1s"))
    result = bench("run", path, code=4).result
    assert [trial.attempt for trial in read_trials(result)] == [1, 2, 3] * 2
    for number in (5, 6):
        shutil.rmtree(result / f"trials/{number:04d}")
    call = bench("run", "--resume", result, "--details", code=4)
    assert "(attempt 2)" in call.err
    assert "round 1 · ping" in call.err
    # The first place had lost all of its attempts, and gets as many again.
    assert [trial.attempt for trial in read_trials(result)] == [1, 2, 3, 1, 4, 5, 6, 2, 3]
    assert "0 of 1" in call.out
    bench("run", "--resume", result, code=4)
    assert len(read_trials(result)) == 9 + 6  # both places have lost all of theirs


def test_the_first_right_answer_is_kept_over_the_end(bench: Bench, tmp_path: Path) -> None:
    pung = answering("--body", "pung")
    result = cut_off(finished(bench, tmp_path, two=pung, blocks=2), 1)
    (first,) = read_trials(result)
    call = bench("run", "--resume", result, code=4)
    assert f"not the body that {first.case.server} answers" in call.out
    wrong = {trial.case.server for trial in read_trials(result) if trial.failure is not None}
    assert wrong == {"one", "two"} - {first.case.server}
    for trial in sorted(result.glob("trials/*"))[1:]:
        shutil.rmtree(trial)
    (result / "trials/0001/answer.bin").write_text("another")
    call = bench("run", "--resume", result, code=1)
    assert "answer.bin: is not the answer of trial 1" in call.err


def test_what_is_complete_is_reported_anew(bench: Bench, cut: Cut, tmp_path: Path) -> None:
    result = cut(writer=2, blocks=1)
    (half := result / "ceilings/0009").mkdir(parents=True)  # it was killed in that, at its end
    call = bench("run", "--resume", result, code=0)
    assert f"nothing is missing in {result}" in call.err
    assert not half.exists()
    assert "2 of 2" not in call.err.replace("2 planned measurements of 2", "")
    assert (result / "report.html").stat().st_size
    assert (result / "summary.json").read_text() == resummarized(result, tmp_path / "small.toml")
    assert not (result / "sessions").exists()


def test_what_was_given_is_taken_from_the_result(bench: Bench, tmp_path: Path) -> None:
    options = ("--profile", "short", "--set", "loaders.pace.connections=1", "--only", "ping")
    more = "[profiles.short]\nrepeat.blocks = 2\n"
    result = bench("run", suite(tmp_path, more=more), *options, code=0).result
    shutil.rmtree(result / "trials/0004")
    refused = {
        ("--profile", "long"): "was begun with --profile short",
        ("--set", "loaders.pace.connections=3"): "with --set loaders.pace.connections=1",
        ("--only", "pong"): "--only pong: ",
        ("-o", "elsewhere"): "--resume continues in the result's own folder",
    }
    for words, says in refused.items():
        assert says in bench("run", "--resume", result, *words, code=2).err
    bench("run", "--resume", result, *options, code=0)
    shutil.rmtree(result / "trials/0003")
    bench("run", "--resume", result, code=0)
    # Where trials were lost, they are measured in the order of the plan, with new numbers.
    assert sorted(places(result)) == sorted(planned(result))


def test_a_secret_setting_is_given_again(bench: Bench, tmp_path: Path) -> None:
    two = answering() + 'environment = { TOKEN = "a-token-of-ours" }\n'
    path = suite(tmp_path, two=two, blocks=1)
    secret = ("--set", "servers.two.environment.TOKEN=correct-horse")
    result = bench("run", path, *secret, code=0).result
    shutil.rmtree(result / "trials/0002")
    call = bench("run", "--resume", result, code=2)
    assert "servers.two.environment.TOKEN was secret" in call.err
    assert "correct-horse" not in bench("run", "--resume", result, *secret, code=0).all


def test_a_changed_suite_names_its_changes(bench: Bench, cut: Cut, tmp_path: Path) -> None:
    result = cut(writer=1, blocks=1)
    path = tmp_path / "small.toml"
    text = path.read_text()
    changes = {
        text.replace("connections = 2", "connections = 3"): "loaders.pace.connections was 2, is 3",
        text.replace("connections = 2\n", ""): "loaders.pace.connections was 2, is not there",
        text + "warmup = '1s'\n": "repeat.warmup was not there, is '1s'",
        text + "# a word\n": "a comment, the layout or a secret",
    }
    for other, says in changes.items():
        path.write_text(other)
        call = bench("run", "--resume", result, code=2)
        assert f"changed since {result} was begun: {says}" in call.err
    path.rename(tmp_path / "moved.toml")
    call = bench("run", "--resume", result, code=2)
    assert f"{path}: the suite of {result} is gone" in call.err
    (tmp_path / "moved.toml").write_text(text)
    bench("run", "moved.toml", "--resume", result, code=0)


def test_code_that_was_changed_is_refused(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(
        "def application(environ, start):\n"
        "    start('200 OK', [('Content-Type', 'text/plain')])\n"
        "    return [b'pong']\n"
    )
    two = 'use = "waitress"\napp = "app:application"\ndirectory = "."\n'
    path = suite(tmp_path, blocks=1)
    path.write_text(path.read_text().replace(answering(), two))
    result = bench("run", path, code=0).result
    shutil.rmtree(result / "trials/0002")
    with (tmp_path / "app.py").open("a") as app:
        app.write("# faster now\n")
    call = bench("run", "--resume", result, code=2)
    assert "its code or data changed since it was begun" in call.err


def test_another_machine_or_program_is_refused_or_told(bench: Bench, cut: Cut) -> None:
    result = cut(writer=1, blocks=1)

    edited(result / "result.json", lambda header: header.update(benchforge="0.0.0"))
    edited(result / "result.json", lambda header: header["facts"].update(kernel="2.6.0"))
    edited(result / "result.json", lambda header: header["versions"].update({"loader-pace": "0"}))
    run = bench("run", "--resume", result, code=2)
    for says in ("benchforge was '0.0.0', is ", "kernel was '2.6.0', is ", "loader-pace was '0'"):
        assert says in run.err
    assert not (result / "sessions").exists()
    run = bench("run", "--resume", result, "--anyway", code=0)
    assert "warning: changed since the run began: kernel was '2.6.0', is " in run.err
    (session,) = read_sessions(result)
    assert any(difference.startswith("kernel was '2.6.0'") for difference in session.differences)
    for name in ("report.md", "report.html"):
        report = (result / name).read_text()
        assert "RESUMED ELSEWHERE" in report
        assert "2.6.0" in report


def test_what_is_no_sound_result_is_refused(bench: Bench, cut: Cut, tmp_path: Path) -> None:
    result = cut(writer=1, blocks=1)
    run = bench("run", "--resume", tmp_path / "nowhere", code=2)
    assert "nowhere: No such file or directory" in run.err
    assert "name the folder of a result" in bench("run", "--resume", tmp_path, code=2).err
    assert "no suite is named" in bench("run", code=2).err
    run = bench("run", tmp_path / "small.toml", "--anyway", code=2)
    assert "works only with --resume" in run.err

    trial = result / "trials/0001/trial.json"
    content = trial.read_text()
    edited(trial, lambda item: item.update(seconds=-1))
    assert f"{trial}:" in bench("run", "--resume", result, code=1).err
    trial.write_text("{")
    assert f"{trial}:" in bench("run", "--resume", result, code=2).err
    trial.write_text(content)
    edited(trial, lambda item: item.update(position=3 - item["position"]))
    run = bench("run", "--resume", result, code=1)
    assert "trial 1: the plan has not this at block 1" in run.err
    trial.write_text(content)
    shutil.copytree(trial.parent, result / "trials/0002", dirs_exist_ok=True)
    edited(result / "trials/0002/trial.json", lambda item: item.update(number=2))
    assert "trials 1 and 2 are both at block 1" in bench("run", "--resume", result, code=1).err
    (result / "trials/0002/trial.json").unlink()

    bench("run", "--resume", result, code=0)


def test_a_result_that_is_being_written_is_left_alone(bench: Bench, cut: Cut) -> None:
    """Also by who does not see the machine's lock, as in a container."""
    result = cut(writer=1, blocks=1)
    script = f"exec 9< '{result}'; flock -x 9; echo held; sleep 60"
    with subprocess.Popen(
        ["sh", "-c", script], stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as holder:
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "held\n"
            call = bench("run", "--resume", result, code=2)
            assert f"{result}: another benchforge is writing it" in call.err
        finally:
            os.killpg(holder.pid, signal.SIGKILL)
    bench("run", "--resume", result, code=0)


# Runs benchforge, and prints its exit code below all that it printed.
BENCH = """
bench() {
    BENCHFORGE "$@" > said 2>&1; code=$?
    cat said; echo "code $code"
}
"""


@pytest.fixture
def mounting(tmp_path: Path) -> Callable[[str], str]:
    """Runs a script that may mount file systems over the folder `disk`, seen by it alone."""
    if subprocess.run(["unshare", "-rm", "true"], check=False, capture_output=True).returncode:
        lack("user namespaces are not allowed here")
    (tmp_path / "disk").mkdir()

    def ran(script: str) -> str:
        text = BENCH.replace("BENCHFORGE", " ".join(bench_words())) + script
        done = captured(["unshare", "-rm", "sh", "-c", text], timeout=WAITS_S, cwd=tmp_path)
        actual = done.stdout + done.stderr
        assert "Traceback" not in actual, actual
        return actual

    return ran


def codes(expected: str) -> list[int]:
    return [int(line[5:]) for line in expected.splitlines() if line.startswith("code ")]


def test_too_little_space_starts_nothing(mounting: Callable[[str], str], tmp_path: Path) -> None:
    suite(tmp_path)
    error = mounting("mount -t tmpfs -o size=20m none disk; bench run small.toml -o disk; ls disk")
    assert codes(error) == [5], error
    assert "too little space: 21.0 MB free, 32 MB needed" in error
    assert "hint: free some, or choose another folder with -o" in error
    assert error.endswith("code 5\n")  # nothing was made


def test_no_scratch_space_no_result(mounting: Callable[[str], str], tmp_path: Path) -> None:
    """Programs could not have said their versions: it could not be resumed where there is space."""
    suite(tmp_path)
    error = mounting("""
        mount -t tmpfs -o size=20m none disk
        export TMPDIR="$PWD/disk"
        bench run small.toml
    """)
    assert codes(error) == [5], error
    assert f"error: {tmp_path}/disk: too little space: 21.0 MB free, 32 MB needed" in error
    assert "hint: free some, or set TMPDIR to another folder" in error
    assert not (tmp_path / "results").exists()


@pytest.mark.exhaustive
def test_a_full_disk_can_be_resumed(mounting: Callable[[str], str], tmp_path: Path) -> None:
    path = suite(tmp_path)
    prints = "['sh', '-c', 'head -c 1500000 /dev/zero; exec \"$@\"', '-', "
    path.write_text(path.read_text().replace("command = [", f"command = {prints}"))
    error = mounting("""
        mount -t tmpfs -o size=34m none disk
        bench run small.toml -o disk
        bench validate disk/*
        bench run --resume disk/*
        ls disk/*/trials; echo listed
        mount -o remount,size=300m disk
        bench run --resume disk/*
        bench validate disk/*
        mount -o remount,ro disk
        bench run --resume disk/*
        cp -r disk/* kept
    """)
    assert codes(error) == [5, 0, 5, 0, 0, 5], error
    assert "and this may need 200 MB" in error
    assert "finished trials were kept; to continue: benchforge run --resume disk/small-" in error
    assert "Read-only file system" in error
    result = tmp_path / "kept"
    assert places(result) == planned(result)
    assert [trial.failure for trial in read_trials(result)] == [None] * 6


def test_a_result_that_is_removed_meanwhile_ends_the_run(bench: Bench, tmp_path: Path) -> None:
    with watched(tmp_path, "run", suite(tmp_path, blocks=50)) as run:
        until(lambda: len(there(run, "trials/*")) > 1)
        while (tmp_path / "results").exists():  # a trial's new files may come between
            shutil.rmtree(tmp_path / "results", ignore_errors=True)
        output = run.ended()
    assert output.code == 5, output.all
    assert "No such file or directory" in output.err


def there(item: Watched, pattern: str) -> list[Path]:
    return list(item.result.glob(pattern))


def test_lost_attempts_again(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = suite(tmp_path, blocks=1)
    with watched(tmp_path, "run", path) as run:
        for number in range(1, ATTEMPTS + 1):
            # Not before the keeper of this attempt is there, nor that of the next.
            trial = f"trials/{number:04d}"
            until(partial(there, run, f"{trial}/server-*"))
            os.kill(keepers(run)[0], signal.SIGKILL)
            until(partial(there, run, f"{trial}/trial.json"))
        output = run.ended()
    result = run.result
    first = [trial for trial in read_trials(result) if (trial.block, trial.position) == (1, 1)]
    assert [bool(trial.failure) for trial in first] == [True] * ATTEMPTS
    assert output.code == 4, output.all
    assert "not measured: 1 planned measurement: no attempt finished" in output.err
    assert "to continue: benchforge run --resume results/" in output.err
    assert "NOT COMPLETE" in (result / "report.md").read_text()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))  # the machine's may be large
    listed = bench("clean", "--results", tmp_path / "results")
    assert "unfinished, 1 of 2 measurements" in listed.all
    again = bench("run", "--resume", result)
    assert "resumed: 1 of 2 measurements are done" in again.err
    assert "not measured" not in again.err
    later = [trial for trial in read_trials(result) if (trial.block, trial.position) == (1, 1)]
    assert later[ATTEMPTS].attempt == ATTEMPTS + 1
    assert later[ATTEMPTS].measured
    bench("validate", result, code=0)
    bench("verify", result, code=0)
    assert "nothing is missing" in bench("run", "--resume", result).err
