"""`benchforge report`: what is shown of a result, formed again; and what CI servers read."""

import csv
import json
import os
import shutil
import signal
import subprocess
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from front_door import Bench, bench_words, calls
from measured.small_results import SUITE, believed, read, shared, write

from benchforge.parts.registry import Registry

MADE = ("report.md", "report.html", "raw.md", "numbers.csv", "summary.json")
FURTHER = {
    "brief": ["brief.md", "brief.svg"],
    "junit": ["junit.xml"],
    "github": ["github.md"],
    "json": ["numbers.json"],
}


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shared(tmp_path_factory)


@pytest.fixture
def result(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / original.name))


def test_what_was_lost_is_formed_again(bench: Bench, result: Path) -> None:
    content = {name: (result / name).read_bytes() for name in MADE}
    for name in MADE:
        (result / name).unlink()
    (result / "report.md").write_text("ours is faster")
    assert "throughput" in bench("report", "--details", result, "--write", code=0).out
    assert {name: (result / name).read_bytes() for name in MADE} == content
    bench("verify", result, code=0)


def test_a_brief_is_printed_or_written(bench: Bench, result: Path) -> None:
    text = bench("report", result, "--brief", code=0).out
    assert text.startswith("**")
    assert "To repeat it, with benchforge" in text
    assert str(Path.home()) not in text
    for name in ("answer.svg", "answer.md"):
        bench("report", result, "--brief", "-o", name, code=0)
    folder = result.parent
    assert (folder / "answer.md").read_text().rstrip("\n") == text.rstrip("\n")
    assert (folder / "answer.svg").read_text().startswith("<svg xmlns=")
    refused = bench("report", result, "--brief", "-o", "answer.png", code=2)
    assert "name FILE.md or FILE.svg" in refused.err


def test_the_newest_result_is_taken_and_its_findings_are_explained(
    bench: Bench, original: Path, tmp_path: Path
) -> None:
    actual = bench("report", "--why", "K1")
    assert (actual.code, "results: contains no result" in actual.err) == (2, True), actual.all
    for name, created in (("old-1", "2020-01-01T00:00:00Z"), ("new-1", "2030-01-01T00:00:00Z")):
        made = shutil.copytree(original, tmp_path / "results" / name)
        write(made / "result.json", {**read(made / "result.json"), "created": created})
    actual = bench("report", "--why", code=0)
    summary = read(original / "summary.json")
    ids = {item["check"]["id"] for cause in summary["causes"] for item in cause["findings"]}
    assert ids
    assert all(f" {id_} " in actual.out for id_ in ids), actual.out
    part = min(ids)
    for words in (["--why", "results/new-1"], ["results/new-1", "--why"]):
        assert bench("report", *words).out == actual.out
    (tmp_path / "results/new-suite.toml").touch()
    skipped = "results/new-suite.toml: skipped, since it is a suite and not a result"
    new = sorted(Path("results") / path.name for path in (tmp_path / "results").glob("new-*"))
    for words in (["report", "--why", "all", *map(str, new)], ["validate", *map(str, new)]):
        call = bench(*words)
        assert skipped in call.err, call.all
    call = bench("report", "results/new-1", "results/old-1")
    assert (call.code, "error: 2 results: a report is of one" in call.err) == (2, True), call.all
    call = bench("validate", tmp_path)
    assert (call.code, "hint: name the folder of a result" in call.err) == (2, True), call.all
    actual = bench("report", "--why", part.lower())
    assert (actual.code, f" {part} " in actual.out) == (0, True), actual.all
    actual = bench("report", "--why", "X9")
    assert (actual.code, "results/new-1" in actual.err, part in actual.err) == (2, True, True), (
        actual.all
    )
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    run = calls(bench_words(), tmp_path, {**os.environ, **cache, "BROWSER": "echo %s"})
    actual = run("report", "--open")
    page = Path(actual.out.strip().removeprefix("file://"))
    assert (actual.code, page.parents[1]) == (0, tmp_path / "cache/benchforge/pages"), actual.all
    assert "<title>small" in page.read_text()
    actual = run("clean", "--yes")
    assert f"page {page.parent}: shown by report --open" in actual.out, actual.all
    assert (actual.code, list(page.parents[1].iterdir())) == (0, []), actual.all


