"""A result comes from anybody: it is data, whoever looks at it, and whatever stands in it."""

import csv
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from front_door import Bench, bench_words, calls, captured
from measured.on_disk import edited
from measured.small_results import change_cases, read, write
from suite_texts.files import suite_text

from benchforge.text import door

Attack = Callable[[Path], object]
TRIAL = "trials/0001/trial.json"
ESCAPE = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e\u2066evil"
READERS = (
    ("validate", "{result}"),
    ("verify", "{result}"),
    ("report", "{result}"),
    ("report", "{result}", "-o", "{elsewhere}"),
    ("report", "{result}", "-o", "-", "--reporter", "markdown"),
    ("report", "{result}", "-o", "-", "--reporter", "csv"),
    ("report", "{result}", "-o", "-"),
    ("compare", "{result}", "{copy}", "--anyway"),
    ("history", "{parent}"),
    ("history", "{parent}", "--csv"),
    ("clean", "--results", "{parent}"),
)
"Each way to look at a result that writes nothing into it."


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """With a cache and a folder for scratch of its own, since some of the tests clean.

    It is in a time zone in which the first and the last moments are in other years.
    """
    (tmp_path / "t").mkdir()
    mine = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "TMPDIR": str(tmp_path / "t")}
    return calls(bench_words(), tmp_path, {**os.environ, **mine, "TZ": "America/New_York"})


@pytest.fixture
def result(original: Path, tmp_path: Path) -> Path:
    (tmp_path / "results").mkdir()
    (tmp_path / "victim.csv").write_text("mine")
    return Path(shutil.copytree(original, tmp_path / "results/foreign"))


def looked_at(bench: Bench, result: Path, words: tuple[str, ...]) -> Any:
    folder = result.parents[1]
    copy = folder / "copy"
    if not copy.exists():
        shutil.copytree(result, copy, symlinks=True)
        header = read(copy / "result.json")
        write(copy / "result.json", {**header, "created": "2020-01-01T00:00:00+00:00"})
    path = {"result": result, "parent": result.parent, "copy": copy}
    call = bench(*(word.format(**path, elsewhere=folder / "elsewhere") for word in words))
    assert "Traceback" not in call.all, call.all
    return call


def state(folder: Path) -> dict[str, tuple[int, ...]]:
    """What a file system tells of each file: written to, it is another."""

    def facts(item: Path) -> tuple[int, ...]:
        stat = item.lstat()
        return stat.st_mode, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino

    return {str(item.relative_to(folder)): facts(item) for item in (folder, *folder.rglob("*"))}


def table(name: str, result: Path) -> None:
    item = {"scenarios": ["ping"], "rows": ["server"], "metrics": ["throughput"]}
    for file in (result / "result.json", result / "summary.json"):
        write(file, {**read(file), "tables": {name: item}})


@pytest.mark.samples(3)
@pytest.mark.parametrize("name", ["../../victim", "/etc/victim", "..", "", "a\nb", "a/b"])
def test_a_name_that_leads_elsewhere_is_refused_where_it_enters(
    bench: Bench, result: Path, name: str
) -> None:
    table(name, result)
    state_ = state(result.parents[1])
    assert "is not a file name" in bench("validate", result, code=1).out
    if name == "../../victim":
        for words in {words[0]: words for words in reversed(READERS)}.values():
            looked_at(bench, result, words)
    assert bench("report", result, "--write").code == 1
    assert (result.parents[1] / "victim.csv").read_text() == "mine"
    later = state(result.parents[1])
    stored = {name: observed for name, observed in later.items() if name in state_}
    for other in (".", "t"):  # what was written elsewhere on request, and scratch
        stored[other] = state_[other] = ()
    assert stored == state_


