"""`benchforge verify`: every number of a result, computed again from its raw files."""

import hashlib
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from faults.watched import until, watched
from front_door import PROGRAMS, Bench, answering, bench_words, calls, needed, needed_module
from hypothesis import given
from hypothesis import strategies as st
from measured.on_disk import edited
from measured.once import made_once
from measured.real_result import Where, change, copied, listed_anew, shared, trial_of
from planted import turning
from suite_texts.files import suite_text
from suite_texts.with_pace import suite

from benchforge.parts.registry import Registry
from benchforge.results.recomputed.verified import NOTHING, alike, leaves, member
from benchforge.results.verify.recompute.compare import verify


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shared(tmp_path_factory)


def test_a_result_is_what_its_raw_files_say(bench: Bench, result: Path) -> None:
    run = bench("verify", result, code=0)
    first, second, last = run.out.splitlines()
    assert last == (
        "the result shows: its numbers follow from its raw files; "
        "nobody signed it: whether the raw files were measured, and whether more was, is open"
    )
    assert first.startswith(f"{result}: proved: ")
    assert first.endswith("of 10 trials recomputed, 0 not proved, 0 contradicted")
    assert second.startswith("not confirmed by other files: ")
    alone = second.partition(": ")[2].split(", ")
    assert not {"reading", "case", "seed", "concurrency"} & set(alone)
    assert {"phases", "observation.counters", "facts", "versions"} <= set(alone)


def test_nothing_of_the_suite_has_to_be_there(bench: Bench, tmp_path: Path) -> None:
    app = tmp_path / "app"
    app.mkdir()
    (app / "own.py").write_text(
        "def app(environ, start):\n"
        "    start('200 OK', [('Content-Type', 'text/plain'), ('Content-Length', '2')])\n"
        "    return [b'ok']\n"
    )
    needed_module("waitress")
    suite = tmp_path / "gone.toml"
    suite.write_text(suite_text("results/verify_data"))
    environment = os.environ | {"OF_THEN": "secret-of-then"}
    run = calls(bench_words(), tmp_path, environment)
    finished = run("run", suite, "--profile", "two", "--set", "loaders.closed.requests=60")
    assert finished.code == 0, finished.all
    (stored,) = (tmp_path / "results").iterdir()
    assert "secret-of-then" not in (stored / "result.json").read_text()
    moved = stored.rename(tmp_path / "elsewhere")
    shutil.rmtree(app)
    suite.unlink()
    assert ": proved: " in bench("verify", moved, code=0).out


def one_more(value: Any) -> Any:
    return value + 1


# A file, by its driver where it is a trial's; a value; what is done to it; and what is said.
CHANGES: list[tuple[str, Where, Callable[[Any], Any], str]] = [
    ("wrk", ("reading", "received_bytes"), one_more, "reading.received_bytes: "),
    ("wrk", ("reading", "latency", "max_us"), one_more, "reading.latency.max_us"),
    ("wrk", ("reading", "printed", "latency_mean_us"), lambda n: n + 0.1, "reading.printed"),
    ("wrk", ("load", "concurrency"), lambda _: 5, "load.concurrency: 5, but recomputed it is 4"),
    ("plain", ("observation", "usage", 0, "cpu_s"), lambda _: 99.5, "usage.0.cpu_s: 99.5, but"),
    ("plain", ("observation", "machine", "busy_s"), lambda _: 99.5, "machine.busy_s: 99.5, but"),
    ("plain", ("checks", -1, "message"), lambda _: "all is well", '"all is well", but recomputed'),
    ("ab", ("reading", "seconds"), lambda value: value * (1 + 1e-6), "reading.seconds: "),
    ("ab", ("reading", "percentiles_us", "50"), one_more, "percentiles_us.50: "),
    ("pace", ("reading", "phases", "connect", "sum_us"), one_more, "connect.sum_us: "),
    ("paced", ("reading", "schedule", "rate"), lambda _: 201, "201.0, but recomputed it is 200"),
    ("plain", ("reading", "printed", "process_s"), one_more, "printed.process_s"),
    ("plain", ("reading", "printed"), lambda value: {**value, "more": 1}, "is not there"),
    ("plain", ("processes", -1, "seconds"), one_more, "printed.process_s: "),
    ("plain", ("answers", 0, "sha256"), lambda _: "0" * 64, "answers.0.sha256: "),
    ("plain", ("answers", 0, "length"), one_more, "answers.0.length: "),
    ("plain", ("seed",), one_more, "seed: "),
    ("plain", ("position",), lambda value: value + 99, "position: the plan has no such place"),
    ("summary", ("cases", 0, "metrics", 0, "median"), lambda n: n * 2, "metrics.0.median: "),
    ("summary", ("cases", 0, "notes"), lambda _: ["all went well"], "cases.0.notes.0: "),
    ("summary", ("complete",), lambda _: False, "complete: false, but recomputed it is true"),
    ("result", ("plan", 0, "seed"), one_more, "plan.0.seed: "),
    ("result", ("seed",), one_more, "plan.0."),
    ("result", ("metrics", 0, "better"), lambda _: "lower", 'metrics.0.better: "lower", but'),
    ("result", ("suite",), lambda text: text.replace("length = 12", "length = 13"), "answers.0: "),
]


