"""Results that somebody built to do harm: each is told in lines, and soon, whoever looks at it."""

import json
import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from front_door import Bench, bench_words, calls
from measured.small_results import shared

TRIAL = "trials/0001/trial.json"
Attack = Callable[[Path], object]


@pytest.fixture
def result(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Path:
    return Path(shutil.copytree(shared(tmp_path_factory), tmp_path / "results/foreign"))


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """In a time zone in which the first and the last moments are in other years."""
    return calls(bench_words(), tmp_path, {**os.environ, "TZ": "America/New_York"})


def edited(name: str, edit: Callable[[dict[str, Any]], object]) -> Attack:
    def attack(result: Path) -> None:
        document = json.loads((result / name).read_text())
        edit(document)
        (result / name).write_text(json.dumps(document, indent=1))

    return attack


def replaced(name: str, then: str, newer: str) -> Attack:
    def attack(result: Path) -> None:
        text = (result / name).read_text()
        assert then in text
        (result / name).write_text(text.replace(then, newer, 1))

    return attack


def pipe(name: str) -> Attack:
    def attack(result: Path) -> None:
        (result / name).unlink()
        os.mkfifo(result / name)

    return attack


def sparse(name: str) -> Attack:
    def attack(result: Path) -> None:
        (result / name).unlink()
        (result / name).touch()
        os.truncate(result / name, 1 << 40)

    return attack


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
    replaced(TRIAL, '"namespaces": {', '"namespaces": {"x": ' + "[" * 150 + "]" * 150 + ",")(result)


def buckets(document: dict[str, Any]) -> None:
    document["reading"]["latency"] = {"counts": {str(10**14): 5}, "sum_us": 1, "max_us": 1}


ATTACKS: dict[str, tuple[Attack, str]] = {
    "a pipe in place of a table": (pipe("numbers.csv"), "numbers.csv: is not a file"),
    "a pipe in place of a raw file": (pipe("trials/0001/usage.csv"), "usage.csv"),
    "a socket in place of a report": (a_socket, "report.md"),
    "a sparse file of a terabyte": (sparse("report.md"), "has 1,099,511,627,776 bytes"),
    "a key that occurs twice": (
        replaced(TRIAL, '"attempt": 1,', '"attempt": 1, "attempt": 1,'),
        "attempt: occurs twice in its object",
    ),
    "a number that is none": (replaced(TRIAL, '"attempt": 1,', '"attempt": NaN,'), TRIAL),
    "a value 150 levels deep": (nested, TRIAL),
    "a folder that is a link": (swapped, "is a link: nothing in a result may be one"),
    "a moment before all clocks": (
        edited("result.json", lambda header: header.update(created="0001-01-01T00:00:00+00:00")),
        "created: is no moment at which anything was measured",
    ),
    "a moment without a time zone": (
        edited("result.json", lambda header: header.update(created="2026-01-01T00:00:00")),
        "result.json: is not the file that manifest.json lists",
    ),
    "a bucket beyond all times": (
        edited(TRIAL, buckets),
        "buckets are numbers from 0 to 65536, and counts are positive",
    ),
    "a listed file above the result": (
        edited("manifest.json", lambda lists: lists["files"].update({"../../x": "0" * 64})),
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
        edited(name, lambda trial: trial.update(checks=trial["checks"][:3]))(result)
    alone, *others = (bench("verify", "--all", "-j", count, result, code=1) for count in (1, 3, 99))
    assert [ended.all for ended in others] == [alone.all] * 2
    assert alone.all.count(": checks.") > 2
