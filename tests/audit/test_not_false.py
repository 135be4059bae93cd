"""Results that a tool can print: no finding of them is false, and what is wrong is not silent."""

import re
from pathlib import Path

import pytest
from front_door import Bench
from load import printers
from load.audits import WRK, all_readers, audit, false, source
from load.queues import Setup, simulate

from benchforge.plugin import Fact

LATE = """Requests      [total, rate, throughput]         100, 20.20, 8.80
Duration      [total, attack, wait]             10.9s, 4.95s, {wait}
Latencies     [min, mean, 50, 90, 95, 99, max]  60ms, 700ms, 120ms, 460ms, 6.001s, 8.002s, 8.009s
Success       [ratio]                           96.00%
Status Codes  [code:count]                      0:4  200:96
"""
OLD = """Running 15s test @ http://127.0.0.1:9080/json
  8 threads and 8 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.32s   561.35ms   1.68s    84.81%
    Req/Sec   175.95    449.52     2.10k    86.92%
  24006 requests in 15.61s, 4.48MB read
Requests/sec:   1537.86
Transfer/sec:    293.90KB
"""
ONE = {"pipeline": Fact(1.0, origin="by the auditor")}
CONNECTIONS = {"connections": Fact(8.0, origin="by the auditor")}


def claims(text: str) -> list[str]:
    return [reader.name for reader in all_readers() if reader.claims(source(text).head)]


@pytest.mark.parametrize("words", ["wrk2 uses HdrHistogram", "Latency: see HdrHistogram.", "wrk2"])
def test_a_word_on_a_page_names_no_tool(words: str) -> None:
    page = f"# {words}\n\n```\n{WRK.format(mean='80.52ms')}```\n"
    assert claims(page) == ["wrk"]
    assert {finding.code for finding in false(audit(page))} == {"AM1", "AV1"}


def test_wrk2_is_known_by_its_lines_even_without_its_histogram() -> None:
    calibrated = "  Thread calibration: mean lat.: 1.2ms, rate sampling interval: 10ms\n"
    lines = WRK.format(mean="8.52ms").splitlines(keepends=True)
    assert claims("".join([*lines[:2], calibrated, *lines[2:]])) == ["wrk2"]


def test_a_response_may_come_in_the_wait_after_an_attack() -> None:
    assert not false(audit(LATE.format(wait="5.95s")))
    (finding,) = (
        finding for finding in false(audit(LATE.format(wait="50ms"))) if finding.code == "AT1"
    )
    assert "load of 4.95 s and a wait of 50 ms" in finding.identity


@pytest.mark.parametrize(
    ("line", "severities"),
    [
        ("", ["unsupported"]),
        ("wrk 4.2.0 [epoll] Copyright (C) 2012 Will Glozer\n", ["impossible"]),
        ("wrk debian/4.1.0-3build1 [epoll]\n", ["impossible"]),
        ("wrk 3.1.2 [epoll] Copyright (C) 2012 Will Glozer\n", []),
    ],
)
def test_the_samples_of_an_older_wrk_bound_no_rate(line: str, severities: list[str]) -> None:
    findings = [finding for finding in audit(line + OLD, ONE).findings if finding.code == "AL1"]
    assert [finding.severity for finding in findings] == severities
    assert all(("wrk 4 or later" in finding.rests_on) == (not line) for finding in findings)


@pytest.mark.parametrize(("tool", "severity"), [("hey", "impossible"), ("oha", "unsupported")])
def test_a_worker_sends_one_request_at_a_time(tool: str, severity: str) -> None:
    text = printers.CLOSED[tool](simulate(Setup(connections=64, workers=64)))
    (finding,) = (finding for finding in audit(text, CONNECTIONS).findings if finding.code == "AL1")
    assert finding.severity == severity
    assert finding.rests_on.startswith("8 connections, by the auditor")
    assert ("as oha spoke HTTP/1.1" in finding.rests_on) == (tool == "oha")


def test_hey_has_no_mean_of_more_responses_than_it_keeps() -> None:
    text = printers.hey(simulate(Setup()))
    many = re.sub(r"(\[200\]\s+)\d+ responses", r"\g<1>1000000 responses", text)
    (few,), (most,) = (audit(output).rows for output in (text, many))
    assert "mean" in few.facts
    assert "mean" not in most.facts


@pytest.mark.parametrize("tool", ["hey", "oha"])
def test_a_summary_without_its_statuses_has_no_number_of_requests(tool: str) -> None:
    text = printers.hey(simulate(Setup())).partition("Status code")[0]
    text = text.replace("Summary:", "Summary:\n  Success rate:\t100.00%") if tool == "oha" else text
    audited = audit(text, CONNECTIONS)
    assert audited.reader == tool
    assert not {"requests", "samples", "failed"} & audited.rows[0].facts.keys()
    assert not [finding for finding in audited.findings if finding.code == "AZ1"]


def test_the_bound_of_a_mean_counts_the_pipeline_and_names_it() -> None:
    four = {"pipeline": Fact(4.0, origin="by the auditor")}
    short, long = WRK.format(mean="20.52ms"), WRK.format(mean="40.52ms")
    (plain,) = (finding for finding in audit(short).findings if finding.code == "AL5")
    assert "or each connection had 3.65 requests under way" in plain.true_if
    (piped,) = (finding for finding in audit(long, four).findings if finding.code == "AL5")
    assert "64 connections x 4 requests / 11,393.7/s = 22.5 ms" in piped.identity
    assert "under way" not in piped.true_if


def test_a_total_of_one_row_is_no_copy(bench: Bench, tmp_path: Path) -> None:
    titles = "Type,Name,Request Count,Failure Count,Average Response Time,Requests/s,99%\n"
    numbers = "1270,0,13.4,21.2001,51\n"
    (tmp_path / "a_stats.csv").write_text(f"{titles}GET,/a,{numbers},Aggregated,{numbers}")
    assert bench("audit", "a_stats.csv").code == 0
