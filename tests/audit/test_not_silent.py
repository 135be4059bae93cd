"""What is not read and what is not asked is named, with its reason."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from front_door import Bench
from hypothesis import given, settings
from hypothesis import strategies as st
from load import printers
from load.audits import WRK, all_readers, audit, source
from load.queues import Setup, Simulated, simulate

from benchforge.cli.results.audit.audited import CHECKS, Audited, audited
from benchforge.cli.results.audit.facts import is_percentile

GOOD = WRK.format(mean="5.52ms")
K6 = """     http_req_duration..............: avg=20ms min=1ms med=18ms max=90ms p(90)=30ms
     http_reqs......................: 6000  100.0/s
     iteration_duration.............: avg=1.02s min=1.01s med=1.02s max=1.05s p(90)=1.03s
     iterations.....................: 6000  100.0/s
"""
USERS = "     vus_max........................: 10  min=10 max=10\n"


def test_each_summary_of_k6_is_a_row_of_its_own_facts() -> None:
    audited = audit(f"{K6}\n{K6.replace('6000  100.0/s', '600  10.0/s')}{USERS}")
    assert [row.facts["requests"].value for row in audited.rows] == [6000, 600]
    assert ["users" in row.facts for row in audited.rows] == [False, True]
    assert not audited.findings or {finding.severity for finding in audited.findings} == {"unknown"}


CANNON = Path(__file__).parent / "recorded/autocannon/closed.txt"
TOOLS: dict[str, Callable[[Simulated], str]] = {
    **printers.CLOSED,
    "vegeta": printers.vegeta,
    "autocannon_text": lambda _: CANNON.read_text(),
}


@pytest.mark.parametrize(
    "tool", ["wrk", "ab", "hey", "h2load", "vegeta", "oha", "autocannon", "autocannon_text", "k6"]
)
def test_a_cut_output_of_each_tool_is_named_between_the_others(
    bench: Bench, tmp_path: Path, tool: str
) -> None:
    text = TOOLS[tool](simulate(Setup(rate=100.0 if tool == "vegeta" else None))).strip() + "\n"
    lines = text.splitlines(keepends=True)
    cut = "".join(lines[: len(lines) // 4]) or text[: len(text) // 2]
    (tmp_path / "log.txt").write_text(f"{text}{cut}\n{text}")
    done = bench("audit", "log.txt", "--details", "--connections", "8")
    assert f"log.txt: {tool.removesuffix('_text')}, 2 rows" in done.out, done.all
    assert done.code == 2
    assert done.err.count("not read: ") == 1


def test_a_cut_line_of_samples_is_named(bench: Bench, tmp_path: Path) -> None:
    for tool, name in (("jmeter", "a.jtl"), ("locust", "a_stats.csv")):
        text = printers.CLOSED[tool](simulate(Setup()))
        (tmp_path / name).write_text(text + text.splitlines()[-1][:10])
        done = bench("audit", name, code=2)
        assert f"not read: {name}: {tool}: line " in done.err
        assert " cells below " in done.err


def test_of_many_files_that_nobody_reads_some_are_named_and_json_names_all(
    bench: Bench, tmp_path: Path
) -> None:
    (tmp_path / "all/.git").mkdir(parents=True)
    (tmp_path / "all/.git/wrk.txt").write_text(GOOD)
    for number in range(2):
        (tmp_path / f"all/wrk{number}.txt").write_text(GOOD)
    names = [f"all/{number}.txt" for number in range(9)]
    for name in names:
        (tmp_path / name).write_text("nothing to see" if name != names[0] else "")
    done = bench("audit", "all", code=0)
    some = "all/0.txt, all/1.txt, all/2.txt, and 6 more; --json has the reasons"
    assert done.err == f"passed over: {some}\n"
    assert done.out.startswith("2 sources: wrk, 2 rows.")
    assert "Passed over: 9, --json names them with the reasons." in done.out
    document = json.loads(bench("audit", "all", "--json", code=0).out)
    assert [reason.partition(": ")[0] for reason in document["passed_over"]] == names


@pytest.mark.parametrize("prefix", ["> ", "    ", "# ", "// ", "\t", "> > "])
def test_an_output_stands_anywhere_in_a_text(prefix: str) -> None:
    quoted = "".join(prefix + line for line in GOOD.splitlines(keepends=True))
    for text in (quoted, f"words\n\n{quoted}\nmore words\n"):
        (reader,) = (reader for reader in all_readers() if reader.claims(source(text).head))
        (row,) = reader.rows(source(text))
        (plain,) = reader.rows(source(GOOD))
        assert {name: fact.value for name, fact in row.facts.items()} == {
            name: fact.value for name, fact in plain.facts.items()
        }


@pytest.mark.parametrize(
    ("row", "code", "says"),
    [
        ("1000,10,5000,,4", "AE1", "5,000 of 10,000 failed"),
        ("0,10,0,0,4", "AZ1", "requests 0"),
        ("1000,10,0,10000,0.0000000", "AZ1", "mean 0 s, of 10,000 requests"),
    ],
)
def test_what_follows_from_other_facts_is_not_silent(
    bench: Bench, tmp_path: Path, row: str, code: str, says: str
) -> None:
    (tmp_path / "t.csv").write_text(f"rps,secs,bad,n,avg\n{row}\n")
    facts = ("rate=rps:1/s", "duration=secs:s", "failed=bad", "requests=n", "mean=avg:ms")
    done = bench("audit", "t.csv", *(word for fact in facts for word in ("--column", fact)))
    assert f"[{code}]" in done.out
    assert says in done.out


LOGS = {
    "UTF-16": GOOD.encode("utf-16"),
    "UTF-16 of Windows": GOOD.replace("\n", "\r\n").encode("utf-16"),
    "ANSI": "".join(f"\x1b[1m{line}\x1b[0m\n" for line in GOOD.splitlines()).encode(),
}
for prefix in (
    *("2026-11-27T10:00:01.123Z ", "[2026/11/27 10:00:01] ", "10:00:01.123 ", "load-wrk-1  | "),
    *("Nov  7 10:00:01 host wrk[12]: ", "2026-11-27T10:00:01.123456789Z stdout F "),
):
    LOGS[prefix] = "".join(f"{prefix}{line}\n" for line in GOOD.splitlines()).encode()


@pytest.mark.parametrize("log", LOGS.values(), ids=LOGS)
def test_the_encoding_and_the_log_around_an_output_change_nothing(
    bench: Bench, tmp_path: Path, log: bytes
) -> None:
    (tmp_path / "a.txt").write_text(GOOD)
    (tmp_path / "b.txt").write_bytes(log)
    plain, wrapped = (json.loads(bench("audit", file, "--json").out) for file in ("a.txt", "b.txt"))
    plain["sources"][0]["source"] = "b.txt"
    assert wrapped == plain


FULL = [
    reader(simulate(Setup(duration_s=0.3, rate=100.0 if name in printers.OPEN else None)))
    for name, reader in {**printers.CLOSED, **printers.OPEN}.items()
    if name in {"wrk", "bombardier", "ab", "vegeta", "k6"}
]
CHECKED = {check.code for check in CHECKS}


@given(st.sampled_from(FULL), st.data())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_a_check_speaks_or_is_listed_with_what_it_lacks(text: str, data: st.DataObject) -> None:
    audited_ = audit(text)
    (row,) = audited_.rows
    removed = data.draw(st.sets(st.sampled_from(sorted(row.facts))))
    facts = {name: fact for name, fact in row.facts.items() if name not in removed}
    fewer = audited("any", "any", [replace(row, facts=facts)], {})

    def spoke(result: Audited) -> set[str]:
        return {finding.code for finding in result.findings} | result.held.keys()

    tables = {check.code for check in CHECKS if check.scope == "table"}
    assert spoke(fewer) | fewer.not_asked.keys() | tables >= CHECKED - {"AC7"}
    gone = {"percentiles" if is_percentile(name) else name for name in removed}
    for code in (spoke(audited_) - spoke(fewer)) & CHECKED:
        assert fewer.not_asked[code].keys() & gone, code