@pytest.mark.samples(10)
@pytest.mark.parametrize(("where", "path", "to", "says"), CHANGES, ids=range(len(CHANGES)))
def test_whatever_is_changed_differs(
    changed: Path, where: str, path: Where, to: Callable[[Any], Any], says: str
) -> None:
    file = changed / f"{where}.json"
    change(file if file.exists() else trial_of(changed, where), path, to)
    faults = verify(changed, Registry()).differing
    assert any(says in str(fault) for fault in faults), list(map(str, faults))
    assert all(fault.line for fault in faults)


ASKS = suite_text("results/verify_asks")


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Path:
    needed_module("waitress")

    def measured(folder: Path) -> Path:
        (folder / "asks.toml").write_text(ASKS)
        actual = calls(bench_words(), folder)("run", folder / "asks.toml", "--only", "two")
        assert "[two connections=4] one, the only server, serves " in actual.out, actual.all
        (result,) = (folder / "results").iterdir()
        verification = verify(result, Registry())
        assert (verification.cannot, verification.differing) == ([], [])
        return result

    return made_once(tmp_path_factory, "asks", measured)


@pytest.mark.parametrize(
    ("path", "to", "says"),
    [
        (("claims", 0, "hypothesis", "bound"), 1, "claims.0.hypothesis.bound: 1.0, but recomputed"),
        (("claims", 0, "published"), 1, "claims.0.published: 1.0, but recomputed it is 12"),
        (("claims", 0, "instances", 0, "at"), {"loaders.closed.connections": 4}, "instances.0.at."),
        (("claims",), [], "claims.0: not there, but recomputed it is"),
        (("smoke",), True, "smoke: true, but recomputed it is false"),
        (("title",), "Another", 'title: "Another", but recomputed it is "What is asked"'),
        (("titles", "two"), "Another", 'titles.two: "Another", but recomputed it is'),
        (("scenario_metrics",), {}, "scenario_metrics.two: not there, but recomputed it is"),
        (("tables", "drawn", "show"), ["mean"], 'tables.drawn.show.0: "mean", but'),
        (("suite",), ASKS.replace("12", "13"), "claims.0.published: 12.0, but recomputed"),
        (("suite",), ASKS.replace("a > 10", "a > b"), "needs `b`, which is missing"),
    ],
)
def test_what_is_asked_is_what_the_suite_asks(
    asking: Path, tmp_path: Path, path: Where, to: object, says: str
) -> None:
    folder = copied(asking, tmp_path)
    change(folder / "result.json", path, lambda _: to)
    verification = verify(folder, Registry())
    actual = [str(fault) for fault in (*verification.cannot, *verification.differing)]
    assert says in actual[0], actual[:3]


def test_the_first_difference_is_named_and_all_are_on_demand(bench: Bench, changed: Path) -> None:
    file = trial_of(changed, "wrk")
    change(file, ("reading", "responses"), lambda value: value + 7)
    change(file, ("reading", "received_bytes"), lambda value: value + 7)
    run = bench("verify", changed)
    tally, first, more, _, last = run.out.splitlines()
    assert last == "the result shows nothing: its files contradict each other"
    assert run.code == 1
    assert first.startswith(f"contradicted: {file}:")
    assert "reading.responses: " in first
    number = int(more.partition(" ")[0])
    assert tally.endswith(f"recomputed, 0 not proved, {number + 1} contradicted")
    run = bench("verify", changed, "--all", code=1)
    assert len(run.out.splitlines()) == number + 4
    # The summary was formed of the reading as it was: it differs, too.
    assert "summary.json" in run.out


def test_each_report_that_was_edited_is_found(changed: Path) -> None:
    firsts = {}
    for file in (changed / name for name in ("report.md", "report.html", "raw.md")):
        text = file.read_text()
        firsts[file] = next(n for n, line in enumerate(text.splitlines(), 1) if "wrk" in line)
        file.write_text(text.replace("wrk", "ours", 1))
    listed_anew(changed)
    faults = verify(changed, Registry()).differing
    assert len(faults) == len(firsts)
    assert {fault.file: fault.line for fault in faults} == firsts
    for file in firsts:
        file.unlink()
    assert verify(changed, Registry()).differing == []


def without(name: str) -> Callable[[Path], object]:
    return lambda trial: (trial.parent / name).unlink()


