"""`benchforge report`: what is shown of a result, formed again; and what CI servers read."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from front_door import Bench, bench_words, calls, captured
from measured.small_results import SUITE, believed, read, shared, write

from benchforge.parts.registry import Registry
from benchforge.results.report_files import ON_DEMAND

MADE = ("report.md", "report.html", "raw.md", "numbers.csv", "summary.json")


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
    assert "results: contains no result" in bench("report", "--why", "K1", code=2).err
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
        assert skipped in bench(*words).err
    several = bench("report", "results/new-1", "results/old-1", code=2)
    assert "error: 2 results: a report is of one" in several.err
    assert "hint: name the folder of a result" in bench("validate", tmp_path, code=2).err
    assert f" {part} " in bench("report", "--why", part.lower(), code=0).out
    unknown = bench("report", "--why", "X9", code=2).err
    assert ("results/new-1" in unknown, part in unknown) == (True, True), unknown
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    run = calls(bench_words(), tmp_path, {**os.environ, **cache, "BROWSER": "echo %s"})
    page = Path(run("report", "--open", code=0).out.strip().removeprefix("file://"))
    assert page.parents[1] == tmp_path / "cache/benchforge/pages"
    assert "<title>small" in page.read_text()
    assert f"page {page.parent}: shown by report --open" in run("clean", "--yes", code=0).out
    assert list(page.parents[1].iterdir()) == []


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
    other = result.parent / "other"
    bench("report", result, "-o", other)
    (other / "result.json").write_text("{}")
    assert "is a different result" in bench("report", result, "-o", other, code=2).err
    assert "error: " in bench("report", result, "-o", result / "report.html", code=5).err


@pytest.fixture
def quiet(original: Path, tmp_path: Path) -> Path:
    """A result with numbers that count."""
    return believed(original, tmp_path / "quiet")


@pytest.mark.samples(2)
@pytest.mark.parametrize("name", ON_DEMAND)
def test_a_reporter_alone_writes_its_files_alone(bench: Bench, quiet: Path, name: str) -> None:
    for made in (*MADE, "manifest.json"):
        (quiet / made).unlink()
    command = ("report", quiet, "--reporter", name)
    assert "no folder is named for its files" in bench(*command, code=2).err
    bench(*command, "--write", code=0)
    files = {*ON_DEMAND[name], "result.json", "trials"}
    assert {item.name for item in quiet.iterdir()} == files
    bench("validate", quiet, code=0)
    if len(ON_DEMAND[name]) == 1:
        (made,) = ON_DEMAND[name]
        out = bench(*command, "-o", "-").out
        assert out.rstrip("\n") == (quiet / made).read_text().rstrip("\n")
    else:
        assert ", ".join(ON_DEMAND[name]) in bench(*command, "-o", "-", code=2).err


def test_what_was_changed_there_is_found_and_all_of_it_is_removed(
    bench: Bench, result: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))  # the machine's own is needed
    words = [word for name in ON_DEMAND for word in ("--reporter", name)]
    bench("report", result, "--write", *words, code=0)
    bench("verify", result, code=0)
    (result / "junit.xml").write_text("<testsuites/>")
    assert "junit.xml:1: is not what" in bench("verify", result, code=1).out
    bench("report", result, "--write", code=0)
    bench("verify", result, code=0)
    bench("clean", "--results", result.parent, "--yes", code=0)
    assert not result.exists()


def test_a_run_writes_what_is_asked_for(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SUITE)
    unknown = bench("run", "small.toml", "--report", "nothing-such", code=2)
    assert "installed: answer, brief, csv" in unknown.err
    assert not (tmp_path / "results").exists()
    summary = tmp_path / "step.md"
    run = calls(bench_words(), tmp_path, {**os.environ, "GITHUB_STEP_SUMMARY": str(summary)})
    words = ("--profile", "smoke", "--set", "repeat.blocks=1")
    run("run", "small.toml", *words, "--report", "junit", "--report", "github", code=0)
    (made,) = (tmp_path / "results").iterdir()
    assert {"junit.xml", "github.md", *MADE} <= {item.name for item in made.iterdir()}
    assert summary.read_text() == (made / "github.md").read_text()
    assert "SMOKE" in summary.read_text()
    run("verify", made, code=0)
    run("report", made, "--reporter", "github", "-o", "-", code=0)
    assert summary.read_text() == (made / "github.md").read_text()  # printed, and not appended
    run("report", made, "--reporter", "github", "--write", code=0)
    assert summary.read_text() == 2 * (made / "github.md").read_text()
    (made / "junit.xml").write_text("<testsuites/>")  # as if it told of another sitting
    run("run", "--resume", made, code=0)
    run("verify", made, code=0)
    run = calls(bench_words(), tmp_path, {**os.environ, "GITHUB_STEP_SUMMARY": str(tmp_path)})
    assert str(tmp_path) in run("report", made, "--reporter", "github", "--write", code=5).err


def test_a_case_without_a_believable_number_is_an_error(bench: Bench, quiet: Path) -> None:
    fault = {"id": "L9", "name": "made-up", "scope": "trial", "subject": "apparatus"}
    fault |= {"status": "fail", "message": "the <tool> & its | friends lied"}
    for path in quiet.glob("trials/*/trial.json"):
        trial = read(path)
        if trial["case"]["server"] == "two":
            write(path, {**trial, "checks": [fault]})
    written = bench("report", quiet, "--reporter", "junit", "-o", "-").out
    suite = ET.fromstring(written.encode())[0]  # noqa: S314 - it is ours
    item, two = [test for test in suite if "comparison" not in test.attrib["name"]]
    assert (suite.get("tests"), suite.get("errors"), suite.get("skipped")) == ("3", "1", "1")
    assert item.get("name") == "ping · one · closed"
    assert [inner.tag for inner in item] == ["system-out"]
    assert [inner.tag for inner in two] == ["error"]
    assert "the <tool> & its | friends lied" in (two[0].text or "")
    assert two[0].get("message") == two[0].text
    rows = json.loads(bench("report", quiet, "--reporter", "json", "-o", "-").out)
    assert {(row["server"], row["believed"]) for row in rows} == {("one", True), ("two", False)}


@pytest.mark.parametrize("after_s", [0.3, 0.45, 0.6])
def test_a_signal_while_reports_are_written_loses_nothing(
    bench: Bench, result: Path, after_s: float
) -> None:
    content = {name: (result / name).read_bytes() for name in MADE}
    words, nothing = bench_words("report", result, "--write"), subprocess.DEVNULL
    process = subprocess.Popen(words, stdout=nothing, stderr=nothing)
    time.sleep(after_s)
    process.send_signal(signal.SIGTERM)
    assert process.wait(300) in {0, 143, -signal.SIGTERM}
    assert {name: (result / name).read_bytes() for name in MADE} == content  # whole, old or new
    bench("report", result, "--write", code=0)
    bench("verify", result, code=0)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("nowhere", "nowhere/result.json: No such file"),
        ("trials", "name the folder of a result"),
        ("summary.json", "summary.json: is a file"),
    ],
)
def test_what_is_no_result_is_refused(bench: Bench, result: Path, name: str, says: str) -> None:
    run = bench("report", result / name, code=2)
    assert says in run.err
    assert len(run.err.splitlines()) <= 2
    assert not run.out


def test_its_help_names_every_reporter_of_ours(bench: Bench) -> None:
    text = bench("report", "--help").out
    assert [name for name in Registry().names("reporter") if name not in text] == []


SPAWN = [sys.executable, "-c", "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]))"]
PLAIN = {"TERM": "xterm", "NO_COLOR": "1"}


@pytest.mark.samples(3)
@pytest.mark.parametrize(
    ("environment", "coloured"),
    [({"TERM": "xterm"}, True), (PLAIN, False), ({"TERM": "dumb"}, False)],
)
@pytest.mark.parametrize("reason", [(), ("--why",)])
def test_a_terminal_that_shows_no_colours_gets_none(
    quiet: Path, environment: dict[str, str], coloured: bool, reason: tuple[str, ...]
) -> None:
    rest = {name: text for name, text in os.environ.items() if name not in {"NO_COLOR", "TERM"}}
    words = [*SPAWN, *bench_words("report", quiet, "-o", "-", *reason)]
    text = captured(words, check=True, env=rest | environment).stdout
    assert "small" in text or reason
    assert ("\x1b" in text) is coloured
