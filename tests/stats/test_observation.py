"""usage.csv and system.csv: written, read again, and the figures that are computed from them."""

import json
import socket
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from front_door import PROGRAMS, Bench, answering, needed
from hypothesis import given
from hypothesis import strategies as st
from made import plain
from present import present

from benchforge.model.trial.observation import MachineUsage, NetworkFlow, Observation, Usage
from benchforge.model.trial.rows import (
    SYSTEM_COLUMNS,
    SystemRow,
    UsageRow,
    rows_file,
    system_line,
    system_rows,
    usage_line,
    usage_rows,
)
from benchforge.model.trial.trial import Trial
from benchforge.stats.observation import recomputed
from benchforge.stats.timeseries.trend import growth, theil_sen

SECONDS = st.floats(0, 1e6).map(lambda item: round(item, 6))
COUNTS = st.integers(0, 2**50)


def seen(*parts: Usage, **changed: Any) -> Observation:
    return plain.observation(*parts, **{"seconds": 2.0, "sampler_cpu_s": 0.1} | changed)


def usage(**changed: Any) -> Usage:
    return plain.usage(**{"label": "app"} | changed)


def row(time_s: float, **changed: Any) -> UsageRow:
    fields = {"time_s": time_s, "label": "app", "role": "server", "threads": 1}
    return UsageRow.model_validate(fields | changed)


def used_text(rows: Iterable[UsageRow]) -> str:
    return rows_file(map(usage_line, rows))


def machine_text(rows: Sequence[SystemRow]) -> str:
    columns = list(dict.fromkeys(["time_s", *(name for row in rows for name in row)]))
    return rows_file([system_line(columns, row) for row in rows], columns)


def figures(*rows: UsageRow, role: str = "server", seconds: float = 2.0) -> Usage:
    rows = tuple(row.model_copy(update={"role": role}) for row in rows)
    actual = recomputed(seen(usage(role=role), seconds=seconds), used_text(rows), "time_s\n0\n")
    return actual.usage[0]


def machine(*rows: SystemRow) -> MachineUsage:
    full = seen(machine=MachineUsage(cpus=2))
    return present(recomputed(full, rows_file([]), machine_text(rows)).machine)


def flow(*rows: SystemRow, **changed: Any) -> NetworkFlow | None:
    return recomputed(seen(**changed), rows_file([]), machine_text(rows)).flow


@given(
    st.lists(
        st.builds(
            UsageRow,
            time_s=SECONDS,
            label=st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), min_size=1),
            role=st.sampled_from(["server", "upstream", "backend", "loader"]),
            cpu_s=st.none() | SECONDS,
            voluntary_switches=st.none() | COUNTS,
            process_cpu_s=st.none() | st.lists(SECONDS, min_size=1).map(tuple),
            pss_bytes=st.none() | COUNTS,
        )
    )
)
def test_what_is_written_is_read(rows: list[UsageRow]) -> None:
    assert list(usage_rows(used_text(rows))) == rows


@given(st.lists(st.dictionaries(st.sampled_from(["net.time_wait", "cpu.0.busy_s"]), SECONDS)))
def test_what_the_machine_did_is_read(rows: list[dict[str, float]]) -> None:
    timed = [{"time_s": float(number)} | row for number, row in enumerate(rows)]
    assert list(system_rows(machine_text(timed))) == timed


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: no column time_s"),
        ("label,role\n", "line 1: no column time_s"),
        ("time_s,label,role\n0,app\n", "line 2: 2 cells below 3 columns"),
        ("time_s,label,role\n0,app,boss\n", "line 2: role: "),
        ("time_s,label,role\n,app,server\n", "line 2: time_s: field required"),
        ("time_s,label,role,cpu_s\n0,app,server,nan\n", "line 2: cpu_s: "),
        ("time_s,label,role,cpu_s\n0,app,server,1\n1,app,server,-1\n", "line 3: cpu_s: "),
        ("time_s,label,role,threads\n0,app,server,1.5\n", "line 2: threads: "),
        ("time_s,label,role,boss\n0,app,server,1\n", "line 2: boss: "),
        ('time_s,label,role\n0,"app,server\n', "line 2: unexpected end of data"),
        ("time_s,label,role\n0,other,server\n", "the trial has no server 'other'"),
        ("time_s,label,role\n0,app,loader\n", "the trial has no loader 'app'"),
    ],
)
def test_a_damaged_usage_csv_is_refused_with_its_line(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=r"^usage\.csv: ") as error:
        recomputed(seen(usage()), text, "time_s\n0\n")
    assert message in str(error.value)