def test_a_spreadsheet_gets_what_a_program_gets(bench: Bench, result: Path) -> None:
    assert bench("report", result, "--reporter", "json", "--write").code == 0
    with (result / "numbers.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    document = read(result / "numbers.json")
    assert len(rows) == len(document) > 0
    for row, item in zip(rows, document, strict=True):
        assert list(row) == list(item)
        assert (row["case"], row["metric"], row["of"]) == (
            item["case"],
            item["metric"],
            item["of"] or "",
        )
        assert (float(row["value"]) if row["value"] else None) == item["value"]


def test_elsewhere_it_is_the_same_and_the_result_stays_as_it_is(
    bench: Bench, result: Path, tmp_path: Path
) -> None:
    (result / "report.md").unlink()
    items = sorted(result.rglob("*"))
    bench("report", result, "-o", tmp_path / "new" / "place", code=0)
    assert sorted(result.rglob("*")) == items
    made = tmp_path / "new" / "place"
    assert sorted(item.name for item in made.iterdir()) == sorted(MADE)
    for name in set(MADE) - {"report.md"}:
        assert (made / name).read_bytes() == (result / name).read_bytes()
    run = bench("report", result, "-o", result.parent / "other")
    (result.parent / "other" / "result.json").write_text("{}")
    run = bench("report", result, "-o", result.parent / "other")
    assert (run.code, "is a different result" in run.err) == (2, True), run.all
    run = bench("report", result, "-o", result / "report.html")
    assert (run.code, "error: " in run.err) == (5, True), run.all


def test_an_interrupted_run_is_told_as_such(bench: Bench, result: Path) -> None:
    shutil.rmtree(max(result.glob("trials/*")))
    (result / "summary.json").unlink()
    assert "NOT COMPLETE" in bench("report", result, "--write", code=0).out
    assert read(result / "summary.json")["complete"] is False


@pytest.fixture
def quiet(original: Path, tmp_path: Path) -> Path:
    """A result with numbers that count."""
    return believed(original, tmp_path / "quiet")


@pytest.mark.samples(2)
@pytest.mark.parametrize("name", FURTHER)
def test_a_reporter_alone_writes_its_files_alone(bench: Bench, quiet: Path, name: str) -> None:
    result = quiet
    for made in (*MADE, "manifest.json"):
        (result / made).unlink()
    run = bench("report", result, "--reporter", name)
    assert (run.code, "no folder is named for its files" in run.err) == (2, True), run.all
    run = bench("report", result, "--reporter", name, "--write", code=0)
    assert sorted(item.name for item in result.iterdir()) == sorted(
        [*FURTHER[name], "result.json", "trials"]
    )
    bench("validate", result, code=0)
    run = bench("report", result, "--reporter", name, "-o", "-")
    if len(FURTHER[name]) == 1:
        (made,) = FURTHER[name]
        assert run.out.rstrip("\n") == (result / made).read_text().rstrip("\n")
    else:
        assert (run.code, ", ".join(FURTHER[name]) in run.err) == (2, True), run.all


def test_what_was_changed_there_is_found_and_all_of_it_is_removed(
    bench: Bench, result: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))  # the machine's own is needed
    words = [word for name in FURTHER for word in ("--reporter", name)]
    assert bench("report", result, "--write", *words).code == 0
    assert bench("verify", result).code == 0
    (result / "junit.xml").write_text("<testsuites/>")
    run = bench("verify", result)
    assert (run.code, "junit.xml:1: is not what" in run.out) == (1, True), run.all
    assert bench("report", result, "--write").code == 0
    assert bench("verify", result).code == 0
    run = bench("clean", "--results", result.parent, "--yes")
    assert (run.code, result.exists()) == (0, False), run.all


