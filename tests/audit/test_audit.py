"""`benchforge audit` at a terminal: what people type, what they read, and the exit codes."""

import fcntl
import json
import os
from pathlib import Path

import pytest
from front_door import Bench, bench_words, captured
from load import printers
from load.audits import WRK as AUDITED
from load.audits import all_readers
from load.queues import Setup, simulate

from benchforge.cli.results.audit.finding import FALSE

RECORDED = Path(__file__).parents[1] / "outputs"
WRK = "wrk 4.2.0 [epoll] Copyright (C) 2012 Will Glozer\n" + AUDITED.format(mean="1.52s")
WRK = WRK.replace("61.41ms", " 1.61s")


def test_a_pasted_output_is_audited_and_what_is_not_stated_is_not_assumed() -> None:
    sure = captured(bench_words("audit", "-", "--pipeline", "1"), input=WRK)
    assert sure.returncode == 1
    assert "impossible: more requests were under way than the connections hold" in sure.stdout
    assert "Facts by you: pipeline 1" in sure.stdout
    done = captured(bench_words("audit", "-", "--details"), input=WRK)
    assert done.returncode == 0
    assert "unsupported: more requests were under way" in done.stdout
    assert "Rests on: 1 request at a time on a connection." in done.stdout
    assert "not stated: pipeline (--pipeline) and body (--body)" in done.stdout


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["empty.txt"], 2, "empty.txt: it is empty"),
        (["poem.txt"], 2, "poem.txt: no reader knows this content"),
        (["wrk.txt", "--as", "wrq"], 2, "no reader named 'wrq'"),
        (["wrk.txt", "--as", "ab"], 2, "wrk.txt: ab: no result in it"),
        (["poem.txt", "--as", "columns"], 2, "no column is named"),
        (["negative.csv", "--column", "requests=rps"], 1, "requests is -5"),
        (["cut.txt"], 2, "cut.txt: wrk: line 2: no line 'requests in' below it"),
        (["both.txt"], 0, "both.txt: h2load and wrk, 2 rows"),
        (["values.json"], 0, "Nothing is impossible"),
        (["alone.csv", "--column", "rate=rps"], 4, "nothing could be checked"),
        (["table.csv", "--column", "mean=avg:ms", "--column", "max=worst:ms"],
         1, "the mean, 9.5 ms, is more than the maximum, 8 ms"),
    ],
)  # fmt: skip
def test_exit_codes(bench: Bench, tmp_path: Path, words: list[str], code: int, says: str) -> None:
    (tmp_path / "wrk.txt").write_text(WRK)
    (tmp_path / "empty.txt").write_text("\n")
    (tmp_path / "poem.txt").write_text("so much depends\nupon\n")
    (tmp_path / "cut.txt").write_text("".join(WRK.splitlines(keepends=True)[:5]))
    (tmp_path / "both.txt").write_text(WRK + printers.h2load(simulate(Setup())))
    (tmp_path / "values.json").write_text(printers.hyperfine(simulate(Setup())))
    (tmp_path / "negative.csv").write_text("fw,rps\na,-5\n")
    (tmp_path / "alone.csv").write_text("fw,rps\na,12\n")
    (tmp_path / "table.csv").write_text("fw,avg,worst\na,9.5,8.0\nb,5.0,8.0\n")
    done = bench("audit", *words, code=code)
    assert says in done.all
    assert "hint: " in done.err or code != 2


def test_a_folder_is_read_whole(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "all" / "below").mkdir(parents=True)
    (tmp_path / "all" / "wrk.txt").write_text(WRK)
    (tmp_path / "all" / "notes.txt").write_text("nothing to see")
    (tmp_path / "all" / "below" / "ab.txt").write_text(printers.ab(simulate(Setup())))
    (tmp_path / "all" / "link.txt").symlink_to("/etc/passwd")
    done = bench("audit", "all", "--details")
    assert "all/wrk.txt: wrk, 1 row" in done.out
    assert "all/below/ab.txt: ab, 1 row" in done.out
    assert "passwd" not in done.out


@pytest.mark.parametrize("tool", ["wrk", "wrk2", "ab", "hey", "oha", "h2load"])
def test_recordings_of_real_tools_are_not_impossible(bench: Bench, tool: str) -> None:
    outputs = sorted((RECORDED / tool).glob("*/stdout.txt"))
    texts = {file: file.read_text() for file in outputs if file.stat().st_size}
    files = [f for f, text in texts.items() if any(r.claims(text) for r in all_readers())]
    assert files
    sources = json.loads(bench("audit", *files, "--json").out)["sources"]
    assert len(sources) > len(files) / 2
    wrong = [item for audit in sources for item in audit["findings"] if item["severity"] in FALSE]
    assert not wrong


def test_a_page_or_a_file_that_cannot_be_written_is_one_line(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "wrk.txt").write_text(WRK)
    (tmp_path / "file").write_text("")
    for option in ("--html", "--junit"):
        done = bench("audit", "wrk.txt", option, "file/below")
        assert "error: " in done.err
        assert "hint: choose another file" in done.err
        assert done.code not in {0, 1}


def test_a_device_stays_a_device(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "wrk.txt").write_text(WRK)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with os.fdopen(os.open(pipe, os.O_RDWR | os.O_NONBLOCK), "rb"):
        fcntl.fcntl(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK), fcntl.F_SETPIPE_SZ, 1 << 20)
        assert bench("audit", "wrk.txt", "--junit", "pipe").code == 0
        assert pipe.is_fifo()