@pytest.mark.parametrize("cell", ["x", "nan", "inf", "1e999", "", "9" * 5000])
def test_a_damaged_system_csv_is_refused_with_its_line(cell: str) -> None:
    with pytest.raises(ValueError, match=r"^system\.csv: line 3: time_s: not a finite number"):
        recomputed(seen(), rows_file([]), f"time_s,net.time_wait\n0,1\n{cell},1\n")


def test_what_a_service_used_is_what_its_last_row_says() -> None:
    forked = {"processes": 2, "ended_processes": 1, "new_processes": 1, "voluntary_switches": 5}
    actual = figures(
        row(0, cpu_s=0, cpu_wait_s=0, busiest_thread_cpu_s=0, pss_bytes=10),
        row(1, cpu_s=0.5, cpu_wait_s=0.1, busiest_thread_cpu_s=0.4, busy_threads=2, pss_bytes=30),
        row(2, cpu_s=0.9, cpu_wait_s=0.2, busiest_thread_cpu_s=0.7, busy_threads=1, pss_bytes=20),
        row(2.1, cpu_s=1, process_cpu_s=(0.8, 0.2), **forked),
    )
    last: dict[str, Any] = {"cpu_s": 1, "busiest_thread_cpu_s": 0.7, "cpu_wait_s": 0.2}
    last |= {"busy_threads": 1, "process_cpu_s": (0.8, 0.2), "peak_pss_bytes": 30, **forked}
    last |= {"pss_samples": 3} | dict.fromkeys(
        ("memory_growth", "involuntary_switches", "major_faults")
    )
    assert {name: getattr(actual, name) for name in last} == last


def test_what_a_load_tool_did_after_the_last_look_is_taken_to_be_as_before() -> None:
    last = {"busiest_thread_cpu_s": 0.6, "cpu_wait_s": 0.2, "process_cpu_s": (0.8,)}
    actual = figures(
        row(1.75, cpu_s=0.8, busy_threads=1, **last), row(2, cpu_s=1, threads=None), role="loader"
    )
    assert actual.cpu_s == 1
    assert actual.busiest_thread_cpu_s == pytest.approx(0.75)
    assert actual.cpu_wait_s == pytest.approx(0.25)
    assert actual.process_cpu_s == pytest.approx((1.0,))


def test_a_thread_was_never_hotter_than_the_load_was_long() -> None:
    rows = row(1, cpu_s=1, busiest_thread_cpu_s=1), row(1.5, cpu_s=1.8, threads=None)
    assert figures(*rows, role="loader").busiest_thread_cpu_s == 1.5


def test_threads_of_a_tool_that_was_hardly_seen_are_unknown() -> None:
    first = row(0.25, cpu_s=0.1, busiest_thread_cpu_s=0.1, busy_threads=1)
    actual = figures(first, row(2, cpu_s=1, threads=None), role="loader")
    assert actual.cpu_s == 1
    assert actual.busiest_thread_cpu_s is actual.cpu_wait_s is actual.busy_threads is None
    assert actual.process_cpu_s == ()


def test_a_part_without_rows_has_no_figures() -> None:
    claimed = usage(cpu_s=3, process_cpu_s=(3,), why="it was running already", open_files_limit=9)
    known_values = usage(why="it was running already", open_files_limit=9)
    assert recomputed(seen(claimed), rows_file([]), "time_s\n0\n").usage == (known_values,)


def test_a_machine_without_rows_has_no_figures() -> None:
    claimed = seen(machine=MachineUsage(cpus=2, busy_s=0, ephemeral_ports=9), samples=7)
    actual = recomputed(claimed, rows_file([]), "time_s\n")
    assert actual == seen(machine=MachineUsage(cpus=2, ephemeral_ports=9), samples=0)


