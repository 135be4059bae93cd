"""Results as leaderboards store them: logs of one load, YAML, tables in folders, coarse times."""

import json
import shlex
from pathlib import Path

import pytest
from front_door import Bench

LOAD = {"rate": "rps:1/s", "requests": "total", "duration": "secs:s", "connections": "users"}
LOAD |= {fact: f"{fact}:us" for fact in ("mean", "p50", "p99", "max")}


def columns(**facts: str) -> list[str]:
    return [word for fact, title in facts.items() for word in ("--column", f"{fact}={title}")]


def progress(rates: list[int], users: int = 0) -> str:
    """Return a line for each second of a load: sums, and the rate of that second."""
    lines, total = [], 0
    for second, rate in enumerate(rates):
        total += rate
        times = {"mean": 362.5, "p50": 0, "p99": 1000, "max": 3000}
        counts = {"rps": rate, "total": total, "users": users or second}
        lines.append(json.dumps({"secs": second, **counts, **times}))
    return "\n".join(lines) + "\n"


RISING = [0, 100, 300, 600, 900, 1000, 1100, 1000]


def test_progress_of_one_load_is_one_row(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "raw.jsonl").write_text(progress(RISING))
    done = bench("audit", "raw.jsonl", *columns(**LOAD), "--duration", "7s", code=0)
    assert done.out.startswith("raw.jsonl: columns, 1 row. No row contradicts itself.")
    assert "line 1: 7 rows are the progress of one load, the last row its result; " in done.err
    assert "connections (--connections, 1 row)" in done.out  # they changed


def test_connections_that_stay_are_those_of_the_load(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "raw.jsonl").write_text(progress(RISING, users=8))
    assert "connections (--conn" not in bench("audit", "raw.jsonl", *columns(**LOAD), code=0).out


@pytest.mark.parametrize(
    "rates", [RISING[:5], [rate + 300 for rate in RISING], [1000, 1500, 900, 400, 300, 200, 100]]
)
def test_loads_of_rising_durations_are_rows_of_their_own(
    bench: Bench, tmp_path: Path, rates: list[int]
) -> None:
    rows = [f"{number},{rate},{number * 1000}" for number, rate in enumerate(rates, 1)]
    (tmp_path / "t.csv").write_text("\n".join(["secs,rps,total", *rows]) + "\n")
    facts = columns(rate="rps:1/s", requests="total", duration="secs:s")
    assert f"t.csv: columns, {len(rates)} rows." in bench("audit", "t.csv", *facts, code=1).out


@pytest.mark.parametrize(
    ("times", "code"),
    [
        ("362.5,0,0,1000,5000", 0),  # whole ms, written in us
        ("362500,0,0,1000000,5000000", 0),
        ("362.5,0,0,900,5000", 1),
        ("7000.5,0,0,1000,5000", 1),  # a ms more does not explain it
    ],
)
def test_times_of_whole_milliseconds_have_their_step(
    bench: Bench, tmp_path: Path, times: str, code: int
) -> None:
    (tmp_path / "t.csv").write_text(f"mean,p50,p90,p99,max,n\n{times},9000\n")
    facts = {fact: f"{fact}:us" for fact in ("mean", "p50", "p90", "p99", "max")}
    done = bench("audit", "t.csv", *columns(**facts, requests="n"), code=code)
    assert ("[AM" in done.out) == bool(code), done.out


def test_the_rate_of_the_best_seconds_is_not_that_of_the_load(bench: Bench, tmp_path: Path) -> None:
    """A field of YAML is a column; a file of another kind beside it is passed over."""
    for name, rate in (("a", 1000), ("b", 1100)):
        (tmp_path / "data" / name).mkdir(parents=True)
        text = f"framework: {name}\nrps: {rate}.5\ntotal: 240120\nerrors: {{}}\nbelow:\n  rps: 3\n"
        (tmp_path / "data" / name / "result.yaml").write_text(text)
        (tmp_path / "data" / name / "manifest.yaml").write_text("version: 3\n")
    facts = columns(name="framework", rate="rps:1/s", requests="total")
    done = bench("audit", "data", *facts, "--duration", "240s", code=1)
    assert "2 sources: columns, 2 rows. 1 can stand. Withdraw or correct b of b/res" in done.out
    assert "240,120 requests / 240 s = 1,000.5/s, but the row has 1,100.5/s" in done.out
    assert "or the rate were called that of a part of it" in " ".join(done.out.split())
    assert done.err.count("manifest.yaml: no reader knows this content") == 2


