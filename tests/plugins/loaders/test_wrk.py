"""wrk: its command, and what its hook wrote in real runs, whole and damaged."""

import json
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from benchforge_loaders.wrk import wrk
from benchforge_loaders.wrk.wrk import HOOK, Wrk, without_synthetic
from front_door import PROGRAMS, captured, needed
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from present import present
from recorded.tools import RECORDINGS, copied, read, recording, target
from serving.apps import accepts, free_port, running

from benchforge.parts.load_tool import lasted
from benchforge.parts.site import BODY, HEAD, Target
from benchforge.plugin import Duration, Finished, Output, OutputDamaged, Request
from benchforge.run.locate import libraries, locate

READABLE = [
    *("broken", "closes", "empty", "fewer-than-connections", "half", "halves", "hang", "healthy"),
    *("late", "mixed", "reset", "server-killed", "slow", "stalls"),
]


TOOL = "wrk"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with what the run with stalls left, to be damaged."""
    return copied(TOOL, "stalls", tmp_path)


# The command


def test_a_request_with_headers_and_a_body_reaches_the_hook(tmp_path: Path) -> None:
    headers = {"host": "a.example", "X-One": "1"}
    request = Request(method="PUT", path="/agents?page=2", headers=headers, body='{"a": 1}')
    entries = target(tmp_path, request)
    head = "PUT /agents?page=2\nhost: a.example\nX-One: 1\n"
    assert Wrk().files(entries) == {BODY: '{"a": 1}', HEAD: head}
    (command,) = Wrk().commands(entries)
    assert command.environment["BENCHFORGE_WRK_HEAD"] == str(tmp_path / HEAD)
    assert command.environment["BENCHFORGE_WRK_BODY"] == str(tmp_path / BODY)


def test_the_warm_up_is_a_second_at_least_and_has_another_file(tmp_path: Path) -> None:
    warm = Wrk(connections=8).for_warm_up(0.0)
    assert (warm.connections, warm.declared_s()) == (8, 1.0)
    (command,) = warm.commands(target(tmp_path, phase="warm-up"))
    assert command.environment["BENCHFORGE_WRK_OUT"] == str(tmp_path / "wrk-warm-up.json")


# Real runs


@pytest.mark.parametrize("name", [name for name in READABLE if name != "server-killed"])
def test_connections_that_the_server_saw_are_explained(name: str) -> None:
    reading, run = read(TOOL, name), recording(TOOL, name)
    # Each read error made wrk connect again; up to one a connection is cut by the end of the run.
    expected = run["options"]["connections"] + reading.test_connections + reading.errors["read"]
    assert abs(run["accepted"] - expected) <= run["options"]["connections"]


def test_the_synthetic_samples_of_a_stalling_server_are_gone() -> None:
    reading = read(TOOL, "stalls")
    claimed, mean = reading.printed["latency_mean_us"], present(reading.latency).mean()
    assert isinstance(claimed, float)
    assert claimed > 10 * mean
    assert reading.defects == ("wrk:synthetic-samples",)
    # Little: as many requests are under way as there are connections, and no more.
    under_way = reading.responses / reading.seconds * mean / 1e6
    assert 12 < under_way <= 16


def test_what_wrk_printed_is_claimed() -> None:
    reading = read(TOOL, "healthy")
    printed = (RECORDINGS / TOOL / "healthy/stdout.txt").read_text()
    for percent in (50, 75, 90, 99):
        search = re.search(rf"^ +{percent}% +([\d.]+)(us|ms)$", printed, re.MULTILINE)
        assert search
        told_us = float(search[1]) * {"us": 1, "ms": 1000}[search[2]]
        # wrk rounds to two decimals of what it prints in.
        assert reading.printed[f"latency_p{percent}_us"] == pytest.approx(told_us, abs=5.1)
    assert f"{reading.printed['requests_per_second']:.2f}" in printed
    assert f"{reading.printed['latency_mean_us']:.2f}us" in printed


def test_too_few_requests_are_not_corrected_and_not_uncorrected() -> None:
    reading = read(TOOL, "fewer-than-connections")
    assert wrk.expected_interval_us(1_000_000, 63, 64) is None
    assert reading.defects == ()
    assert reading.good == reading.responses > 0


def test_replies_later_than_the_timeout_are_responses_without_a_latency() -> None:
    reading = read(TOOL, "late")
    assert reading.errors["timeout"] == reading.censored > 0
    assert (reading.censored_from_us, reading.good) == (1_000_000, reading.responses)
    latency = present(reading.latency)
    assert latency.quantile(0.99, reading.censored) is None
    assert latency.max_us < 1_000_000


# Damage


def test_without_the_file_of_the_hook_nothing_is_read(files: Path) -> None:
    (files / "wrk-load.json").unlink()
    with pytest.raises(OutputDamaged, match=r"wrk-load\.json: the tool did not write it"):
        read(TOOL, "stalls", files)


def test_a_truncated_file_is_never_read(files: Path) -> None:
    content = (files / "wrk-load.json").read_text().rstrip()
    for end in [*range(400), *range(400, len(content), 997), len(content) - 1]:
        (files / "wrk-load.json").write_text(content[:end])
        with pytest.raises(OutputDamaged, match=r"wrk-load\.json: "):
            read(TOOL, "stalls", files)


def test_a_load_that_was_ended_before_its_time_is_refused() -> None:
    lasted("hey", 4.6, Duration(5))
    with pytest.raises(OutputDamaged, match=r"hey: it was ended after 1.99 s, asked were 5 s"):
        lasted("hey", 1.9897, Duration(5))


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("requests", None, "requests: Field required"),
        ("latency_us", None, "latency_us: missing"),
        ("error", "another layout", "another layout"),
        ("status", -1, "status"),
        ("duration_us", 0, "duration_us"),
        ("duration_us", 1, "cannot be undone"),
        ("requests", 10**9, "cannot be undone|do not make"),
        ("status", 10**9, "more bad responses"),
        ("timeout", 1, "do not make"),
        ("latency_us", [[7, 1], [7, 1]], "not in order"),
        ("latency_us", [[2_000_001, 1]], "beyond its timeout"),
        ("latency_us", [[7, 0]], "latency_us"),
        ("mean_us", "nan", "mean_us"),
    ],
)
def test_impossible_numbers_are_refused(files: Path, field: str, value: object, says: str) -> None:
    document = json.loads((files / "wrk-load.json").read_text()) | {field: value}
    changed = {name: item for name, item in document.items() if item is not None}
    (files / "wrk-load.json").write_text(json.dumps(changed))
    with pytest.raises(OutputDamaged, match=says):
        read(TOOL, "stalls", files)


def test_one_request_more_or_less_is_noticed(files: Path) -> None:
    document = json.loads((files / "wrk-load.json").read_text())
    for change in (-1, 1):
        values = [list(pair) for pair in document["latency_us"]]
        values[0][1] += change
        stored = [pair for pair in values if pair[1]]
        (files / "wrk-load.json").write_text(json.dumps(document | {"latency_us": stored}))
        with pytest.raises(OutputDamaged):
            read(TOOL, "stalls", files)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.data())
def test_a_changed_file_is_refused_or_adds_up(files: Path, data: st.DataObject) -> None:
    content = (RECORDINGS / TOOL / "slow/wrk-load.json").read_bytes()
    drawn = data.draw(st.integers(0, len(content)))
    until = data.draw(st.integers(drawn, min(len(content), drawn + 8)))
    put = data.draw(st.one_of(st.binary(max_size=8), st.text("0123456789,[]", max_size=8)))
    new = put.encode() if isinstance(put, str) else put
    (files / "wrk-load.json").write_bytes(content[:drawn] + new + content[until:])
    try:
        reading = read(TOOL, "slow", files)
    except OutputDamaged:
        return
    assert present(reading.latency).count + reading.censored == reading.responses


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.binary())
def test_any_bytes_in_its_place_are_refused(files: Path, written: bytes) -> None:
    (files / "wrk-load.json").write_bytes(written)
    with pytest.raises(OutputDamaged):
        read(TOOL, "stalls", files)


# The correction


def corrected_as_wrk_does(raw: Mapping[int, int], expected: int) -> dict[int, int]:
    """stats_correct of wrk 4.1, word for word."""
    highest = max(raw, default=0)
    data = [raw.get(value, 0) for value in range(highest + 1)]
    for n in range(expected * 2, highest + 1):
        count = data[n]
        m = n - expected
        while count and m > expected:
            data[m] += count
            m -= expected
    return {value: count for value, count in enumerate(data) if count}


histograms = st.dictionaries(st.integers(0, 3000), st.integers(1, 50), max_size=40)


@given(histograms, st.integers(1, 500))
def test_the_correction_is_undone_exactly(raw: dict[int, int], expected: int) -> None:
    assert without_synthetic(corrected_as_wrk_does(raw, expected), expected) == raw


@given(histograms, st.integers(1, 500), st.data())
def test_a_synthetic_sample_lost(raw: dict[int, int], expected: int, data: st.DataObject) -> None:
    corrected = corrected_as_wrk_does(raw, expected)
    made_up = sorted(corrected.keys() - raw.keys())
    assume(made_up)
    del corrected[data.draw(st.sampled_from(made_up))]
    with pytest.raises(ValueError, match="left no trace"):
        without_synthetic(corrected, expected)


def test_an_interval_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="microsecond"):
        without_synthetic({1: 1}, 0)


@pytest.mark.parametrize("hook", ["fast", "slow"])
def test_a_real_run_is_read(tmp_path: Path, hook: str) -> None:
    needed("wrk")
    path, port = present(locate("wrk")), free_port()
    part = Wrk(connections=4, duration=Duration(1), timeout=Duration(1))
    request = Request(method="POST", path="/slow", body="x" * 20, headers={"X-A": "b"})
    url = f"http://127.0.0.1:{port}/slow"
    entries = Target(url, request, tmp_path, {"wrk": path}, Path(sys.executable))
    for name, text in part.files(entries).items():
        (tmp_path / name).write_text(text)
    (command,) = part.commands(entries)
    argv = [str(word) for word in command.argv]
    if hook == "slow":
        # As with a wrk whose LuaJIT has no FFI.
        (tmp_path / "no-ffi.lua").write_text(
            "package.loaded.ffi = nil\n"
            'package.preload.ffi = function() error("none") end\n'
            f'dofile("{HOOK}")\n'
        )
        argv[argv.index(str(HOOK))] = str(tmp_path / "no-ffi.lua")
    faults = [sys.executable, str(PROGRAMS / "faulty_servers/by_path.py"), str(port)]
    with running(faults, tmp_path, {}, tmp_path / "server.txt", lambda: accepts(port)):
        done = captured(argv, env={**os.environ, **libraries(path), **command.environment})
    out, err = tmp_path / "stdout.txt", tmp_path / "stderr.txt"
    out.write_text(done.stdout)
    err.write_text(done.stderr)
    reading = part.read(Output(entries, (Finished(done.returncode, out, err, 1.0, 0.0, 0.0),)))
    assert reading.good == reading.responses > 0
    latency = present(reading.latency)
    assert latency.quantile(0.0) is not None
    assert latency.mean() >= 200_000
