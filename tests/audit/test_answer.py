"""The answer of an audit: the rows that can stand, what to publish instead, and the exit code."""

import json
import re
import tracemalloc
from pathlib import Path

import pytest
from front_door import Bench
from load.audits import WRK, all_readers, audit

from benchforge.cli.results.audit.answer import AuditAnswer
from benchforge.cli.results.audit.audited import Sources

TITLES = "fw,rps,secs,bad,avg,worst\n"
COLUMNS = ("name=fw", "rate=rps:1/s", "duration=secs:s", "failed=bad", "mean=avg:ms")
WORDS = [word for fact in (*COLUMNS, "max=worst:ms") for word in ("--column", fact)]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rows = ("fast,200000,10,1800000,5,90", "false,900,10,0,95,90", "plain,50000,10,0,5,90")
    (tmp_path / "t.csv").write_text(TITLES + "\n".join(rows) + "\n")
    return tmp_path


def test_the_answer_names_what_to_publish_and_the_ranks(bench: Bench, table: Path) -> None:
    done = bench("audit", "t.csv", *WORDS)
    standing = "t.csv: columns, 3 rows. 2 can stand (1 of them unsupported). Withdraw or correct"
    assert done.out.startswith(standing)
    assert "Publish instead: 20,000/s, not 200,000/s (fast)." in done.out
    assert (
        "Ranks of the table: 3 of 3 rows move; the first is plain, not fast, of the table; "
        in done.out
    )
    assert "Not asked: " in done.out
    assert "[AE1]" in bench("audit", "t.csv", *WORDS, "--details").out


@pytest.mark.parametrize(
    ("mean", "level", "code"),
    [
        *(("80.52ms", "impossible", 1), ("20.52ms", "unsupported", 1)),
        *(("20.52ms", "false", 0), ("5.52ms", "unsupported", 0)),
    ],
)
def test_a_build_fails_on_the_level_that_it_names(
    bench: Bench, tmp_path: Path, mean: str, level: str, code: int
) -> None:
    (tmp_path / "wrk.txt").write_text(WRK.format(mean=mean))
    assert bench("audit", "wrk.txt", "--fail-on", level).code == code


def test_the_worst_rows_come_first(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "all").mkdir()
    means = ("70.52ms", "80.52ms", "5.52ms", "9.90s", "90.52ms")
    for number, mean in enumerate(means):
        (tmp_path / f"all/{number}.txt").write_text(WRK.format(mean=mean))
    words = " ".join(bench("audit", "all").out.split())
    names = [f"http://127.0.0.1:8080/ of {number}.txt" for number in (3, 4, 1)]
    assert f"1 can stand. Withdraw or correct {', '.join(names)}, and 1 more." in words
    assert "impossible, 4 times: " in words
    assert "the mean, 9.9 s, is more than the maximum, 61.4 ms." in words
    assert "body (--body, 5 rows)" in words


def test_only_the_false_one_of_rows_with_one_name_is_withdrawn() -> None:
    texts = [WRK.format(mean=mean).replace("@ http://127.0.0.1:8080/", "@ /") for mean in MEANS]
    answer = AuditAnswer()
    answer.add(audit("".join(texts)))
    assert "3 rows. 2 can stand. Withdraw or correct / (2)." in answer.text(Sources(), {})


MEANS = ("5.52ms", "80.52ms", "6.52ms")


def test_ranks_within_noise_are_in_the_answer(bench: Bench, tmp_path: Path) -> None:
    for name, shift in (("a.csv", 0), ("b.csv", 9)):
        rows = [f"f{number},{1000 + number * 3 + shift * (number % 7)}" for number in range(30)]
        (tmp_path / name).write_text("\n".join(["fw,rps", *rows]))
    done = bench("audit", "a.csv", "b.csv", "--column", "name=fw", "--column", "rate=rps:1/s")
    assert re.search(r"Ranks of the table: \d+ of 29 neighbours are within noise\.", done.out), (
        done.out
    )
    assert "not resolved: neighbours in rank differ by less than one row" in done.out
    assert "neighbouring pairs of the table: the rate of 30 rows changed by" in done.out


def test_each_output_lists_what_was_not_read_or_asked(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "all").mkdir()
    good = WRK.format(mean="5.52ms")
    cut = "".join(good.splitlines(keepends=True)[:5])
    (tmp_path / "all/log.txt").write_text(good + cut)
    (tmp_path / "all/notes.txt").write_text("nothing to see")
    done = bench("audit", "all", "--html", "page.html", "--junit", "junit.xml", code=2)
    assert "Not read: 1 result" in done.out
    assert "Passed over: 1, named" in done.out
    reasons = ("all/log.txt: wrk: line 9: no line", "all/notes.txt: no reader knows this content")
    texts = [bench("audit", "all", option).out for option in ("--json", "--markdown")]
    texts += [(tmp_path / name).read_text() for name in ("page.html", "junit.xml")]
    for text in texts:
        for reason in (*reasons, "AB2"):
            assert reason in text.replace("\\", "")
    document = json.loads(texts[0])
    assert [reasons[0] in text for text in document["unread"]] == [True]
    assert [reasons[1] in text for text in document["passed_over"]] == [True]
    assert '<error message="all/log.txt' in texts[3]


def test_no_source_stays_in_memory(tmp_path: Path) -> None:
    for number in range(240):
        (tmp_path / f"{number}.txt").write_text(WRK.format(mean="20.52ms"))
    peaks = []
    for part in ("1?.txt", "*.txt"):
        names = [str(path) for path in tmp_path.glob(part)]
        tracemalloc.start()
        answer = AuditAnswer()
        for source in Sources().audits(names, all_readers(), {}):
            answer.add(source)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert answer.counts["unsupported"] == len(names)
    assert peaks[1] < 1.5 * peaks[0]
