"""Tables of any form: the auditor names their columns, and states what they lack."""

import json
from pathlib import Path

import pytest
from front_door import Bench

FACTS = ("name=fw", "rate=rps:1/s", "mean=avg:ms", "max=worst:ms")
WORDS = [word for fact in FACTS for word in ("--column", fact)]
RECORDS = [
    {"fw": "good", "rps": 1200, "avg": 5.0, "worst": 8.0},
    {"fw": "false", "rps": 1100, "avg": 9.5, "worst": 8.0},
]
CSV = "fw,rps,avg,worst\ngood,1200,5.0,8.0\nfalse,1100,9.5,8.0\n"
MARKDOWN = """# Results

| fw        | rps   | avg    | worst  | notes |
|-----------|------:|-------:|-------:|-------|
| **good**  | 1,200 | 5.0    | 8.0 ms | n/a   |
| `false`   | 1.1k  | 9500us | 8.0    |       |
"""
FORMS = {
    "csv": CSV,
    "tsv": CSV.replace(",", "\t"),
    "markdown": MARKDOWN,
    "json": json.dumps(RECORDS, indent=1),
    "json in a table": json.dumps({"machine": {"cpus": 4}, "results": RECORDS}),
    "json by name": json.dumps({record["fw"]: {**record, "fw": None} for record in RECORDS}),
    "json lines": "".join(json.dumps(record) + "\n" for record in RECORDS),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_table_of_each_form_has_the_same_answer(bench: Bench, tmp_path: Path, form: str) -> None:
    (tmp_path / "t").write_text(FORMS[form])
    words = ["name=key" if form == "json by name" else word for word in WORDS[1:2]]
    done = bench("audit", "t", "--column", *words, *WORDS[2:], code=1)
    assert done.out.startswith("t: columns, 2 rows. 1 can stand. Withdraw or correct false.")
    assert "the mean, 9.5 ms, is more than the maximum, 8 ms." in done.out


def test_fields_of_fields_and_of_the_tables_above_are_columns(bench: Bench, tmp_path: Path) -> None:
    record = {"rps": 1000, "latency": {"p99.9": 2.0, "mean": 40}}
    (tmp_path / "t").write_text(json.dumps({"clients": 8, "runs": {"mine": record}}))
    facts = ("name=key", "connections=clients", "rate=rps:1/s", "mean=latency.mean:ms")
    words = [word for fact in facts for word in ("--column", fact)]
    done = bench("audit", "t", *words, "--column", "p99.9=latency.p99.9:ms", "--pipeline", "1")
    assert "1,000/s x 40 ms = 40 requests under way; 8 connections hold 8" in done.out, done.all
    assert "Withdraw or correct mine." in done.out


@pytest.mark.parametrize("loop", ["option", "column"])
def test_loop_connections_and_duration_are_options_or_columns(
    bench: Bench, tmp_path: Path, loop: str
) -> None:
    (tmp_path / "t").write_text("rps,avg,n,loop,conns,secs\n1000,1,10000,closed,64,10\n")
    facts = ["rate=rps:1/s", "mean=avg:ms", "requests=n"]
    columns = ["loop=loop", "connections=conns", "duration=secs:s"]
    words = [word for fact in facts for word in ("--column", fact)]
    if loop == "column":
        words += [word for fact in columns for word in ("--column", fact)]
    else:
        words += ["--loop", "closed", "--connections", "64", "--duration", "10s"]
    done = bench("audit", "t", *words)
    assert "most connections had no request under way, in a closed loop [AL2]" in done.out, done.all
    assert "1,000/s x 1 ms = 1 requests under way, on 64 connections" in done.out


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (CSV + "bad,12 %,1,2\n", "line 4: rps: '12 %' is not a number with a unit"),
        (CSV + "short,12\n", "line 4: 2 cells below 4 titles"),
        (MARKDOWN + "| bad | many | 1 | 2 | |\n", "line 7: rps: 'many' is not a number"),
        (FORMS["json lines"] + '{"fw": "cut", "rp', "line 3: Unterminated string"),
    ],
)
def test_a_row_that_cannot_be_read_is_named_beside_the_others(
    bench: Bench, tmp_path: Path, text: str, reason: str
) -> None:
    (tmp_path / "t").write_text(text)
    done = bench("audit", "t", *WORDS, code=2)
    assert f"not read: t: columns: {reason}" in done.err
    assert "t: columns, 2 rows. 1 can stand" in done.out


def test_a_column_that_no_record_has_is_named(bench: Bench, tmp_path: Path) -> None:
    for form in ("csv", "markdown", "json"):
        (tmp_path / "t").write_text(FORMS[form])
        done = bench("audit", "t", *WORDS, "--column", "p99=worse:ms", code=2)
        assert "not read: t: columns: the table: no column 'worse'; columns: " in done.err


def test_another_table_of_a_page_is_passed_over(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "t").write_text("| machine | cpus |\n|---|---|\n| a | 4 |\n\n" + MARKDOWN)
    done = bench("audit", "t", *WORDS, code=1)
    assert "passed over: t: columns: line 1: a table without avg or rps or worst" in done.err
    assert "2 rows" in done.out
