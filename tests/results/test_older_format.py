"""A result of an older format is refused in one line, which names the version that reads it."""

import json
import os
from pathlib import Path

import pytest
from front_door import Bench, bench_words, calls

LAST = "has format 1: benchforge 0.1.0 is the last version that reads it"


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """Call benchforge with a cache of its own: `clean` removes what is there."""
    (tmp_path / "t").mkdir()
    own = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "TMPDIR": str(tmp_path / "t")}
    return calls(bench_words(), tmp_path, {**os.environ, **own})


@pytest.fixture
def older(tmp_path: Path) -> Path:
    """Return a result as benchforge 0.1.0 left it, as far as it is looked at."""
    folder = tmp_path / "results" / "macro-20261121T103000Z"
    files = {
        "result.json": "result",
        "summary.json": "summary",
        "trials/0001/trial.json": "trial",
        "sittings/0002.json": "sitting",
        "ceilings/0001/ceiling.json": "ceiling",
    }
    for name, kind in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"format": 1, "kind": kind, "says": "as it was"}))
    return folder


@pytest.mark.parametrize(
    "words",
    [
        ["report", "RESULT"],
        ["compare", "RESULT", "RESULT"],
        ["history", "RESULT"],
        ["verify", "RESULT"],
        ["validate", "RESULT"],
        ["run", "--resume", "RESULT"],
        ["compare", "RESULT/summary.json", "RESULT/summary.json"],
        ["validate", "RESULT/trials/0001/trial.json"],
        ["validate", "RESULT/sittings/0002.json"],
        ["validate", "RESULT/ceilings/0001/ceiling.json"],
    ],
    ids=" ".join,
)
def test_every_command_refuses_it_in_one_line(bench: Bench, older: Path, words: list[str]) -> None:
    call = bench(*(word.replace("RESULT", str(older)) for word in words), code=2)
    (line,) = call.all.splitlines()
    assert LAST in line
    assert line.count("format 1") == 1


def test_a_folder_of_results_leaves_it_out_and_says_why(bench: Bench, older: Path) -> None:
    assert LAST in bench("history", older.parent, code=2).all


def test_clean_lists_it_and_leaves_it(bench: Bench, older: Path) -> None:
    call = bench("clean", "--results", older.parent, "--yes", code=0)
    assert f"{older}/result.json: {LAST}" in call.all
    assert (older / "trials/0001/trial.json").is_file()
