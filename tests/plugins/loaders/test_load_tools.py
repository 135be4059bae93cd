"""The other load tools: their commands, and what they printed in real runs, whole and damaged."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from present import present
from recorded.tools import RECORDINGS, TOOLS, copied, part, read, recording, target

from benchforge.parts.registry import Registry
from benchforge.plugin import BenchforgeError, Loader, OutputDamaged, Request

# The files that a reading stands on, of a recording with as much in it as there is.
COUNTED_ON = [
    *(("ab", "mixed", "stdout.txt"), ("ab", "mixed", "percentiles-load.csv")),
    *(("h2load", "mixed", "stdout.txt"), ("h2load", "mixed", "h2load-load.tsv")),
    *(("hey", "server-killed", "stdout.txt"), ("hey", "mixed", "stdout.txt")),
    *(("hyperfine", "healthy", "hyperfine-load.json"), ("k6", "dropped", "k6-load-summary.json")),
    *(("locust", "mixed", "stdout.txt"), ("locust", "half", "stderr.txt")),
    *(("oha", "half", "stdout.txt"), ("siege", "mixed", "stdout.txt")),
    *(("weighttp", "0.4-mixed", "stdout.txt"), ("weighttp", "0.5-reset", "stdout.txt")),
    *(("wrk2", "mixed", "stdout.txt"), ("wrk2", "hang", "stdout.txt")),
    ("wrk", "stalls", "wrk-load.json"),
]
UNREADABLE = [
    ("ab", "refused", "ab: connection refused after 0 requests"),
    ("ab", "hang", "ab: no answer within 1 s after 0 requests"),
    ("ab", "reset", r"ab: the server reset a connection after \d+ requests"),
    ("ab", "closes", "ab: the server reset a connection"),
    ("ab", "server-killed", r"ab: .*reset a connection after [1-9]\d+ requests"),
    ("ab", "interrupted", "ab: exit code 1"),
    ("h2load", "tool-killed", "h2load: ended by signal 15"),
    ("h2load", "closes", "h2load: all 10 clients ended before the load did, the first 10"),
    ("h2load", "half", "h2load: all 10 clients ended before the load did, the first 22"),
    ("h2load", "reset", "h2load: at least 8 of 10 clients ended before the load did, the first 4"),
    ("h2load", "server-killed", "h2load: all 10 clients ended before the load did, the first 6"),
    ("hey", "tool-killed", "hey: ended by signal 15"),
    ("hyperfine", "broken", "hyperfine: Error: Command terminated with non-zero exit code: 1"),
    ("k6", "tool-killed", "k6: .*received a 'terminated' signal"),
    ("locust", "tool-killed", "locust: no line '--run-time limit reached'"),
    ("oha", "tool-killed", "oha: ended by signal 15"),
    ("siege", "refused", "siege: ended by signal 6"),
    ("siege", "tool-killed", r"siege: elapsed_time: 0\.\d+ s, asked were 1"),
    ("wrk2", "refused", r"wrk2: unable to connect to 127\.0\.0\.1:\d+ Connection refused"),
    ("wrk2", "without-latency", r"wrk2: no line '#\[Max'"),
    ("wrk", "refused", r"wrk: unable to connect to 127\.0\.0\.1:\d+ Conn"),
    ("wrk", "tool-killed", "wrk: ended by signal 15"),
]
BROKEN_OFF = {(tool, name) for tool, name, _ in UNREADABLE}


def recordings(*names: str) -> list[tuple[str, str]]:
    """Every readable recording of a real run, of these names only if there are any."""
    folders = (folder for tool in TOOLS for folder in (RECORDINGS / tool).iterdir())
    items = sorted((folder.parent.name, folder.name) for folder in folders)
    return [
        (tool, name)
        for tool, name in items
        if (tool, name) not in BROKEN_OFF
        and (not names or name.rpartition("0.4-")[2] in names)
        # siege aborts or not, as its descriptors last
        and (tool, name) != ("siege", "server-killed")
    ]


def slots(tool: str, name: str) -> int:
    """How many requests may have been under way at the end."""
    options = recording(tool, name)["options"]
    return int(options.get("connections") or options["users"]) * int(options.get("streams", 1))


# Real runs


@pytest.mark.parametrize(("tool", "name"), recordings())
def test_counts_agree_with_one_another(tool: str, name: str) -> None:
    reading = read(tool, name)
    assert 0 <= reading.good_at_least <= reading.good_at_most <= reading.responses
    if reading.latency is not None:
        assert reading.latency.count + reading.censored == reading.responses
    assert reading.censored in {0, reading.errors.get("timeout")}
    if reading.good is None:
        assert tool in {"ab", "hyperfine"}
        return
    assert reading.good == reading.responses - reading.errors.get("status", 0)
    lost = {kind: count for kind, count in reading.errors.items() if kind != "status"}
    assert reading.overlapping_errors is False
    assert reading.unanswered in {None, sum(lost.values()) - reading.censored}
    times = list((reading.percentiles_us or {}).values())
    assert times == sorted(times)
    assert bool(times) == bool(reading.latency_samples)


COUNTED = recordings("healthy", "missing", "mixed", "slow", "streams", "without-keep-alive")
TELLING = {"h2load", "hey", "k6", "locust", "oha", "siege"}


@pytest.mark.parametrize(("tool", "name"), [item for item in COUNTED if item[0] in TELLING])
def test_the_server_saw_what_is_told_and_what_was_under_way(tool: str, name: str) -> None:
    reading, document = read(tool, name), recording(tool, name)["asked"]
    ended = reading.responses + (reading.unanswered or 0)
    assert 0 <= document - ended <= slots(tool, name)


@pytest.mark.parametrize(
    ("tool", "name"), [item for item in recordings("healthy") if item[0] != "hyperfine"]
)
def test_a_healthy_run_has_good_responses_only(tool: str, name: str) -> None:
    reading = read(tool, name)
    assert reading.good == reading.responses > 0
    assert reading.unanswered == 0
    assert set(reading.errors.values()) == {0}


@pytest.mark.parametrize(("tool", "name"), recordings("missing", "broken"))
def test_pages_of_errors_are_never_good(tool: str, name: str) -> None:
    reading = read(tool, name)
    assert reading.good == 0
    if (tool, name) == ("siege", "broken"):  # it tells them and the lost ones as one
        assert (reading.responses, reading.errors["failed"] > 0) == (0, True)
    else:
        assert reading.errors["status"] == reading.responses > 0


@pytest.mark.parametrize(("tool", "name"), recordings("mixed")[1:])  # ab tells bounds
def test_every_second_page_is_an_error(tool: str, name: str) -> None:
    reading = read(tool, name)
    bad = reading.errors["failed"] if tool == "siege" else reading.errors["status"]
    assert abs(present(reading.good) - bad) <= 10


@pytest.mark.parametrize(("tool", "name"), recordings("hang", "refused", "empty"))
def test_without_an_answer_there_is_no_response(tool: str, name: str) -> None:
    assert read(tool, name).responses == 0


@pytest.mark.parametrize(("tool", "name"), recordings("slow"))
def test_an_answer_after_200_ms_takes_that_long(tool: str, name: str) -> None:
    reading = read(tool, name)
    if reading.latency is not None:
        assert (reading.latency.quantile(0.01) or 0) >= 200_000
    elif tool != "siege":  # it has no latency, and gives none
        assert present(reading.percentiles_us)["50"] >= 200_000


def test_clients_of_h2load_that_died_are_recording() -> None:
    assert "0 failed" in (RECORDINGS / "h2load/server-killed/stdout.txt").read_text()
    for name in ("halves", "empty", "hang"):
        reading = read("h2load", name)
        assert reading.errors["silent"] == reading.unanswered == 10
        assert reading.defects == ("h2load:dead-clients",)
    assert read("h2load", "healthy").defects == ()


def test_h2load_tells_no_status_of_a_status_line_without_a_reason() -> None:
    reading = read("h2load", "wordless")
    assert (reading.statuses, reading.good) == ({}, reading.responses)
    assert reading.responses + 10 == recording("h2load", "wordless")["asked"]


def test_h2load_that_does_not_end_says_why() -> None:
    assert part("h2load", {"protocol": "h2"}).why_unended("") == ""
    assert "use wrk" in part("h2load").why_unended("")


def test_iterations_that_k6_dropped_are_recording() -> None:
    reading = read("k6", "dropped")
    assert "k6:dropped-iterations" in reading.defects
    dropped = reading.printed["dropped_iterations"]
    assert isinstance(dropped, int)
    assert dropped > 50
    assert "k6:dropped-iterations" not in read("k6", "paced").defects


def test_k6_tells_the_kinds_of_a_mix_apart(tmp_path: Path) -> None:
    kinds = tuple(recording("k6", "flows")["kinds"])
    reading = read("k6", "flows", kinds=kinds)
    assert tuple(reading.kinds) == kinds
    assert reading.records_taken == (recording("k6", "flows")["taken"],)
    of_kinds = list(reading.kinds.values())
    assert sum(kind.responses for kind in of_kinds) == reading.responses > 0
    assert sum(kind.unanswered or 0 for kind in of_kinds) == reading.unanswered
    assert all(kind.percentiles_us and kind.latency_samples for kind in of_kinds)
    # k6 counts bytes of connections, not of requests.
    assert [kind.received_bytes for kind in of_kinds] == [None] * 4
    assert (reading.received_bytes or 0) > sum(kind.promised_bytes or 0 for kind in of_kinds) > 0
    first = reading.kinds["buy.add"]
    ended = [reading.kinds[label].not_reached for label in kinds]
    assert ended == [None, first.errors["take"], first.errors["take"], None]
    assert reading.printed["reasons"] == ["buy.add: the answer has no value at 'json:/cart/number'"]
    copied("k6", "flows", tmp_path)
    file = tmp_path / "k6-load-summary.json"
    text = file.read_text()
    for hole, says in (
        ('"http_reqs{kind:1}"', "metrics: no http_reqs of kind 'buy.show'"),
        ('"benchforge_taken"', "metrics: no benchforge_taken"),
        ('"benchforge_status_201{kind:0}"', "benchforge_status: 0 of"),
    ):
        file.write_text(text.replace(hole, '"another"'))
        with pytest.raises(OutputDamaged, match=re.escape(says)):
            read("k6", "flows", tmp_path, kinds)


def test_wrk2_tells_what_its_threads_took(tmp_path: Path) -> None:
    kinds = tuple(recording("wrk2", "mix")["kinds"])
    reading = read("wrk2", "mix", kinds=kinds)
    assert list(reading.records_taken) == recording("wrk2", "mix")["taken"]
    assert 0 <= sum(reading.records_taken) - reading.responses <= slots("wrk2", "mix")
    assert (reading.kinds, reading.stream_began_again) == ({}, 0)
    copied("wrk2", "mix", tmp_path)
    for damage in ("", "100\n", "100 -1\n", "a b\n"):
        (tmp_path / "wrk-load-taken").write_text(damage)
        with pytest.raises(OutputDamaged, match="wrk-load-taken"):
            read("wrk2", "mix", tmp_path, kinds)


def test_oha_calls_pages_of_errors_a_success() -> None:
    reading = read("oha", "broken")
    assert reading.printed["success_rate"] == 1
    assert reading.defects == ("oha:success-rate-of-any-status",)


def test_oha_corrects_latencies_where_that_is_asked() -> None:
    late = read("oha", "late")
    assert present(late.percentiles_us)["50"] > 300_000
    assert "due" in late.percentiles_by


def test_the_underflow_of_weighttp_is_a_defect_and_no_number() -> None:
    assert "weighttp-0.5:keep-alive-underflow" in read("weighttp", "0.5-empty").defects
    healthy = read("weighttp", "0.5-healthy")
    assert (healthy.defects, healthy.connections, healthy.good) == ((), 10, 20000)


def test_a_body_cut_short_is_no_response_of_weighttp() -> None:
    reading = read("weighttp", "0.4-half")
    assert (reading.good, reading.responses, reading.unanswered) == (450, 450, 50)


def test_wrk2_tells_times_from_the_real_sending_apart(tmp_path: Path) -> None:
    """Both blocks are one function of wrk2's; the second is the recorded one with other times."""
    copied("wrk2", "healthy", tmp_path)
    printed = (tmp_path / "stdout.txt").read_text()
    rule = "-" * 58 + "\n"
    earlier, later = printed.split(rule)
    block = "  Latency Distribution" + earlier.partition("  Latency Distribution")[2]
    mine = "Uncorrected Latency (measured without taking delayed starts into account)"
    sent = block.replace("Recorded Latency", mine).replace("50.000%    1.02ms", "50.000%  150.00us")
    text = f"{earlier}{rule}\n{sent}{rule}{later}"
    (tmp_path / "stdout.txt").write_text(text)
    document = read("wrk2", "healthy", tmp_path)
    without = read("wrk2", "healthy")
    assert document.printed == without.printed | {"uncorrected_p50_us": 150}
    assert document.model_copy(update={"printed": {}}) == without.model_copy(update={"printed": {}})
    for hole in ("  Latency Distribution (HdrHistogram - Unc", "#[Max", " 99.000%", rule):
        rindex = text.rindex(hole)
        (tmp_path / "stdout.txt").write_text(text[:rindex] + text[rindex + len(hole) :])
        with pytest.raises(OutputDamaged, match="wrk2: "):
            read("wrk2", "healthy", tmp_path)


