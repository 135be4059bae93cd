"""`benchforge.results.open`: what a program gets of a result."""

import csv
import json
import math
import os
import sys
from pathlib import Path
from typing import get_type_hints

import pytest
from documents.pages import DOCS, blocks
from front_door import captured
from installed import uv
from measured.small_results import shared
from measured.stored import unpacked
from present import present

import benchforge.results
from benchforge.errors import BenchforgeError
from benchforge.results.opened import OpenedResult, RatioValue, TrialValue

PAGE = DOCS / "how-to/results-in-programs.md"
LIBRARIES = ("polars", "pandas", "duckdb")
PROMISED = {
    TrialValue: "suite created smoke case scenario server driver vary digest metric of unit better"
    " block trial value lower_bound believed why",
    RatioValue: "scenario driver vary metric of first second ratio low high level blocks differ"
    " state",
}
"Fields that programs rely on: a new one comes last, and none leaves before 2.0."


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpacked("finished", tmp_path_factory.mktemp("stored"))


@pytest.fixture(scope="module")
def result(stored: Path) -> OpenedResult:
    return benchforge.results.open(stored)


@pytest.mark.parametrize("row", PROMISED)
def test_the_fields_stay(row: type[TrialValue | RatioValue]) -> None:
    promised = PROMISED[row].split()
    assert row._fields[: len(promised)] == tuple(promised)
    assert {*get_type_hints(row)} == {*row._fields}


def test_trials_are_the_rows_of_numbers_csv(result: OpenedResult, stored: Path) -> None:
    with (stored / "numbers.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(result.trials) > 0
    for row, value in zip(rows, result.trials, strict=True):
        assert [*row] == [*TrialValue._fields]
        assert row["value"] == "" if value.value is None else float(row["value"]) == value.value
        assert (row["why"], row["server"]) == (value.why, value.server)
    known = [row for row in result.trials if row.metric == "throughput"]
    assert {row.unit for row in known} == {"requests/s"}
    assert {row.believed for row in result.trials} <= {True, False}


def test_a_ratio_is_the_mean_of_its_blocks(result: OpenedResult) -> None:
    (ratio,) = [row for row in result.ratios if row.metric == "throughput"]
    values = {
        (row.server, row.block, row.believed): row.value or math.nan
        for row in result.blocks
        if (row.metric, row.of) == (ratio.metric, ratio.of)
    }
    logs = [
        math.log(value / values[ratio.second, block, believed])
        for (server, block, believed), value in values.items()
        if server == ratio.first and (ratio.second, block, believed) in values
    ]
    assert len(logs) == ratio.blocks == 3
    assert ratio.ratio == pytest.approx(math.exp(math.fsum(logs) / len(logs)))
    assert present(ratio.low) < present(ratio.ratio) < present(ratio.high)
    assert ratio.state == present(result.summary.comparisons[0].verdict).state


def test_the_file_of_a_summary_is_enough(result: OpenedResult, stored: Path) -> None:
    alone = benchforge.results.open(str(stored / "summary.json"))
    assert alone.trials == result.trials
    assert [row.ratio for row in alone.ratios] == [row.ratio for row in result.ratios]


def test_a_smoke_run_has_no_ratio(tmp_path_factory: pytest.TempPathFactory) -> None:
    result = benchforge.results.open(shared(tmp_path_factory))
    assert result.trials
    assert result.trials[0].smoke
    assert result.ratios == []


def test_what_cannot_be_opened_is_an_error_of_a_line(stored: Path, tmp_path: Path) -> None:
    with pytest.raises(BenchforgeError, match=r"result\.json: No such file"):
        benchforge.results.open(tmp_path)
    (tmp_path / "summary.json").write_text(json.dumps({"kind": "summary", "format": 1}))
    with pytest.raises(BenchforgeError, match="has format 1, this benchforge reads 2"):
        benchforge.results.open(tmp_path / "summary.json")


@pytest.mark.parametrize("library", ["", *LIBRARIES])
def test_the_page_works(
    library: str, stored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each library's lines are skipped where it is not installed; the rest never is."""
    if library:
        pytest.importorskip(library)
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / stored.name).symlink_to(stored)
    monkeypatch.chdir(tmp_path)
    texts = [block.text for block in blocks(PAGE) if block.language == "python"]
    needs = {"", library} | ({"pandas"} if library == "duckdb" else set())
    names: dict[str, object] = {}
    for text in texts:
        if next((name for name in LIBRARIES if name in text), "") in needs:
            exec(compile(text, str(PAGE), "exec"), names)  # noqa: S102 - a page of ours
    assert isinstance(names["result"], OpenedResult)


@pytest.mark.network
@pytest.mark.exhaustive
def test_each_library_takes_the_rows(tmp_path: Path) -> None:
    uv("pip", "install", "--quiet", "--python", sys.executable, "--target", tmp_path, *LIBRARIES)
    words = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__, "-k", "page")
    ended = captured(words, env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert ended.returncode == 0, ended.stdout
    assert "4 passed" in ended.stdout
