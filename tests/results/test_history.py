"""`benchforge history`: results over time."""

import csv
import io
import shutil
from pathlib import Path

import pytest
from front_door import Bench
from measured.once import made_once
from measured.small_results import change_cases, read, session, write

DAYS = 22
STEP = 12
OWN = (1.0, 1.004, 0.995, 1.003, 0.998, 1.001)


@pytest.fixture(scope="module")
def results(original: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of summaries: from day 12 on, server two is 10 % slower."""

    def made(folder: Path) -> Path:
        for day in range(DAYS):
            machine = 1 + 0.05 * (day % 4)
            two = machine * OWN[day % 6] * (0.9 if day >= STEP else 1)
            session(original, folder, day, {"one": machine, "two": two})
        return folder

    return made_once(tmp_path_factory, "days", made)


def two(expected: str) -> list[str]:
    """Return the lines of server two's throughput."""
    _, _, rows = expected.partition("\nping · two · closed · throughput (requests/s)\n")
    return rows.partition("\n\n")[0].splitlines()


def test_a_page_that_cannot_be_written_is_an_error(
    bench: Bench, results: Path, tmp_path: Path
) -> None:
    (tmp_path / "history.html").touch()
    run = bench(
        "history", "--details", results, "--html", tmp_path / "history.html" / "page.html", code=5
    )
    assert "history.html: Not a directory" in run.all or "history.html: File exists" in run.all


def test_where_the_machine_changed_a_new_series_begins(
    bench: Bench, results: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(results, tmp_path / "results"))
    for path in sorted(folder.iterdir())[STEP:]:
        header = read(path / "result.json")
        write(path / "result.json", {**header, "facts": {**header["facts"], "kernel": "9.9"}})
    words = ("history", "--details", folder, "--reference", "one", "--metric", "throughput")
    run = bench(*words, code=0)
    assert run.out.count("a new series begins: kernel was '") == 1
    assert "CHANGED" not in run.out
    assert "12 results have a ratio: changes take 20" in run.out
    assert [line.split()[0] for line in two(run.out)].count("--") == 1
    rows = list(csv.DictReader(io.StringIO(bench(*words, "--csv").out)))
    assert {row["series"] for row in rows} == {"1", "2"}


def test_suites_are_told_apart_and_what_is_none_is_left_out(
    bench: Bench, original: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "results"
    folder.mkdir()
    for day in (2, 0, 1):
        session(original, folder, day)
    session(original, folder, 3, name="other")
    session(original, folder, 4, smoke=True)
    shutil.copytree(folder / "small-000", folder / "twice")
    session(original, folder, 5)
    (folder / "small-005" / "result.json").write_text("{")
    change_cases(folder / "small-001", lambda case: case.update(digest="0" * 16))
    run = bench("history", "--details", folder, code=0)
    assert "small: 3 results" in run.out
    assert "other: 1 result\n" in run.out
    places = [run.out.index(f"small-{day:03}") for day in range(3)]
    assert places == sorted(places)
    assert run.err.count("left out: ") == 3
    # There, and back again.
    marked = [line for line in two(run.out) if "changed: options, code or data" in line]
    assert [line.split()[0] for line in marked] == ["2", "3"]