def test_wrk2_has_its_timer_and_its_looks() -> None:
    assert read("wrk2", "healthy").defects == ("wrk2:1ms-timer",)
    hang = read("wrk2", "hang")
    assert (hang.errors["timeout"], hang.unanswered) == (20, None)
    assert hang.defects == ("wrk2:repeated-timeouts",)
    assert present(read("wrk2", "overload").percentiles_us)["50"] == 2_300_000


def test_locust_ends_with_its_users_and_not_with_the_start_of_the_last_request() -> None:
    reading = read("locust", "slow")
    claimed = reading.printed["requests_per_second"]
    assert isinstance(claimed, float)
    assert reading.responses / reading.seconds < claimed


def test_locust_s_load_lasts_until_its_last_response() -> None:
    # The log tells the end after 1.048 s; the last response came 0.110 s later, and is counted.
    assert read("locust", "healthy").seconds == pytest.approx(1.158, abs=0.001)
    # Here nothing came after it.
    assert read("locust", "slow").seconds == pytest.approx(1.134, abs=0.001)


@pytest.mark.parametrize("began", ["0", "0.5", "1e10"])
def test_a_start_that_is_not_that_of_locust_s_log_is_refused(tmp_path: Path, began: str) -> None:
    copied("locust", "healthy", tmp_path)
    file = tmp_path / "stdout.txt"
    file.write_text(re.sub(r'"start_time": [0-9.]+', f'"start_time": {began}', file.read_text()))
    with pytest.raises(OutputDamaged, match="start_time: not the moment"):
        read("locust", "healthy", tmp_path)


