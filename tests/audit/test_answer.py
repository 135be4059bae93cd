"""The answer of an audit: the rows that can stand, what to publish instead, and the exit code."""

from pathlib import Path

import pytest
from front_door import Bench
from load.audits import WRK

TITLES = "fw,rps,secs,bad,avg,worst\n"
COLUMNS = ("name=fw", "rate=rps:1/s", "duration=secs:s", "failed=bad", "mean=avg:ms")
WORDS = [word for fact in (*COLUMNS, "max=worst:ms") for word in ("--column", fact)]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rows = ("fast,200000,10,1800000,5,90", "false,900,10,0,95,90", "plain,50000,10,0,5,90")
    (tmp_path / "t.csv").write_text(TITLES + "\n".join(rows) + "\n")
    return tmp_path


def test_the_answer_comes_first_and_has_fifteen_lines(bench: Bench, table: Path) -> None:
    (table / "all").mkdir()
    for number in range(12):
        (table / f"all/{number}.txt").write_text(WRK.format(mean="80.52ms"))
    for words in (["all"], ["t.csv", *WORDS]):
        lines = bench("audit", *words).out.splitlines()
        assert lines[0].startswith(
            ("12 sources: wrk, 12 rows. 0 can stand", "t.csv: columns, 3 rows")
        )
        assert " can stand. Withdraw " in " ".join(lines[:2])
        assert len(lines) <= 15


def test_the_answer_names_what_to_publish_and_the_ranks(bench: Bench, table: Path) -> None:
    done = bench("audit", "t.csv", *WORDS)
    assert done.out.startswith("t.csv: columns, 3 rows. 2 can stand. Withdraw false.\n")
    assert "Publish instead: 20,000/s, not 200,000/s (fast)." in done.out
    assert "Ranks of rows: 3 of 3 rows move; the first is plain." in done.out
    assert "Not asked: " in done.out
    assert "[AE1]" in bench("audit", "t.csv", *WORDS, "--details").out


@pytest.mark.parametrize(
    ("mean", "level", "code"),
    [
        ("80.52ms", "impossible", 1),
        ("20.52ms", "unsupported", 1),
        ("20.52ms", "false", 0),
        ("5.52ms", "unsupported", 0),
    ],
)
def test_a_build_fails_on_the_level_that_it_names(
    bench: Bench, tmp_path: Path, mean: str, level: str, code: int
) -> None:
    (tmp_path / "wrk.txt").write_text(WRK.format(mean=mean))
    assert bench("audit", "wrk.txt", "--fail-on", level).code == code