def test_a_link_below_a_result_is_neither_read_nor_written_through(
    bench: Bench, result: Path
) -> None:
    folder = result.parents[1]
    secret, outside = folder / "secret", folder / "outside"
    secret.write_text("SECRET")
    outside.mkdir()
    for name in (".raw.md.tmp", ".summary.json.tmp", "report.html", "numbers.csv"):
        (result / name).unlink(missing_ok=True)
        (result / name).symlink_to(secret)
    printed = next(result.glob("trials/0001/*.out"))
    printed.unlink()
    printed.symlink_to(secret)
    table("sizes", result)
    (result / "tables").symlink_to(outside)
    run = bench("report", result, "--write", code=5)
    assert "tables: is a link: nothing in a result may be one" in run.err
    assert (secret.read_text(), list(outside.iterdir())) == ("SECRET", [])
    (result / "tables").unlink()
    run = bench("report", result, "--write", code=0)
    assert secret.read_text() == "SECRET"
    assert not (result / "report.html").is_symlink()
    files = (path for path in result.glob("*.*") if path.is_file() and not path.is_symlink())
    assert not any("SECRET" in path.read_text() for path in files)
    call = bench("validate", result, code=1)
    assert f"no such file beside the trial: '{printed.name}'" in call.out
    bench("verify", result, code=1)


@pytest.mark.parametrize("name", ["trials", "trials/0001", "trials/0001/trial.json", "result.json"])
def test_what_a_result_consists_of_is_no_link(bench: Bench, result: Path, name: str) -> None:
    entries = result.parents[1] / "there"
    (result / name).rename(entries)
    (result / name).symlink_to(entries)
    state_ = state(result.parents[1])
    for words in (("validate", "{result}"), ("verify", "{result}"), ("report", "{result}")):
        call = bench(*(word.format(result=result) for word in words), code=2)
        assert "is a link: nothing in a result may be one" in call.all
    assert state(result.parents[1]) == state_


def test_links_of_ones_own_lead_to_a_result(bench: Bench, result: Path, tmp_path: Path) -> None:
    (tmp_path / "data").symlink_to(result.parent)
    (tmp_path / "mine").symlink_to(result)
    (tmp_path / "summary").symlink_to(result / "summary.json")
    bench("report", "data/foreign", code=0)
    bench("report", "mine", code=0)
    bench("validate", "data/foreign", "mine", "summary", code=0)
    bench("run", tmp_path.parent / "absent.toml", "-o", "data", code=2)


def test_a_linked_folder_of_ceilings_is_not_cleared(bench: Bench, result: Path) -> None:
    photos = result.parents[1] / "photos"
    (photos / "2019").mkdir(parents=True)
    (photos / "2019/one.jpg").write_text("mine")
    (result / "ceilings").symlink_to(photos)
    shutil.rmtree(result / "trials/0002")
    bench("run", "--resume", result)
    assert (photos / "2019/one.jpg").exists()


def hostile(result: Path) -> None:
    """Put what does something to a terminal wherever a text may stand."""

    def named(case: dict[str, Any]) -> None:
        case["server"] += ESCAPE
        case["scenario"] = f"=1+1 <script>{ESCAPE}|`"

    change_cases(result, named)
    header = read(result / "result.json")
    header.update(title=f"<img src=x>{ESCAPE}", profile=ESCAPE)
    header["facts"]["cpu"] = ESCAPE
    header["metrics"][0]["unit"] = f"<b>{ESCAPE}"
    write(result / "result.json", header)
    for file in result.glob("trials/*/trial.json"):
        trial = read(file)
        if trial["number"] == 1:
            output = {"stage": "ask", "message": ESCAPE, "hint": ESCAPE, "log": f"a\n{ESCAPE}\nb"}
            trial.update(failure=output, reading=None, observation=None, search_outcome=None)
        write(file, trial)


@pytest.mark.samples(14)
@pytest.mark.parametrize("words", READERS, ids=lambda words: " ".join(words[:1] + words[2:]))
@pytest.mark.parametrize("spoil", [hostile, lambda _: None], ids=["hostile", "sound"])
def test_who_looks_writes_nothing_and_nothing_reaches_the_terminal(
    bench: Bench, result: Path, words: tuple[str, ...], spoil: Attack
) -> None:
    spoil(result)
    state_ = state(result)
    actual = looked_at(bench, result, words)
    assert actual.code in {0, 1, 2, *([4] if spoil is hostile else [])}, actual.all
    assert state(result) == state_
    unprintable = "[^\n\t\x20-\x7e\xa0-\u2010\u2012-\u2027\u2030-\uffff]"
    assert not re.search(unprintable, actual.all), actual.all
    assert not set("\u202e\u2066\x9b\x1b\x07") & set(actual.all)