@given(st.floats(-1e3, 1e3), st.floats(1, 1e6), st.integers(5, 300))
def test_a_slope_resists_one_wild_point(slope: float, start: float, count: int) -> None:
    line = [(float(x), start + slope * x) for x in range(count)]
    actual, moved = theil_sen(line), theil_sen([*line[:2], (2.0, 1e12), *line[3:]])
    assert actual == pytest.approx(slope, rel=1e-6, abs=1e-6)
    if count > 10 and count <= 200:  # one of five is much, and of many it may be left out
        assert moved == pytest.approx(slope, rel=1e-3, abs=1e-3)


def test_growth_is_a_share_of_the_median() -> None:
    points = [(float(second), 1000.0 + 10 * second) for second in range(11)]
    assert growth(points, 10) == pytest.approx(100 / 1050)
    assert growth(points[:4], 10) is None
    assert growth([(0.0, 1.0)] * 9, 10) is None


def test_what_the_machine_did_is_added_up() -> None:
    actual = machine(
        {"time_s": 0, "cpu.0.busy_s": 0, "cpu.3.busy_s": 0, "load.average": 0.5, "heat.celsius": 40,
         "clock.step_s": 0, "cpu.0.mhz": 1000, "cpu.3.mhz": 500},
        {"time_s": 1, "cpu.0.busy_s": 0.9, "cpu.3.busy_s": 0.1, "clock.step_s": -0.2},
        {"time_s": 2, "cpu.0.busy_s": 1.9, "cpu.3.busy_s": 0.2, "cpu.0.stolen_s": 0.01,
         "pressure.cpu.some_s": 0.3, "paging.pswpin": 4, "net.time_wait": 17, "clock.step_s": 0.1,
         "load.average": 3, "heat.celsius": 55, "cpu.0.mhz": 3000, "cpu.3.mhz": 600},
    )  # fmt: skip
    assert actual.busy_s == pytest.approx(2.1)
    assert actual.busy_by_cpu_s == {0: 1.9, 3: 0.2}
    assert (actual.stolen_s, actual.paging) == (0.01, {"pswpin": 4})
    assert actual.pressure == {"cpu.some": 0.3}
    assert (actual.load_average, actual.temperature_c) == (0.5, (40, 55))
    assert actual.clock_step_s == -0.2  # the farthest, though it came back
    assert actual.frequency_mhz == (3000, 3000, 3000)  # an idle CPU's tells nothing
    assert (actual.time_wait_sockets, actual.throttled, actual.overheated) == (17, None, None)


def test_what_nobody_tells_is_unknown() -> None:
    assert machine({"time_s": 0}, {"time_s": 1}) == MachineUsage(cpus=2)


def sent(*points: tuple[float, float]) -> list[SystemRow]:
    return [{"time_s": index, "net.TcpOutSegs": value} for index, value in points]


def test_an_even_flow_is_even_whenever_it_was_looked_at() -> None:
    looks = sent(*((index, 1000 * index) for index in (0, 0.251, 0.508, 0.75, 1.049, 1.25, 1.6)))
    programs = present(flow(*looks))
    assert (programs.bin_s, programs.counter) == (0.25, "TcpOutSegs")
    assert programs.sent == (250,) * 6


def test_bins_are_as_wide_as_looks_are_apart() -> None:
    programs = present(flow(*sent(*((n * 1.01, n * 101) for n in range(6)))))
    assert (programs.bin_s, programs.sent) == (1.0, (100,) * 5)


@given(st.lists(st.integers(0, 1000), min_size=8, max_size=60))
def test_nothing_that_was_sent_is_lost_or_counted_twice(steps: list[int]) -> None:
    total, looks = 0, [(0.0, 0.0)]
    for number, step in enumerate(steps, 1):
        total += step
        looks.append((number * 0.25, float(total)))
    assert list(present(flow(*sent(*looks))).sent) == steps


def test_no_flow_on_the_host_s_network_or_of_one_look() -> None:
    looks = sent((0, 0), (0.25, 9), (0.5, 20))
    assert flow(*looks, network="host") is None
    assert flow(*looks[:1]) is None


def test_a_distant_moment_is_no_reason_to_count_to_it() -> None:
    assert len(present(flow(*sent((0, 0), (0.25, 9), (0.5, 20), (1e300, 30)))).sent) <= 16