def test_a_column_that_some_files_lack_is_named_and_one_that_all_lack_is_an_error(
    bench: Bench, tmp_path: Path
) -> None:
    (tmp_path / "all").mkdir()
    (tmp_path / "all/a.csv").write_text("rps,total,secs\n1000,10000,10\n")
    (tmp_path / "all/b.csv").write_text("rps,total\n1000,10000\n")
    facts = columns(rate="rps:1/s", requests="total", duration="secs:s")
    done = bench("audit", "all", *facts, code=0)
    assert "passed over: 1 of 2 files: the table: no column 'secs'" in done.err
    done = bench("audit", "all", *facts, *columns(name="who"), code=2)
    assert "not read: the table: no column 'who' in any file" in done.err


def test_rows_without_names_and_tables_of_other_names_are_no_sittings(
    bench: Bench, tmp_path: Path
) -> None:
    for folder, noise in (("a", 0), ("b", 7)):
        (tmp_path / "all" / folder).mkdir(parents=True)
        for test, step in (("json", 2), ("plain", 9)):
            rates = [1000 + number * step + number * noise % 13 for number in range(30)]
            rows = [f"framework {number},{rate}" for number, rate in enumerate(rates)]
            text = "\n".join(["framework,rps", *rows]) + "\n"
            (tmp_path / "all" / folder / f"{test}.csv").write_text(text)
    rate, name = columns(rate="rps:1/s"), columns(name="framework")
    assert "[AN3]" not in bench("audit", "all", *rate, "--all").out
    assert bench("audit", "all", *rate, *name, "--all").out.count("[AN3]") == 2
    (tmp_path / "all/a/json.csv").unlink()
    (tmp_path / "all/b/plain.csv").unlink()
    assert "[AN3]" not in bench("audit", "all", *rate, *name, "--all").out