def cut(trial: Path) -> None:
    os.truncate(trial.parent / "loader-pace.out", 100)
    (trial.parents[2] / "raw.md").unlink()  # it shows the output, and contradicts it


def to_a_pipe(trial: Path) -> None:
    (trial.parent / "wrk-load.json").unlink()
    os.mkfifo(trial.parent / "wrk-load.json")


def of_an_older_one(trial: Path) -> None:
    for name in ("seconds", "user_s", "system_s"):
        change(trial, ("processes", -1, name), lambda _: None)


@pytest.mark.parametrize(
    ("driver", "damage", "says"),
    [
        ("wrk", without("wrk-load.json"), "wrk-load.json: the tool did not write it"),
        ("wrk", without("answer.bin"), "no answer.bin beside the trial"),
        ("wrk", to_a_pipe, "wrk-load.json is not a file"),
        ("pace", cut, "reading: pace: "),
        ("plain", without("client-plain.out"), "no client-plain.out beside the trial"),
        ("plain", of_an_older_one, "the record lacks how client-plain ended"),
    ],
)
def test_what_is_missing_is_named(
    bench: Bench, changed: Path, driver: str, damage: Callable[[Path], object], says: str
) -> None:
    damage(trial_of(changed, driver))
    listed_anew(changed)
    run = bench("verify", changed, within_s=200)
    lines = [line for line in run.out.splitlines() if line.startswith("not proved: ")]
    missing = "no such file beside the trial" in run.out
    assert run.code == (1 if missing else 2), run.all
    assert says in lines[0], run.all


def test_a_part_that_is_not_installed_is_named(bench: Bench, changed: Path) -> None:
    header = changed / "result.json"
    change(header, ("suite",), lambda text: text.replace('= "wrk"', '= "nothing_of_this_name"'))
    digest = hashlib.sha256(json.loads(header.read_text())["suite"].encode()).hexdigest()
    change(header, ("suite_sha256",), lambda _: digest)
    run = bench("verify", changed, code=2)
    assert "the suite in" in run.err
    assert "no loader named 'nothing_of_this_name'" in run.err


@pytest.mark.parametrize("text", ["", "benchforge = 1", "= =", 'benchforge = 1\nloaders = "x"'])
def test_a_header_with_another_suite_is_no_traceback(
    bench: Bench, changed: Path, text: str
) -> None:
    change(changed / "result.json", ("suite",), lambda _: text)
    run = bench("verify", changed, "--all")
    refused = "the suite in " in run.err
    assert run.code == (2 if refused else 1), run.all
    assert refused or "is not the digest of `suite`" in run.out


@pytest.mark.exhaustive
def test_failed_trials_are_computed_again_too(bench: Bench, tmp_path: Path) -> None:
    needed("wrk", "hyperfine")
    program = str(PROGRAMS / "faulty_servers/misbehaves.py")
    words = [sys.executable, program, "--port", "{port}", "--way", "close", "--after", "50"]
    closes = f'use = "command"\ncommand = {words}\n'
    dies = answering("--die-after", "50")
    suite = tmp_path / "faulty.toml"
    suite.write_text(suite_text("results/verify_faulty", closes=closes, dies=dies))
    assert bench("run", suite, within_s=300).code == 4
    (stored,) = (tmp_path / "results").iterdir()
    bench("validate", stored, code=0)
    bench("verify", stored, code=0)
    refused = trial_of(stored, "failing")
    assert json.loads(refused.read_text())["failure"]["stage"] == "read"
    change(refused, ("failure", "message"), lambda _: "the weather was bad")
    assert "failure.message: " in bench("verify", stored, code=1).out


def test_a_trial_that_was_removed_is_missed(changed: Path) -> None:
    shutil.rmtree(changed / "trials/0003")
    listed_anew(changed)
    assert "plan: trial 3: lost or removed" in str(verify(changed, Registry()).cannot[0])


UNREAD = {"stage": "read", "message": "wrk: failed", "subject": "apparatus"}
BAD = {"stage": "drive", "message": "hello: none of 900 responses was good"}
SPOILT = {"id": "N1", "status": "fail", "subject": "apparatus", "scope": "trial", "value": 0.9}
SPOILT |= {"name": "foreign-cpu", "threshold": "", "source": "", "message": "loud"}


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"reading": None, "failure": UNREAD}, "failure.message: its files can be read"),
        ({"failure": BAD, "checks": []}, "failure: nothing that was kept shows it"),
        ({"checks": [SPOILT]}, 'checks.0.id: "N1", but recomputed it is'),
    ],
)
def test_a_trial_is_not_put_aside_by_what_nothing_shows(
    changed: Path, fields: dict[str, Any], says: str
) -> None:
    edited(trial_of(changed, "wrk"), lambda trial: trial.update(fields))
    listed_anew(changed)
    assert any(says in str(fault) for fault in verify(changed, Registry()).differing)