def test_reports_show_markup_and_formulas_as_text(bench: Bench, result: Path) -> None:
    hostile(result)
    names = ("markdown", "html", "csv", "brief", "github", "junit", "json")
    words = [word for name in names for word in ("--reporter", name)]
    bench("report", result, "--write", *words, code=0)
    for file in result.glob("*.*"):
        text = file.read_text()
        if file.name not in {"result.json", "summary.json"}:
            assert not set("\u202e\u2066\x9b\x1b\x07") & set(text), file
    page = (result / "report.html").read_text()
    assert page.count("<script") == 1  # its own, whose digest the policy of the page names
    assert "<img" not in page
    assert "&lt;script&gt;" in page
    ET.fromstring((result / "junit.xml").read_text())  # noqa: S314 - of our own making
    for name in ("report.md", "brief.md", "brief.svg"):
        text = (result / name).read_text()
        assert re.search(r"(?<!\\)<(script|img)", text) is None
    with (result / "numbers.csv").open(newline="") as lines:
        rows = list(csv.reader(lines))
    assert any(field.startswith("'=1+1") for row in rows for field in row)
    assert not any(field.startswith(("=", "+", "@")) for row in rows for field in row)


def large(result: Path, which: str) -> None:
    trial, head = result / TRIAL, '"kind": "trial", "format"'

    def changed(**fields: object) -> str:
        return json.dumps({**read(trial), **fields}, ensure_ascii=False)

    texts: dict[str, Callable[[], str]] = {
        # Each character takes four bytes once one of them does.
        "wide": lambda: changed(url="\N{GRINNING FACE}" + "x" * 30_000_000, y=1),
        "escapes": lambda: changed(url='"' * 15_000_000),
        # Each is wrong, and nothing else is.
        "values": lambda: changed(workers={f"k{number}": "x" for number in range(990_000)}),
        "too many values": lambda: f'{{{head}: 2, "checks": [{"0," * 5_000_000}0]}}',
        "deep": lambda: f'{{{head}: 2, "x": {"[" * 150}{"0," * 990_000}0{"]" * 150}}}',
        "number": lambda: changed(number=10**30),
        "digits": lambda: f"{{{head}: {'9' * 3_000_000}}}",
    }
    if which in texts:
        trial.write_text(texts[which]())
    else:
        os.truncate(trial.parent / which, 20_000_000_000)


LIMITED = """
import resource, sys
from benchforge.cli.app import called
code = called(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
sys.exit(code)
"""


@pytest.mark.samples(2)
@pytest.mark.parametrize(
    ("which", "words", "says"),
    [
        ("trial.json", "validate", "bytes, and at most 33,554,432 are read"),
        ("wide", "validate", "y: is not known here"),
        ("escapes", "validate", ""),
        ("too many values", "validate", "values or so, and at most 1,000,000 are read"),
        ("values", "validate", "990,000 values are wrong, too many to name"),
        ("deep", "validate", "is missing"),
        ("digits", "validate", "is not JSON: number out of range"),
        ("number", "verify", "more: lost or removed, whatever was measured"),
        ("usage.csv", "verify", "usage.csv has 20,000,000,000 bytes"),
        ("answer.bin", "verify", "answer.bin: has 20,000,000,000 bytes"),
        ("loader-closed.out", "verify", "has 20,000,000,000 bytes"),
        ("../../report.md", "verify", "report.md:"),
        ("../../summary.json", "verify", "summary.json: has 20,000,000,000 bytes"),
        ("../../result.json", "clean", "nothing to remove"),
    ],
)
def test_what_is_admitted_takes_a_gigabyte_at_most_and_all_else_is_told(
    result: Path, tmp_path: Path, which: str, words: str, says: str
) -> None:
    large(result, which)
    options = ("--results", result.parent) if words == "clean" else (result,)
    (tmp_path / "t").mkdir()
    mine = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "TMPDIR": str(tmp_path / "t")}
    command = [sys.executable, "-c", LIMITED, words, *options]
    command += ["--all"] if words == "verify" else []
    done = captured(command, timeout=300, env={**os.environ, **mine})
    *output, kib = (done.stdout + done.stderr).splitlines()
    assert "Traceback" not in done.stderr, done.stderr
    assert says in "\n".join(output), output[:5]
    assert int(kib) < 1 << 20, kib