def test_a_row_without_a_number_is_named(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("framework,rps\nfast,1000\nbroken,N/A\n")
    done = bench("audit", "t.csv", *columns(name="framework", rate="rps:1/s"), code=4)
    assert "t.csv: columns, 1 row." in done.out
    assert "passed over: t.csv: columns: line 3: no number in its columns" in done.err


RECORDS = [{"name": "0fast", "version": "5.1.0", "requests": "1000.5", "latency": "7.5"}]
TABLES = {
    "results.json": json.dumps(RECORDS),
    "README.md": "# It\n\n|  | Requests/s | Latency (ms) |\n| :-- | :-: | --: |\n| a | 9.0 | 1 |\n",
    "table.csv": "framework,req/s,avg latency\na,1000,7.5\n",
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("path", ["", "."])
def test_the_error_of_a_table_prints_the_command_that_reads_it(
    bench: Bench, tmp_path: Path, name: str, path: str
) -> None:
    (tmp_path / "package.json").write_text('{"name": "it", "request": "launch", "rate": null}')
    (tmp_path / name).write_text(TABLES[name])
    refused = bench("audit", path or name, code=2)
    assert "name its columns, with the unit of times: " in refused.err
    program, *words = shlex.split(refused.err.partition("unit of times: ")[2])
    assert program == "benchforge"
    assert ": columns, 1 row. No row contradicts itself." in bench(*words).out


LONG = 1 << 20


@pytest.mark.parametrize(
    "text", ["|" * LONG, "|-" * LONG, f"|{' ' * LONG}\n---|\n", '"a" ' * LONG, "{" + '"a": ' * LONG]
)
def test_columns_of_a_hostile_text_are_looked_for_in_bounded_time(
    bench: Bench, tmp_path: Path, text: str
) -> None:
    (tmp_path / "t").write_text(text)
    assert "name its reader with --as: " in bench("audit", "t", code=2).err


def test_the_rate_of_requests_that_all_failed_is_0(bench: Bench, tmp_path: Path) -> None:
    summary = {"successRate": 0, "total": 10.0, "requestsPerSec": 8904.0, "slowest": None}
    errors = {"Connection refused (os error 111)": 89040}
    document = {"summary": summary, "statusCodeDistribution": {}, "errorDistribution": errors}
    (tmp_path / "oha.json").write_text(json.dumps(document))
    done = bench("audit", "oha.json", code=0)
    assert "89,040 of 89,040, which the rate counts." in done.out
    assert "True if the row said that the server answered nothing." in done.out
    assert "Publish instead: 0/s, not 8,904/s (summary)." in done.out


@pytest.mark.parametrize(("failed", "length", "finds"), [(0, 39, 1), (0, 13, 0), (9, 39, 0)])
def test_bodies_of_another_length_than_the_right_one(
    bench: Bench, tmp_path: Path, failed: int, length: int, finds: int
) -> None:
    total = 10000 * length + failed
    summary = {"total": 10.0, "requestsPerSec": (10000 + failed) / 10, "totalData": total}
    codes = {"200": 10000} | ({"404": failed} if failed else {})
    document = {"summary": {"successRate": 1, **summary}, "statusCodeDistribution": codes}
    (tmp_path / "oha.json").write_text(json.dumps(document))
    done = bench("audit", "oha.json", "--body", "13", code=0)
    assert done.out.count("10,000 bodies have 39 B each, not 13 B.") == finds
    assert done.out.count("responses have another length than the right one [AB2]") == finds


def test_a_rate_of_0_is_no_result(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("framework,rps\ngood,1000\nbroken,0.00\n")
    done = bench("audit", "t.csv", *columns(name="framework", rate="rps:1/s"))
    assert "unsupported: no request ended [AZ1]\n  broken, line 3\n    rate 0." in done.out


def test_the_largest_response_comes_first_and_names_its_source(
    bench: Bench, tmp_path: Path
) -> None:
    sizes = {"plain": 187, "long": 389, "huge": 12065, "same": 190}
    rows = [f"{name},1000,{size * 1000}" for name, size in sizes.items()]
    (tmp_path / "t.csv").write_text("\n".join(["framework,rps,bps", *rows]) + "\n")
    facts = columns(name="framework", rate="rps:1/s", byte_rate="bps:B/s")
    done = bench("audit", "t.csv", *facts)
    assert "[AB4]\n  huge, line 4\n    12.1 kB a response; the median of 4 rows of the" in done.out


def test_autocannon_names_a_load_by_its_title(bench: Bench, tmp_path: Path) -> None:
    """The shape of autocannon's result object, as programs store it; the numbers are made up."""
    latency = {"average": 9.9, "mean": 9.9, "stddev": 2.5, "min": 1, "max": 60, "p50": 9, "p99": 17}
    document = {
        "title": "fast",
        "url": "http://127.0.0.1:3000",
        "connections": 100,
        "pipelining": 10,
        "duration": 40.02,
        "errors": 0,
        "timeouts": 0,
        "non2xx": 0,
        "2xx": 4000000,
        "latency": {**latency, "totalCount": 4000000},
        "requests": {"average": 100000, "total": 4000000, "sent": 4001000},
        "throughput": {"total": 748000000},
        "server": "fast",
    }
    for number, title in enumerate(("fast", "slow")):
        document["title"] = title
        (tmp_path / f"{number}.json").write_text(json.dumps(document))
    done = bench("audit", "0.json", "1.json", code=0)
    assert done.out.startswith("2 sources: autocannon, 2 rows. No row contradicts itself.")
    document["latency"] = {**latency, "mean": 99.9}
    (tmp_path / "1.json").write_text(json.dumps(document))
    done = bench("audit", ".", code=1)
    assert "Withdraw or correct slow of 1.json." in done.out