def test_a_load_that_was_answered_otherwise_stays_a_failure(bench: Bench, tmp_path: Path) -> None:
    needed("wrk")
    load = 'use = "wrk"\nconnections = 2\nduration = "1s"'
    short = turning.suite({"short": turning.server("tools-shorter")}, load)
    (tmp_path / "short.toml").write_text(short)
    assert bench("run", "short.toml").code == 4
    (stored,) = (tmp_path / "results").iterdir()
    (trial,) = stored.glob("trials/*/trial.json")
    assert "the load was answered otherwise" in json.loads(trial.read_text())["failure"]["message"]
    run = bench("verify", stored, code=0)
    change(trial, ("failure",), lambda _: None)
    run = bench("verify", stored, "--all", code=1)
    assert "failure.message: not there, but recomputed it is" in run.out


@pytest.mark.samples(1)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_what_an_ended_run_left_and_what_resumed_it_is_equal(
    bench: Bench, tmp_path: Path, number: signal.Signals
) -> None:
    with watched(tmp_path, "run", suite(tmp_path, blocks=4)) as interrupted:
        stored = interrupted.result
        until((stored / "trials/0001/trial.json").exists)
        interrupted.signal(number)
        interrupted.process.wait(300)
    assert (stored / "summary.json").exists() is (number == signal.SIGINT)
    for ended in (number == signal.SIGINT, True):
        assert bench("validate", stored).code == 0
        run = bench("verify", stored, "--all")
        assert run.code == (0 if ended else 2), run.all
        assert ", 0 contradicted" in run.out
        assert ("no manifest.json: " in run.out) is not ended
        assert bench("run", "--resume", stored).code == 0
    assert len(list(stored.glob("trials/*/trial.json"))) == 8


def test_another_version_is_named_beside_what_differs(bench: Bench, changed: Path) -> None:
    change(changed / "result.json", ("benchforge",), lambda _: "0.0.1")
    run = bench("verify", changed, code=1)
    assert "summary.json:" in run.out.splitlines()[1]
    assert "benchforge 0.0.1 wrote it: this version may compute differently" in run.out


def test_checks_of_other_thresholds_are_not_held_against_a_result(
    bench: Bench, changed: Path
) -> None:
    change(changed / "result.json", ("thresholds_version",), lambda _: "2026-01-01")
    trial = trial_of(changed, "wrk")
    statuses = [check["status"] for check in json.loads(trial.read_text())["checks"]]
    # What a check warns of stands in the summary, too, which is recomputed.
    change(trial, ("checks", statuses.index("pass"), "message"), lambda _: "as it was then")
    run = bench("verify", changed, code=2)
    assert "thresholds_version: checks of version 2026-01-01;" in run.out
    assert "as it was then" not in run.out


def test_what_an_older_benchforge_did_not_write_is_not_compared(changed: Path) -> None:
    change(changed / "result.json", ("benchforge",), lambda _: "0.0.1")
    change(changed / "summary.json", ("benchforge",), lambda _: "0.0.1")
    actual = 0
    for file in changed.glob("trials/*/trial.json"):
        document = json.loads(file.read_text())
        actual += document["reading"].pop("server_software") is not None
        file.write_text(json.dumps(document))
    listed_anew(changed)
    verification = verify(changed, Registry())
    assert verification.differing == []
    assert verification.older == actual > 0
    assert verification.other == "0.0.1"


documents = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(item=documents, other=documents)
def test_documents_are_alike_when_each_value_is(item: object, other: object) -> None:
    assert all(alike(then, newer) for _, then, newer in leaves(item, item, ()))
    actual = [path for path, then, newer in leaves(item, other, ()) if not alike(then, newer)]
    if json.dumps(item, sort_keys=True) == json.dumps(other, sort_keys=True):
        assert actual == []
    for path in actual:
        assert member(item, *path) is not member(other, *path) or member(item, *path) is NOTHING


def test_a_fraction_may_be_off_by_little_and_a_count_by_nothing() -> None:
    assert alike(1.0, 1 + 1e-10)
    assert alike(2, 2.0)
    assert not alike(1.0, 1 + 1e-8)
    assert not alike(10**10, 10**10 + 1)
    assert not alike(True, 1)
    assert not alike(0.0, 1e-300)
    assert not alike(10**400, 1.0)
    assert not alike(None, NOTHING)


def test_output_that_stands_elsewhere_is_no_trials(bench: Bench, changed: Path) -> None:
    change(trial_of(changed, "wrk"), ("processes", -1, "stdout"), lambda _: "../../result.json")
    run = bench("verify", changed, code=1)
    assert "stdout: is no name of a file below a folder, got '../../result.json'" in run.err