def test_what_a_person_put_into_a_result_stays_and_is_listed(bench: Bench, result: Path) -> None:
    (result / "trials/0001/thesis.txt").write_text("mine")
    (result / "tables").mkdir()
    (result / "tables/mine.csv").write_text("mine")
    (result / "trials/0002/more").mkdir()
    (result / "trials/0002/more/deep.txt").write_text("mine")
    (result / "trials/0002/link").symlink_to(result.parents[1])
    in_trials = ("trials/0001/thesis.txt", "trials/0002/link", "trials/0002/more/deep.txt")
    mine = ("tables/mine.csv", *in_trials)
    call = bench("clean", "--results", result.parent, "--yes", code=0)
    for name in mine:
        assert f"stays: {result / name}, which benchforge did not write" in call.out
    files = [path for path in result.rglob("*") if path.is_symlink() or not path.is_dir()]
    items = sorted(str(path.relative_to(result)) for path in files)
    assert items == sorted(mine)


def test_a_changed_report_of_a_plugin_stays(bench: Bench, result: Path) -> None:
    from benchforge.run.disk.manifest import LISTED, listed  # noqa: PLC0415 - for this test alone

    for name in ("poem.txt", "own/other.txt"):
        door.make(result, "own")
        door.write(result, name, b"made")
        listed(result, name, result)
    summed = subprocess.run(["sha256sum", "-c", LISTED], cwd=result, check=True, timeout=100)
    assert summed.returncode == 0
    (result / "own/other.txt").write_text("mine now")
    call = bench("clean", "--results", result.parent, "--yes", code=0)
    assert f"stays: {result}/own/other.txt" in call.out
    assert [path.name for path in result.rglob("*.txt")] == ["other.txt"]
    (result / "own/other.txt").unlink()
    (result / "own").rmdir()