def test_a_run_writes_what_is_asked_for(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SUITE)
    actual = bench("run", "small.toml", "--report", "nothing-such")
    assert (actual.code, "installed: answer, brief, csv" in actual.err) == (2, True), actual.all
    assert not (tmp_path / "results").exists()
    summary = tmp_path / "step.md"
    run = calls(bench_words(), tmp_path, {**os.environ, "GITHUB_STEP_SUMMARY": str(summary)})
    words = ("--profile", "smoke", "--set", "repeat.blocks=1")
    actual = run("run", "small.toml", *words, "--report", "junit", "--report", "github", code=0)
    (made,) = (tmp_path / "results").iterdir()
    assert {"junit.xml", "github.md", *MADE} <= {item.name for item in made.iterdir()}
    assert summary.read_text() == (made / "github.md").read_text()
    assert "SMOKE" in summary.read_text()
    assert run("verify", made).code == 0
    assert run("report", made, "--reporter", "github", "-o", "-").code == 0
    assert summary.read_text() == (made / "github.md").read_text()  # printed, and not appended
    assert run("report", made, "--reporter", "github", "--write").code == 0
    assert summary.read_text() == 2 * (made / "github.md").read_text()
    (made / "junit.xml").write_text("<testsuites/>")  # as if it told of another sitting
    assert run("run", "--resume", made).code == 0
    assert run("verify", made).code == 0
    run = calls(bench_words(), tmp_path, {**os.environ, "GITHUB_STEP_SUMMARY": str(tmp_path)})
    actual = run("report", made, "--reporter", "github", "--write")
    assert (actual.code, str(tmp_path) in actual.err) == (5, True), actual.all


def test_a_case_without_a_believable_number_is_an_error(bench: Bench, quiet: Path) -> None:
    fault = {
        "id": "L9",
        "name": "made-up",
        "scope": "trial",
        "subject": "apparatus",
        "status": "fail",
        "message": "the <tool> & its | friends lied",
    }
    for path in quiet.glob("trials/*/trial.json"):
        trial = read(path)
        if trial["case"]["server"] == "two":
            write(path, {**trial, "checks": [fault]})
    run = bench("report", quiet, "--reporter", "junit", "-o", "-")
    suite = ET.fromstring(run.out.encode())[0]  # noqa: S314 - it is ours
    item, two = [test for test in suite if "comparison" not in test.attrib["name"]]
    assert (suite.get("tests"), suite.get("errors"), suite.get("skipped")) == ("3", "1", "1")
    assert (item.get("name"), [inner.tag for inner in item]) == (
        "ping · one · closed",
        ["system-out"],
    )
    assert [inner.tag for inner in two] == ["error"]
    assert "the <tool> & its | friends lied" in (two[0].text or "")
    assert two[0].get("message") == two[0].text
    run = bench("report", quiet, "--reporter", "json", "-o", "-")
    rows = json.loads(run.out)
    assert {(row["server"], row["believed"]) for row in rows} == {("one", True), ("two", False)}


@pytest.mark.parametrize("after_s", [0.3, 0.45, 0.6])
def test_a_signal_while_reports_are_written_loses_nothing(
    bench: Bench, result: Path, after_s: float
) -> None:
    content = {name: (result / name).read_bytes() for name in MADE}
    process = subprocess.Popen(
        bench_words("report", result, "--write"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    time.sleep(after_s)
    process.send_signal(signal.SIGTERM)
    assert process.wait(300) in {0, 143, -signal.SIGTERM}
    assert {name: (result / name).read_bytes() for name in MADE} == content  # whole, old or new
    assert bench("report", result, "--write").code == 0
    assert bench("verify", result).code == 0


@pytest.mark.parametrize(
    ("make", "code", "says"),
    [
        (lambda result: result / "nowhere", 2, "nowhere/result.json: No such file"),
        (lambda result: result / "trials", 2, "name the folder of a result"),
        (lambda result: result / "summary.json", 2, "summary.json: is a file"),
    ],
)
def test_what_is_no_result_is_refused(
    bench: Bench, result: Path, make: object, code: int, says: str
) -> None:
    assert callable(make)
    run = bench("report", make(result))
    assert (run.code, says in run.err) == (code, True), run.all
    assert len(run.err.splitlines()) <= 2
    assert not run.out


def test_a_broken_trial_is_named(bench: Bench, result: Path) -> None:
    path = min(result.glob("trials/*/trial.json"))
    write(path, {**read(path), "block": 0})
    run = bench("report", result)
    assert (run.code, f"{path}:" in run.err) == (1, True), run.all


def test_its_help_names_every_reporter_of_ours(bench: Bench) -> None:
    run = bench("report", "--help")
    assert all(name in run.out for name in Registry().names("reporter")), run.out
