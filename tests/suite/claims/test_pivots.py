"""The tables that a suite draws of its cases: judged at load, and drawn in every form."""

import csv
import io
import itertools
import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from benchforge_reporters.csv import Csv, records
from benchforge_reporters.html.report import Html
from benchforge_reporters.markdown import Markdown
from benchforge_reporters.terminal.report import Terminal
from benchforge_reporters.text.pivots import pivot_table
from front_door import Bench, answering, needed
from hypothesis import given
from hypothesis import strategies as st
from made import plain
from pydantic import JsonValue
from suite_texts.files import suite_text

from benchforge.model.suite.pivot import Pivot, crowded
from benchforge.model.summary.summary import CaseSummary, FailedTrial, MetricSummary, Summary
from benchforge.model.trial.sample import Sample
from benchforge.model.trial.trial import Failure
from benchforge.parts.registry import Registry
from benchforge.suite.load import load
from benchforge.suite.toml.faults import SuiteErrors

SUITE = suite_text("suite/claims/pivots", answering=answering())


def test_where_keeps_the_cases_of_its_values(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    text = SUITE.replace('"server", "driver"', '"driver"')
    path.write_text(text + 'where = { server = ["other"] }\n')
    pivot = load(path, Registry()).tables["one"]
    assert pivot.where == {"server": ("other",)}
    assert (pivot.rows, pivot.columns[0]) == (("path.size",), "driver")
    assert Pivot.model_validate_json(pivot.model_dump_json()) == pivot


def line(
    *values: float, unit: str = "s", bound: bool = False, estimator: str | None = None
) -> MetricSummary:
    same: dict[str, Any] = {"metric": "wall", "unit": unit, "estimator": estimator}
    samples = [Sample(value=value, lower_bound=bound, **same) for value in values]
    ordered = sorted(values)
    fields = {"median": ordered[len(values) // 2], "lowest": ordered[0], "highest": ordered[-1]}
    return plain.line(
        "wall",
        unit,
        better="lower",
        estimator=estimator,
        samples=plain.samples(dict(enumerate(samples, 1))),
        mean=sum(values) / len(values),
        sd=None if len(values) == 1 or bound else ordered[-1] - ordered[0],
        lower_bound=bound,
        **fields,
    )


def case(*lines: MetricSummary, failed: str = "", trials: int = 3, **named: Any) -> CaseSummary:
    fields = {"server": "nginx", "scenario": "sizes", "driver": "pycurl", "digest": "d"}
    failure = Failure(stage="start", message=failed or "-")
    trial = FailedTrial(trial=1, block=1, attempt=1, failure=failure)
    return plain.case(
        plain.named(**fields | named),
        *lines,
        trials=0 if failed else trials,
        planned=3,
        failed=(trial,) if failed else (),
    )


def result(pivot: Pivot, *cases: CaseSummary) -> Summary:
    return plain.summary(*cases, tables={"sizes": pivot})


def pivot(**changes: Any) -> Pivot:
    options = {"scenarios": ("sizes",), "rows": ("path.size",), "metrics": ("wall",)}
    return Pivot.model_validate(options | changes)


TLS = "servers.*.tls"
SIDE_BY_SIDE = result(
    pivot(title="seconds by size", columns=(TLS, "driver")),
    *(
        case(line(wall, wall / 2, wall * 2), driver=driver, vary={"path.size": size, TLS: tls})
        for number, (size, tls, driver) in enumerate(
            itertools.product((4, 65536), (False, True), ("pycurl", "requests"))
        )
        for wall in [float(number + 1)]
        if number not in {3, 6}
    ),
    case(driver="pycurl", vary={"path.size": 65536, TLS: True}, failed="it died"),
)


def read(summary: Summary) -> list[list[str]]:
    """The table's CSV, written and read again."""
    text = io.StringIO(newline="")
    csv.writer(text).writerows(records(summary.tables["sizes"], summary.cases))
    return list(csv.reader(io.StringIO(text.getvalue(), newline=""), strict=True))


def drawn(summary: Summary) -> list[str]:
    """The suite's table as a terminal shows it: without what stands before and after it."""
    text = Terminal().text(summary, ()).replace("\N{EN DASH}", "-")
    _, _, below = text.partition(f"{summary.tables['sizes'].title or 'sizes'}\nwall")
    return [" ".join(row.split()) for row in below.partition("a cell is")[0].splitlines() if row]


def test_a_terminal_shows_http_beside_https_and_sizes_down_the_side() -> None:
    rows = [row for row in drawn(SIDE_BY_SIDE) if "\N{BOX DRAWINGS LIGHT HORIZONTAL}" not in row]
    assert rows == [
        "of sizes",
        "tls=false tls=false tls=true tls=true",
        "pycurl requests pycurl requests",
        "size s s s s",
        "4 1 [0.5-2] 2 [1-4] 3 [1.5-6]",
        "65536 5 [2.5-10] 6 [3-12] ! failed (1) 8 [4-16]",
        "(1) sizes · nginx · pycurl · size=65536 · tls=True: 1 trial failed: start: it died",
    ]


def test_what_is_counted_in_another_unit_has_a_column_of_its_own() -> None:
    in_turns = case(line(0.002, unit="s/response"), vary={"path.size": 4, TLS: False})
    mixed = result(
        pivot(columns=(TLS,)),
        in_turns,
        case(line(0.4), vary={"path.size": 4, TLS: True}),
        case(line(0.6), vary={"path.size": 8, TLS: False}),
    )
    rows = [row for row in drawn(mixed) if "\N{BOX DRAWINGS LIGHT HORIZONTAL}" not in row]
    assert rows[1:] == [
        *("tls=false tls=false tls=true", "wall wall wall", "size ms/response ms ms", "4 2 - 400"),
        "8 - 600",
    ]


def test_markdown_has_a_table_of_equal_rows(tmp_path: Path) -> None:
    text = Markdown().report(SIDE_BY_SIDE, (), tmp_path)[0].read_text()
    section = text.partition("## seconds by size\n")[2].partition("\n## ")[0]
    rows = [row.strip("|").split("|") for row in section.splitlines() if row.startswith("|")]
    assert [len(row) for row in rows] == [5] * 4
    assert [word.strip() for word in rows[0]][1] == "tls=false · pycurl (s)"
    assert set(rows[1][0].strip()) == {"-"}
    assert [word.strip() for word in rows[2]][4] == ""
    assert [word.strip() for word in rows[3]][3] == "**failed (1)**"


class Headed(HTMLParser):
    """The rows of each table: for each cell its tag, scope, columns and rows that it spans."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: list[list[list[tuple[str, str, int, int]]]] = []
        self.captions = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        subject = {name: value or "" for name, value in attrs}
        if tag == "table":
            self.tables.append([])
        elif tag == "caption":
            self.captions += 1
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in {"td", "th"}:
            spans = int(subject.get("colspan", 1)), int(subject.get("rowspan", 1))
            self.tables[-1][-1].append((tag, subject.get("scope", ""), *spans))


def test_the_page_nests_heads_and_each_head_has_a_scope(tmp_path: Path) -> None:
    (report,) = Html().report(SIDE_BY_SIDE, (), tmp_path)
    text = report.read_text()
    page = Headed()
    page.feed(text[text.index("<h2>seconds by size") :])
    assert page.captions == len(page.tables)
    top, second, *rows = page.tables[0]
    assert top == [("th", "col", 1, 2), ("th", "col", 2, 1), ("th", "col", 2, 1)]
    assert second == [("th", "col", 1, 1)] * 4
    assert rows == [[("th", "row", 1, 1)] + [("td", "", 1, 1)] * 4] * 2


def test_csv_is_empty_where_no_case_is_and_says_failed_where_one_failed(tmp_path: Path) -> None:
    everything, file = Csv().report(SIDE_BY_SIDE, (), tmp_path)
    assert (everything, file) == (tmp_path / "numbers.csv", tmp_path / "tables/sizes.csv")
    assert file.read_bytes().count(b"\r\n") == file.read_bytes().count(b"\n") == 3
    first, four, large = read(SIDE_BY_SIDE)
    assert first[:4] == [
        "path.size",
        "tls=false pycurl wall median (s)",
        "tls=false pycurl wall lowest (s)",
        "tls=false pycurl wall highest (s)",
    ]
    assert four == ["4", "1", "0.5", "2", "2", "1", "4", "3", "1.5", "6", "", "", "", ""]
    assert large[7:10] == ["failed"] * 3
    assert large[-1].endswith("1 trial failed: start: it died")


def test_runs_average_max_and_min_are_columns() -> None:
    table = pivot(rows=("server",), show=("runs", "average", "max", "min"))
    failed = case(server="gevent", failed="x")
    summary = result(table, case(line(5, 1, 3), server="tornado"), failed)
    rows = [row for row in drawn(summary) if row.startswith(("server", "tornado", "gevent"))]
    gevent = f"gevent{' ! failed (1)' * 4}"
    assert rows == ["server s s s", "tornado 3 3 5 1", gevent]
    assert read(summary)[:2] == [
        ["server", "wall runs", "wall average (s)", "wall max (s)", "wall min (s)", "notes"],
        ["tornado", "3", "3", "5", "1", ""],
    ]


def test_bounds_and_what_one_trial_cannot_tell_are_told() -> None:
    table = pivot(rows=("server",), show=("mean", "sd", "range"))
    summary = result(
        table,
        case(line(2, 4, 6, bound=True, estimator="counted"), server="slow"),
        case(line(2), server="once", trials=1),
    )
    rows = drawn(summary)
    assert "slow > 4 unknown (1) [2-> 6]" in rows
    assert "once 2 (2) unknown (3) (2) 2 (2)" in rows
    assert "(1) wall: a value is only a lower bound" in rows
    assert "(2) sizes · once · pycurl: measured in 1 of 3 trials" in rows
    heads, slow, once = read(summary)
    assert heads == [
        *("server", "wall mean (s)", "wall sd (s)", "wall lowest (s)", "wall highest (s)"),
        *("wall estimator", "notes"),
    ]
    assert slow[1:6] == ["4", "", "2", "6", "counted"]
    assert slow[6] == "sizes · slow · pycurl: wall: a lower bound, the truth is this or more"
    assert once[1:6] == ["2", "", "2", "2", ""]


def test_a_case_that_was_not_measured_is_no_failure_and_no_number() -> None:
    summary = result(pivot(rows=("server",)), case(line(1), server="a"), case(server="b", trials=0))
    assert "b - (1)" in drawn(summary)
    assert read(summary)[2][:2] == ["b", ""]
    assert read(summary)[2][-1].endswith("measured in 0 of 3 trials")


words = st.text(min_size=1, max_size=8)
scalars = st.one_of(words, st.integers(), st.booleans())
values = st.lists(scalars, min_size=1, max_size=3, unique_by=json.dumps)
AXES = ("scenario", "server", "driver", "path.size", "servers.*.tls")


@given(
    st.tuples(*[st.lists(words, min_size=1, max_size=2, unique=True)] * 3, values, values),
    st.permutations(AXES),
    st.integers(1, 5),
    st.data(),
)
def test_every_case_stands_once_in_a_complete_table_and_csv_tells_it(
    axes: tuple[list[JsonValue], ...], order: list[str], rows: int, data: st.DataObject
) -> None:
    points = list(itertools.product(*axes))
    drawn = data.draw(st.lists(st.sampled_from(points), min_size=1, unique_by=json.dumps))
    cases = []
    for number, (*named, size, tls) in enumerate(drawn, 1):
        fields: dict[str, Any] = dict(zip(AXES, map(str, named), strict=False))
        vary = {AXES[3]: size, AXES[4]: tls}
        cases.append(case(line(float(number)), vary=vary, **fields))
    scenarios = tuple(map(str, axes[0]))
    columns = order[rows:]
    table = pivot(scenarios=scenarios, rows=order[:rows], columns=columns, show=["median"])
    assert crowded(table, [case.case for case in cases]) == {}
    heads, *lines = read(result(table, *cases))
    assert {len(fields) for fields in lines} == {len(heads)}
    numbers = [field for fields in lines for field in fields[rows:-1] if field]
    assert sorted(map(float, numbers)) == [float(number) for number, _ in enumerate(cases, 1)]
    cells = [cell for row in pivot_table(table, cases).rows for cell in row.cells]
    assert len([cell for cell in cells if cell.parts[0][0]]) == len(cases)
    # One axis less: what is crowded then differs in it, and in nothing else.
    without = table.model_copy(update={"columns": table.columns[1:]})
    if table.columns:
        assert crowded(without, [case.case for case in cases]).keys() <= {table.columns[0]}


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5))
def test_csv_rounds_no_number(numbers: list[float]) -> None:
    cases = [case(line(value), server=str(path)) for path, value in enumerate(numbers)]
    rows = read(result(pivot(rows=("server",), show=("median",)), *cases))
    assert [float(row[1]) for row in rows[1:]] == numbers


def test_a_run_draws_its_tables_from_what_is_on_the_disk(bench: Bench, tmp_path: Path) -> None:
    needed("wrk")
    path = tmp_path / "a.toml"
    servers = {"answering": answering(), "wrong": answering("--status", "500")}
    path.write_text(suite_text("suite/claims/pivots_drawn", **servers))
    call = bench("run", "--details", path, code=4)  # one server is wrong
    (folder,) = (tmp_path / "results").iterdir()
    header = json.loads((folder / "result.json").read_text())
    assert header["tables"]["sizes"]["rows"] == ["path.size"]
    assert "requests by size\nthroughput of small, sizes" in call.out
    assert "failed (1)" in call.out
    with (folder / "tables/sizes.csv").open(newline="") as file:
        heads, small, large = csv.reader(file, strict=True)
    assert heads[1] == "plain throughput median (requests/s)"
    assert heads[4:6] == ["plain throughput runs", "wrong throughput median (requests/s)"]
    summary = json.loads((folder / "summary.json").read_text())
    measured = {
        case["case"]["vary"]["path.size"]: line["median"]
        for case in summary["cases"]
        for line in case["metrics"]
        if line["metric"] == "throughput"
    }
    assert float(small[1]) == measured[4]
    assert float(large[1]) == measured[1024]
    assert (small[4], small[5], large[5]) == ("1", "", "failed")
    assert "expected status 200, got 500" in large[-1]
    bench("validate", folder, code=0)
    header["tables"]["sizes"]["columns"] = []
    (folder / "result.json").write_text(json.dumps(header))
    call = bench("validate", folder, code=1)
    assert "tables.sizes: several cases in one cell: they differ in server" in call.all


def test_a_profile_and_a_setting_reach_a_table(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text(SUITE + '[profiles.quick]\ntables.one.show = ["mean"]\n')
    assert load(path, Registry(), profile="quick").tables["one"].show == ("mean",)
    wanted = load(path, Registry(), settings=[("tables.one.title", "mine")]).tables["one"]
    assert wanted.title == "mine"
    with pytest.raises(SuiteErrors, match=r"tables\.two is not declared"):
        load(path, Registry(), settings=[("tables.two.title", "mine")])