def test_hyperfine_gives_a_bound_and_says_why() -> None:
    reading = read("hyperfine", "healthy")
    assert (reading.good_at_least, reading.good_at_most, reading.good) == (0, 6, None)
    assert "what the suite says" in reading.bounds
    assert recording("hyperfine", "healthy")["asked"] == reading.responses
    claims, times = reading.printed, reading.process_s
    assert (len(times), [*times]) == (claims["runs"], claims["times_s"])
    assert reading.seconds == pytest.approx(sum(times))
    processor = (reading.process_user_s, reading.process_system_s)
    assert processor == (claims["user_s"], claims["system_s"])


@pytest.mark.parametrize(("tool", "name", "says"), UNREADABLE)
def test_a_run_that_was_broken_off_says_why(tool: str, name: str, says: str) -> None:
    with pytest.raises(OutputDamaged, match=says):
        read(tool, name)


# Damage


@pytest.mark.parametrize(("tool", "name", "file"), COUNTED_ON)
def test_no_truncated_output_is_read(tmp_path: Path, tool: str, name: str, file: str) -> None:
    copied(tool, name, tmp_path)
    document = read(tool, name)
    lines = (tmp_path / file).read_text().splitlines(keepends=True)
    refused = 0
    # Of a long file some lines and the last ones.
    places = {*range(0, len(lines), len(lines) // 100 or 1), *range(len(lines))[-20:]}
    for stored in sorted(places):
        (tmp_path / file).write_text("".join(lines[:stored]))
        try:
            assert read(tool, name, tmp_path) == document
        except OutputDamaged:
            refused += 1
    assert refused >= len(places) * (1 if tool == "ab" else 0.75)


@pytest.mark.parametrize(("tool", "name", "file"), COUNTED_ON)
def test_foreign_output_is_refused(tmp_path: Path, tool: str, name: str, file: str) -> None:
    copied(tool, name, tmp_path)
    others = [other for other in COUNTED_ON if other[0] != tool]
    for other, run, printed in others:
        shutil.copy(RECORDINGS / other / run / printed, tmp_path / file)
        with pytest.raises(OutputDamaged):
            read(tool, name, tmp_path)
    if file != "stderr.txt":
        (tmp_path / file).write_bytes(bytes(range(256)))
        with pytest.raises(OutputDamaged, match="not text"):
            read(tool, name, tmp_path)
    (tmp_path / file).write_text("")
    with pytest.raises(OutputDamaged):
        read(tool, name, tmp_path)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    max_examples=150,
)
@given(data=st.data(), item=st.sampled_from(COUNTED_ON))
def test_any_change_is_refused_or_still_a_reading(
    tmp_path: Path, data: st.DataObject, item: tuple[str, str, str]
) -> None:
    tool, name, file = item
    copied(tool, name, tmp_path)
    content = (RECORDINGS / tool / name / file).read_bytes()
    drawn = data.draw(st.integers(0, len(content)))
    until = data.draw(st.integers(drawn, min(len(content), drawn + 12)))
    put = data.draw(st.one_of(st.binary(max_size=8), st.text("0123456789.,:\t\n", max_size=30)))
    new = put.encode() if isinstance(put, str) else put
    (tmp_path / file).write_bytes(content[:drawn] + new + content[until:])
    try:
        reading = read(tool, name, tmp_path)
    except OutputDamaged:
        return
    assert 0 <= reading.good_at_least <= reading.good_at_most <= reading.responses
    assert reading.seconds > 0


@pytest.mark.parametrize(
    ("tool", "name", "printed", "other", "says"),
    [
        ("ab", "mixed", "per second:    4", "per second:    9", "is not"),
        ("ab", "mixed", "Complete requests:      4", "Complete requests:      5", "is not"),
        ("ab", "mixed", "requests:      4", "requests:      x", "not what ab prints"),
        ("ab", "mixed", "Level:      10", "Level:      11", "asked were 10"),
        (
            "ab",
            "mixed",
            "Failed requests:        20992",
            "Failed requests: 20991",
            "more than those",
        ),
        ("ab", "mixed", "Keep-Alive requests:    4", "Keep-Alive requests:    94", "cannot be"),
        ("ab", "mixed", "Length:        6", "Length:        -6", "not what ab prints"),
        ("ab", "mixed", "patient)", "patient)\nComplete requests: 1", "more than one line"),
        ("h2load", "mixed", " done, ", " done,  ", "no line 'requests:'"),
        ("h2load", "mixed", "req/s, ", "0 req/s, ", "finished in"),
        ("hey", "mixed", "[500]\t", "[500]\t1", "is not"),
        ("hey", "mixed", "Average", "Mean", "no line 'Average:'"),
        ("wrk2", "mixed", "  Non-2xx", "  Non-2xx 9", "Non-2xx"),
        ("wrk2", "mixed", "Requests/sec:    ", "Requests/sec:   9", "is"),
        ("oha", "half", '"200": ', '"200": 1', "requestsPerSec"),
        ("oha", "half", '"p99"', '"p98"', "p99 is missing"),
        ("siege", "mixed", "_rate", "_rat", "transaction_rate: Field"),
        ("weighttp", "0.5-reset", '"us"', '"ms"', "its unit is 'ms'"),
        ("weighttp", "0.4-mixed", "500 done", "400 done", "400 requests"),
        ("weighttp", "0.4-mixed", "weighttp 0.4", "weighttp 0.6", r"no line 'weighttp 0\.4'"),
    ],
)
def test_numbers_that_do_not_agree_are_refused_by_name(
    tmp_path: Path, tool: str, name: str, printed: str, other: str, says: str
) -> None:
    copied(tool, name, tmp_path)
    content = (tmp_path / "stdout.txt").read_text()
    assert printed in content
    (tmp_path / "stdout.txt").write_text(content.replace(printed, other))
    with pytest.raises(OutputDamaged, match=says):
        read(tool, name, tmp_path)


# Options and commands


@pytest.mark.parametrize(
    ("tool", "options", "words"),
    [
        (
            *("ab", {"connections": 50}),
            "/bin/ab -q -k -s 30 -e F/percentiles-load.csv -t 10 -n 10000000 -c 50 http://127.0.0.1",
        ),
        (
            *("ab", {"requests": 500, "keep_alive": False, "variable_length": True}),
            "/bin/ab -q -l -s 30 -e F/percentiles-load.csv -n 500 -c 10 http://127.0.0.1:8080/",
        ),
        (
            *("wrk", {"connections": 50, "threads": 2, "duration": "1m", "timeout": "3s"}),
            "/bin/wrk -t2 -c50 -d60s --timeout 3s --latency -s ",
        ),
        ("h2load", {"connections": 5}, "--h1 -D 10 -c 5 -t 1 -m 1 --log-file=F/h2load-load.tsv"),
        ("h2load", {"protocol": "h2c", "streams": 8}, "-p h2c -D 10 -c 10 -t 1 -m 8"),
        ("hey", {"rate": "500/s", "connections": 20}, "-z 10s -c 20 -t 20 -q 25.0 -m GET"),
        ("siege", {"duration": "3s"}, "-R F/siegerc -b -j -c 10 -t 4S"),
        ("oha", {"rate": "1k/s", "correct": True}, "-q 1000 --latency-correction"),
        (
            *("wrk2", {"rate": "4k/s", "threads": 2}),
            "-t2 -c10 -d10s -R4000 --timeout 2s --latency --u_latency",
        ),
        ("weighttp", {}, "-n 10000 -c 10 -t 1 -k"),
        ("weighttp", {"duration": "2s"}, "-n 10000000 -a 2 -c 10 -t 1 -k"),
        ("locust", {"users": 8}, "--exit-code-on-error 0 -u 8 -r 8 -t 10s"),
        ("locust", {"users": 8}, "-t 10s -H http://127.0.0.1:8080"),
        ("locust", {"workers": 2}, "--master --master-bind-host 127.0.0.1 --expect-workers 2 --"),
        ("k6", {}, "run --quiet --no-usage-report --no-color --address"),
        (
            "hyperfine",
            {"command": ["{python}", "get.py", "{url}"], "requests": 5},
            "--export-json F/hyperfine-load.json /bin/python get.py 'http://127.0.0.1:8080/agents?",
        ),
    ],
)
def test_commands(tmp_path: Path, tool: str, options: dict[str, Any], words: str) -> None:
    command = part(tool, options).commands(target(tmp_path))[0]
    assert words in " ".join(command.argv).replace(str(tmp_path), "F")


def test_the_scenario_of_k6_is_closed_or_a_rate(tmp_path: Path) -> None:
    (closed,) = part("k6", {"users": 3}).files(target(tmp_path)).values()
    assert json.loads(closed)["scenario"]["executor"] == "constant-vus"
    (rate,) = part("k6", {"rate": "50/s"}).files(target(tmp_path)).values()
    fields = {"executor": "constant-arrival-rate", "rate": 50, "timeUnit": "1s", "duration": ""}
    fields |= {"preAllocatedVUs": 10, "maxVUs": 10, "gracefulStop": "10s"}
    assert json.loads(rate)["scenario"] | {"duration": ""} == fields


@pytest.mark.parametrize("tool", ["siege", "weighttp", "wrk2"])
def test_what_a_tool_cannot_send_is_refused(tmp_path: Path, tool: str) -> None:
    with pytest.raises(BenchforgeError, match=f"{tool}: a POST request"):
        part(tool).commands(target(tmp_path, Request(method="POST", path="/x", body="a")))


@pytest.mark.parametrize("tool", [tool for tool in TOOLS if tool != "hyperfine"])
def test_the_warm_up_is_as_long_as_it_is_recording(tool: str) -> None:
    extra = 1 if tool == "siege" else 0
    assert part(tool, {"duration": "20s"}).for_warm_up(2.5).declared_s() == 3 + extra
    assert part(tool, {"duration": "20s"}).declared_s() == 20 + extra


def test_runs_of_hyperfine_are_guessed() -> None:
    timed = part("hyperfine", {"command": ["a", "{url}"], "requests": 1, "run_takes": "2s"})
    assert (timed.declared_s(), timed.for_warm_up(5).declared_s()) == (20, 4)
    assert timed.grace_s() == 30 + 10


@pytest.mark.parametrize(
    ("tool", "options", "grace_s"),
    [
        ("siege", {"duration": "1s", "timeout": "30s"}, 10),  # it cancels what is under way
        ("hey", {"duration": "1s", "timeout": "20s"}, 30),  # it waits for what is under way
        ("weighttp", {"requests": 5000}, 32.5),
    ],
)
def test_a_tool_has_time_to_end(tool: str, options: dict[str, Any], grace_s: float) -> None:
    assert part(tool, options).grace_s() == grace_s


@pytest.mark.parametrize("tool", TOOLS)
def test_it_says_how_to_get_it(tool: str) -> None:
    options = {"command": ["{python}", "{url}"], "requests": 1} if tool == "hyperfine" else {}
    (need,) = part(tool, options).needs()
    assert need.name == tool
    assert any(word in need.how for word in ("apt-get", "pip install", "cargo", "pace", "go "))


def test_what_our_tests_cannot_run_says_so() -> None:
    parts = {tool: Registry().part("loader", tool) for tool in TOOLS}
    proved = {tool: part.proved for tool, part in parts.items() if issubclass(part, Loader)}
    only_read = {tool for tool, proof in proved.items() if proof == "recordings"}
    assert only_read == {"k6", "oha", "weighttp", "wrk2"}