SUITE = """benchforge = 1
loaders.wrk = {{ use = "wrk", connections = 2, duration = "2s" }}
scenarios.one = {{ request = {{ path = "/" }}, servers = ["app"], loaders = ["wrk"] }}
repeat = {{ blocks = 1, quiet = "off" }}
[servers.app]
{server}
"""


@pytest.fixture
def measured(bench: Bench, tmp_path: Path) -> Path:
    needed("wrk")
    (tmp_path / "suite.toml").write_text(SUITE.format(server=answering()))
    bench("run", "suite.toml", "-o", "out", code=0)
    (trial,) = tmp_path.glob("out/*/trials/0001")
    return trial


def test_every_figure_of_a_trial_is_what_its_rows_say(measured: Path) -> None:
    trial = Trial.model_validate_json((measured / "trial.json").read_bytes())
    used, system = (measured / "usage.csv").read_text(), (measured / "system.csv").read_text()
    assert trial.observation is not None
    assert recomputed(trial.observation, used, system) == trial.observation
    for changed in ("cpu_s", "peak_pss_bytes", "busiest_thread_cpu_s", "processes"):
        document = json.loads((measured / "trial.json").read_text())["observation"]
        document["usage"][0][changed] += 1
        lies = Observation.model_validate(document)
        assert recomputed(lies, used, system) == trial.observation != lies


def test_every_field_of_a_trial_is_filled_and_every_column_is_described(measured: Path) -> None:
    trial = Trial.model_validate_json((measured / "trial.json").read_bytes())
    assert trial.observation is not None
    server, loader = trial.observation.usage
    assert (server.role, loader.role) == ("server", "loader")
    for item in (server, loader):
        unknown = {name for name in Usage.__slots__ if getattr(item, name) is None}
        # Its memory may have been read too seldom, and its control group may have no quota.
        unknown -= {"quota_cpus", "throttled"}
        assert unknown <= {"memory_growth"}
        assert bool(unknown) == ("memory_growth" in item.why)
        assert 0 < item.busiest_thread_cpu_s <= item.cpu_s + 1e-6  # type: ignore[operator]
    assert server.ended_processes == server.new_processes == server.printed_bytes == 0
    assert server.processes == 1
    assert loader.printed_bytes  # wrk's report
    seen_machine = present(trial.observation.machine)
    assert seen_machine.busy_s >= server.cpu_s / 2  # type: ignore[operator]
    assert len(seen_machine.busy_by_cpu_s) == seen_machine.cpus
    assert trial.observation.samples >= 4
    assert trial.observation.sampler_cpu_s > 0
    if trial.observation.network == "private":
        assert seen_machine.ephemeral_ports == 28232
        sent_in_all = sum(present(trial.observation.flow).sent)
        assert 0 < sent_in_all <= trial.observation.counters["TcpOutSegs"]
    header = (measured / "system.csv").read_text().splitlines()[0].split(",")
    families = {column.partition(".")[0] for column in SYSTEM_COLUMNS}
    assert {column.partition(".")[0] for column in header} <= families


def test_a_server_that_runs_already_has_no_rows_and_says_why(bench: Bench, tmp_path: Path) -> None:
    needed("wrk")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f'use = "url"\nurl = "http://127.0.0.1:{port}"'
    (tmp_path / "suite.toml").write_text(SUITE.format(server=url).replace('"2s"', '"1s"'))
    program = str(PROGRAMS / "servers/answers.py")
    words = [sys.executable, program, "--port", str(port), "--wait", "0.003"]
    with subprocess.Popen(words) as server:
        try:
            call = bench("run", "suite.toml", "-o", "out")
        finally:
            server.kill()
    assert call.code == 0, call.all
    (trial,) = tmp_path.glob("out/*/trials/0001")
    programs = present(Trial.model_validate_json((trial / "trial.json").read_bytes()).observation)
    running, _ = programs.usage
    assert (running.cpu_s, running.processes, running.printed_bytes) == (None, None, None)
    assert running.why == "it was running already: its processes are not known"
    assert programs.flow is None
    assert {"server"}.isdisjoint(row.role for row in usage_rows((trial / "usage.csv").read_text()))
