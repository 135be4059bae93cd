"""The page of an audit in a real browser, and its checks as JUnit's XML."""

import fcntl
import os
import xml.etree.ElementTree as ET
from pathlib import Path

from browser import Headless
from front_door import Bench

WRK = """Running 30s test @ http://127.0.0.1:8080/<script>alert(1)</script>
  2 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.52s   102.13ms   1.61s    93.02%
    Req/Sec     5.20k   512.01     6.10k    70.00%
  312040 requests in 30.02s, 42.11MB read
Requests/sec:  10394.40
Transfer/sec:      1.40MB
"""
LOCUST = Path(__file__).parent / "recorded/locust/mixed_stats.csv"


def test_the_page_has_each_finding_and_loads_nothing(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "wrk.txt").write_text(WRK)
    page = tmp_path / "audit.html"
    done = bench("audit", "wrk.txt", str(LOCUST), "--pipeline", "1", "--html", str(page))
    assert done.code == 1, done.all
    assert f"written to {page}" in done.err
    with Headless() as headless:
        for width in (400, 1400):
            with headless.visit(page, width) as visit:
                assert (visit.messages, visit.sideways()) == ([], 0)
                assert visit.requests == [page.as_uri()]
                answer = visit.page.locator("#answer").inner_text()
                assert "impossible\n1" in answer
                assert "Facts by the auditor: pipeline 1" in answer
                first = visit.page.locator("#source-1 .cause").first
                assert "more requests were under way" in first.inner_text()
                assert "AL1, 1 time" in first.inner_text()
                assert "10,394.4/s x 1.52 s = " in first.inner_text()
                assert "<script>alert(1)" in first.inner_text()
                second = visit.page.locator("#source-2")
                assert "locust, 3 rows" in second.inner_text()
                assert second.locator("details[open]").count() == 0


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


def test_each_check_is_a_test(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "wrk.txt").write_text(WRK)
    done = bench("audit", "wrk.txt", str(LOCUST), "--pipeline", "1", "--junit", "out/junit.xml")
    assert done.code == 1, done.all
    root = ET.parse(tmp_path / "out/junit.xml").getroot()  # noqa: S314 - it is ours
    wrk, locust = root
    assert wrk.get("name") == "wrk.txt (wrk)"
    assert (root.get("failures"), wrk.get("failures"), locust.get("failures")) == ("1", "1", "0")
    (failure,) = wrk.iter("failure")
    assert failure.get("type") == "impossible"
    assert "line 1: 10,394.4/s x 1.52 s" in (failure.text or "")
    skipped = [case.get("name") or "" for case in locust if case.find("skipped") is not None]
    assert [name[:3] for name in skipped] == ["AE1", "AK1"]
    assert {case.get("name") for case in locust} >= {"AC6", "AP1", "AM1"}
    assert int(root.get("tests", "")) == len(wrk) + len(locust)