def test_a_server_that_plants_links_gets_nothing_written_through_them(
    bench: Bench, tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    first_side = (".trial.json.tmp", "trial.json", "usage.csv", "system.csv", "answer.bin")
    names = (*first_side, "loader-closed.out", "loader-closed.err")
    plants = tmp_path / "plants.py"
    answers = Path(__file__).parents[1] / "programs/servers/answers.py"
    plants.write_text(
        "import os, runpy, sys\n"
        "os.chdir(os.path.dirname(os.readlink('/proc/self/fd/1')))\n"
        f"for name in {names!r}:\n    os.symlink({str(victim)!r}, name)\n"
        f"sys.argv[0], sys.path[0] = {str(answers)!r}, {str(answers.parent)!r}\n"
        f"runpy.run_path({str(answers)!r}, run_name='__main__')\n"
    )
    (tmp_path / "plant.toml").write_text(suite_text("results/foreign", plants=plants))
    call = bench("run", "plant.toml")
    assert victim.read_text() == "mine", call.all
    assert "Traceback" not in call.all
    (trial,) = (tmp_path / "results").glob("*/trials/*/trial.json")
    assert not trial.is_symlink()
    failure = json.loads(trial.read_text())["failure"]
    assert "another process put something there" in failure["message"]


def replaced(then: str, newer: str, result: Path) -> None:
    text = (result / TRIAL).read_text()
    assert then in text
    (result / TRIAL).write_text(text.replace(then, newer, 1))


def pipe(name: str, result: Path) -> None:
    (result / name).unlink()
    os.mkfifo(result / name)


def document(name: str, fields: dict[str, Any], result: Path) -> None:
    edited(result / name, lambda content: content.update(fields))


def sparse(result: Path) -> None:
    (result / "report.md").write_text("")
    os.truncate(result / "report.md", 1 << 40)


def a_socket(result: Path) -> None:
    (result / "report.md").unlink()
    folder = os.open(result, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"/proc/self/fd/{folder}/report.md")
    os.close(folder)


def swapped(result: Path) -> None:
    """Another trial's folder stands in for one, by a link that leaves no other trace."""
    (result / "trials/0001").rename(result.parent / "elsewhere")
    (result / "trials/0001").symlink_to(result.parent / "elsewhere")


def nested(result: Path) -> None:
    replaced('"namespaces": {', '"namespaces": {"x": ' + "[" * 150 + "]" * 150 + ",", result)


def buckets(result: Path) -> None:
    latency = {"counts": {str(10**14): 5}, "sum_us": 1, "max_us": 1}
    edited(result / TRIAL, lambda trial: trial["reading"].update(latency=latency))


ATTACKS: dict[str, tuple[Attack, str]] = {
    "a pipe in place of a table": (partial(pipe, "numbers.csv"), "numbers.csv: is not a file"),
    "a pipe in place of a raw file": (partial(pipe, "trials/0001/usage.csv"), "usage.csv"),
    "a socket in place of a report": (a_socket, "report.md"),
    "a sparse file of a terabyte": (sparse, "has 1,099,511,627,776 bytes"),
    "a key that occurs twice": (
        partial(replaced, '"attempt": 1,', '"attempt": 1, "attempt": 1,'),
        "attempt: occurs twice in its object",
    ),
    "a number that is none": (partial(replaced, '"attempt": 1,', '"attempt": NaN,'), TRIAL),
    "a value 150 levels deep": (nested, TRIAL),
    "a folder that is a link": (swapped, "is a link: nothing in a result may be one"),
    "a moment before all clocks": (
        partial(document, "result.json", {"created": "0001-01-01T00:00:00+00:00"}),
        "created: is no moment at which anything was measured",
    ),
    "a moment without a time zone": (
        partial(document, "result.json", {"created": "2026-01-01T00:00:00"}),
        "result.json: is not the file that manifest.json lists",
    ),
    "a bucket beyond all times": (buckets, "buckets are numbers from 0 to 65536, and counts are"),
    "a listed file above the result": (
        partial(document, "manifest.json", {"files": {"../../x": "0" * 64}}),
        "is no name of a file below a folder",
    ),
}


@pytest.mark.samples(4)
@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_is_found_and_nobody_who_looks_falls(
    bench: Bench, result: Path, attack: str
) -> None:
    plant, says = ATTACKS[attack]
    plant(result)
    checked = bench("validate", result)
    assert checked.code in {1, 2}, checked.all
    assert says in checked.all
    lookers = (("verify", result, "--all"), ("report",), ("clean", "--results", result.parent))
    for words in lookers:
        ended = bench(*words)
        assert ended.code in {0, 1, 2}, ended.all
        assert "Traceback" not in ended.all


def test_what_names_do_to_a_terminal_is_printed_as_text(bench: Bench, result: Path) -> None:
    (result / "trials/0001/\u202egnp.exe\x1b[2J").write_text("x")
    (result / "trials/0001" / os.fsdecode(b"\xff\xfe")).touch()
    for words in ("verify", "--all", result), ("clean", "--results", result.parent):
        ended = bench(*words)
        assert "Traceback" not in ended.all
        assert not set("\u202e\x1b\udcff") & set(ended.all), ended.all


def test_the_words_are_the_same_whatever_the_number_of_processes_is(
    bench: Bench, result: Path
) -> None:
    """A share that a process compares comes where one process compares it."""
    for file in result.glob("trials/*/usage.csv"):
        file.write_text(file.read_text().replace("server", "loader", 1))
    for number in (1, 2, 4):
        name = f"trials/{number:04}/trial.json"
        edited(result / name, lambda trial: trial.update(checks=trial["checks"][:3]))
    alone, *others = (bench("verify", "--all", "-j", count, result, code=1) for count in (1, 3, 99))
    assert [ended.all for ended in others] == [alone.all] * 2
    assert alone.all.count(": checks.") > 2
