"""Outputs of the real tools: each has one reader, which takes the numbers that the tool printed."""

from pathlib import Path

import pytest
from load.audits import all_readers, audit, false, source

from benchforge.cli.plugins.examination.hostile import damages
from benchforge.parts.reader import Row

RECORDED = Path(__file__).parent / "recorded"
FILES = sorted(RECORDED.glob("*/*.*"))
READERS = {reader.name: reader for reader in all_readers()}
OF_FOLDER = {"vegeta/hdrplot.txt": "wrk2", "timers/pyperf.json": "pyperf"}
OF_FOLDER["timers/pytest_benchmark.json"] = "pytest_benchmark"
NOTHING = {"locust/empty_stats.csv"}
"No request ended in that second."


def named(file: Path) -> str:
    return str(file.relative_to(RECORDED))


def rows_of(name: str) -> list[Row]:
    file = RECORDED / name
    (reader,) = (item for item in all_readers() if item.claims(source(file.read_bytes()).head))
    return list(reader.rows(source(file.read_bytes(), name)))


def test_there_are_recordings_of_each_tool() -> None:
    assert {file.parent.name for file in FILES} == {
        *("autocannon", "bombardier", "jmeter", "k6", "locust", "timers", "vegeta")
    }


@pytest.mark.parametrize("file", FILES, ids=named)
def test_a_real_output_is_read_and_nothing_is_false(file: Path) -> None:
    name = named(file)
    claims = [item.name for item in all_readers() if item.claims(source(file.read_bytes()).head)]
    assert claims == [OF_FOLDER.get(name, file.parent.name)]
    audited = audit(file.read_text(), name=name)
    assert not false(audited), false(audited)
    assert bool(audited.checked) == (name not in NOTHING)


@pytest.mark.samples(3)
@pytest.mark.parametrize("file", FILES, ids=named)
def test_a_damaged_output_is_an_error_with_its_place(file: Path) -> None:
    reader = READERS[OF_FOLDER.get(named(file), file.parent.name)]
    for _, damaged in damages(file.read_bytes()[:8_000]):
        try:
            list(reader.rows(source(damaged)))
        except ValueError as error:
            assert "\n" not in str(error)[:200]  # noqa: PT017


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        (
            "bombardier/timed.json",
            {"requests": 19213, "duration": 1.999725401, "mean": 830.1417790037995e-6}
            | {"p99": 7868e-6, "bytes": 2612968, "failed": 0, "connections": 8},
        ),
        (
            "bombardier/timed.txt",
            {"requests": 28109, "mean": 567.9e-6, "sd": 1.36e-3, "max": 25.92e-3, "p50": 334e-6},
        ),
        ("bombardier/refused.txt", {"requests": 12477, "failed": 12477, "max": 41.56e-3}),
        ("bombardier/rate.json", {"requests": 100, "connections": 4}),
        (
            "vegeta/mixed.json",
            {"requests": 120, "failed": 80, "status_total": 120, "success": 1 / 3}
            | {"p99": 4807680e-9, "wait": 337449e-9, "good_rate": 20.169175768858118},
        ),
        ("vegeta/mixed.txt", {"requests": 120, "failed": 80, "rate": 60.52, "max": 5.912e-3}),
        ("vegeta/hdrplot.txt", {"min": 0.231492e-3, "p50": 0.376371e-3, "p90": 2.010117e-3}),
        (
            "autocannon/closed.json",
            {"requests": 1925, "duration": 2.06, "mean": 7.87e-3, "sd": 11.7e-3, "samples": 1925}
            | {"p0.001": 0, "p99.9": 0.167, "pipeline": 1, "bytes": 261800},
        ),
        ("autocannon/missing-pipelined.json", {"pipeline": 4, "connections": 4}),
    ],
)
def test_the_numbers_are_those_that_the_tool_printed(name: str, facts: dict[str, float]) -> None:
    (row,) = rows_of(name)
    assert {fact: row.facts[fact].value for fact in facts} == pytest.approx(facts)


def test_locust_has_a_row_of_each_name_and_their_total() -> None:
    home, missing, total = rows_of("locust/mixed_stats.csv")
    assert (home.name, missing.name, total.name) == ("GET /", "GET /missing", "Aggregated")
    assert missing.facts["failed"].value == 91
    assert total.facts["requests"].value == 355
    assert total.facts["p99"].value == pytest.approx(0.034)


@pytest.mark.parametrize("name", ["mixed.csv.jtl", "mixed.xml.jtl", "parent.xml.jtl"])
def test_jmeter_has_the_same_requests_as_csv_and_as_xml(name: str) -> None:
    rows = {row.name: row.facts for row in rows_of(f"jmeter/{name}")}
    assert rows.keys() == {"home", "missing", "slow"}
    assert {row["requests"].value for row in rows.values()} == {40}
    assert rows["missing"]["failed"].value == 40
    assert rows["slow"]["min"].low >= 0.019
    assert rows["home"]["connects"].low <= 40
    assert rows["home"]["bytes"].value == 40 * 136


def test_timers_list_their_times() -> None:
    rows = [*rows_of("timers/pyperf.json"), *rows_of("timers/pytest_benchmark.json")]
    assert [row.name.rpartition(":")[2] for row in rows] == [
        *("sort", "reverse", "test_sort", "test_sum")
    ]
    assert all(len(row.times) > 2 for row in rows)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('<!DOCTYPE x [<!ENTITY a "b">]><testResults>&a;</testResults>', "line 1: a document type"),
        ("<testResults>\n" + "<a>\n" * 5000, "line 101: more than 100 elements"),
        ('<testResults>\n<httpSample t="1" ts="x"/></testResults>', "line 2: timeStamp: 'x'"),
        ("<testResults>\n<httpSample", "line 2: unclosed token"),
        ('<testResults><httpSample t="1" t="2"/>', "line 1: duplicate attribute"),
    ],
)
def test_hostile_xml_is_an_error_with_its_line(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        list(READERS["jmeter"].rows(source(text)))
