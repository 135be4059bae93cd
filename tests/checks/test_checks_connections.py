"""K1 to K7: what the network's counters, the tool and the processes tell of connections."""

from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made.observed import LIMITS, SEGMENTS, loader, observation, reading, trial, usage
from made.turns import turns

from benchforge.checks.network import connections
from benchforge.checks.network.connections import (
    backlog,
    crowded,
    delayed,
    descriptors,
    keep_alive,
    ports,
    retransmission,
    right_process,
)
from benchforge.model.trial.answers.monitor import Exhaustion, Listener
from benchforge.model.trial.check import Check
from benchforge.model.trial.histogram import Histogram
from benchforge.model.trial.observation import MachineUsage
from benchforge.model.trial.trial import Trial


def counted(network: Literal["private", "host"] = "private", /, **counters: int) -> Trial:
    """A trial whose network counted so much."""
    named = {name: n for name, n in counters.items() if n}
    return trial(observation=observation(network=network, counters=SEGMENTS | named))


def test_nothing_speaks_against_a_healthy_trial() -> None:
    items = list(connections.of_trial(trial(), LIMITS))
    assert {item.id for item in items} == {f"K{n}" for n in range(1, 8)}
    assert {item.status for item in items} == {"pass"}, items


def test_nothing_observed_is_unknown_and_never_a_pass() -> None:
    bare = trial(observation=None, listener=None, load={"connections": None})
    actual = {check.id: check.status for check in connections.of_trial(bare, LIMITS)}
    assert actual == {**dict.fromkeys(("K1", "K2", "K3", "K5", "K7"), "unknown"), "K4": "pass"}
    no_times = bare.model_copy(update={"reading": reading(latency=None)})
    assert delayed(no_times, LIMITS).status == "unknown"


# --- K1 ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("opened", "status"),
    [(17, "pass"), (16 * 1.05 + 5 + 1, "pass"), (201, "pass"), (202, "fail"), (20_001, "fail")],
)
def test_keep_alive_by_requests_per_connection(opened: float, status: str) -> None:
    # wrk -c16 has 17 connections in a network of its own: one is its test connection.
    check = keep_alive(counted(TcpPassiveOpens=int(opened)), LIMITS)
    assert (check.status, check.subject, check.value) == (status, "behaviour", int(opened) - 1)


def test_a_short_load_with_few_connections_too_many_is_no_fault() -> None:
    read = reading(responses=100, good_at_least=100, good_at_most=100)
    observed = observation(counters=SEGMENTS | {"TcpPassiveOpens": 22})
    short = trial(reading=read, observation=observed)
    assert keep_alive(short, LIMITS).status == "pass"  # 21 of 21.8 allowed


@pytest.mark.parametrize(("opened", "status"), [(19_600, "pass"), (19_599, "fail")])
def test_without_keep_alive_each_request_has_its_own(opened: int, status: str) -> None:
    closing = trial(load={"keep_alive": False}, reading=reading(connections=opened))
    check = keep_alive(closing, LIMITS)
    assert (check.status, check.subject) == (status, "apparatus")


@pytest.mark.parametrize(
    ("changed", "counters"),
    [({"unanswered": 800}, {}), ({"errors": {"length": 800}}, {}), ({}, {"TcpEstabResets": 800})],
)
def test_reset_connections_are_not_used(changed: dict[str, Any], counters: dict[str, int]) -> None:
    fields = {"responses": 10_000 - changed.get("unanswered", 0), "connections": 9_200}
    observed = counted(**{"TcpPassiveOpens": 9_200, **counters}).observation
    read = reading(**fields, **changed)
    closing = trial(load={"keep_alive": False}, reading=read, observation=observed)
    check = keep_alive(closing, LIMITS)
    assert check.status == "fail"
    text = ": 800 requests had no answer: their connections were reset, or never accepted"
    assert check.message.endswith(text)
    again = closing.model_copy(update={"reading": reading(responses=20_000, connections=9_200)})
    assert keep_alive(again, LIMITS).message.endswith("the load tool used them again")


def test_what_the_tool_tells_counts_where_counters_do_not() -> None:
    actual = reading(connections=16)
    shared = observation(network="host", counters=SEGMENTS | {"TcpPassiveOpens": 36_353})
    assert keep_alive(trial(reading=actual, observation=shared), LIMITS).value == 16
    unknown = keep_alive(trial(observation=shared), LIMITS)
    assert unknown.status == "unknown"
    assert "whole machine" in unknown.message


@pytest.mark.parametrize(
    "changed",
    [
        {"load": {"keep_alive": None}},
        {"load": {"connections": None}},
        {"observation": observation(foreign_connections="the server's own are counted too")},
        {"observation": observation(counters={})},
        {"observation": None},
    ],
)
def test_keep_alive_is_unknown_with_its_reason(changed: Any) -> None:
    check = keep_alive(trial(**changed), LIMITS)
    assert (check.status, check.value) == ("unknown", None)
    assert check.message != "keep-alive was not looked at: "


@given(st.integers(1, 500), st.integers(1, 10**6), st.integers(0, 10**6), st.booleans())
def test_the_rule_of_keep_alive(allowed: int, responses: int, opened: int, keeps: bool) -> None:
    counts = dict.fromkeys(("responses", "good_at_least", "good_at_most"), responses)
    load = {"connections": allowed, "keep_alive": keeps}
    check = keep_alive(trial(load=load, reading=reading(**counts, connections=opened)), LIMITS)
    closes = opened > 1.05 * allowed + 5 and responses < 100 * opened
    reuses = opened < 0.98 * responses
    assert check.status == ("fail" if (closes if keeps else reuses) else "pass")


def test_two_cases_of_one_name_are_told_apart() -> None:
    of_comparison = connections.of_comparison([[trial()], [counted(TcpPassiveOpens=9000)]], LIMITS)
    assert "a kept connections alive, and a #2 closed them" in next(of_comparison).message


def test_sides_that_treat_connections_otherwise_are_told() -> None:
    stored, closed = trial(server="kept"), counted(TcpPassiveOpens=9000)
    unknown = trial(server="other", load={"keep_alive": None})

    def between(*sides: Trial) -> list[Check]:
        return list(connections.of_comparison([[side] for side in sides], LIMITS))

    assert [item.status for item in between(stored, closed)] == ["warn"]
    assert "kept" in between(stored, closed)[0].message
    assert [item.status for item in between(stored, stored)] == ["pass"]
    assert [item.status for item in between(stored, unknown)] == ["unknown"]
    assert between() == between(stored) == []
    nobody = next(connections.of_comparison([[stored], []], LIMITS))
    assert (nobody.id, nobody.status) == ("K1", "unknown")


# --- K2 and K3 -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["ListenOverflows", "ListenDrops", "TCPReqQFullDrop", "TCPReqQFullDoCookies"]
)
def test_one_connection_turned_away_is_a_finding(name: str) -> None:
    check = backlog(counted(**{f"TcpExt{name}": 1}), LIMITS)
    assert (check.status, check.subject, check.value) == ("fail", "behaviour", 1)
    assert f"TcpExt{name}" in check.message
    on_the_machine = backlog(counted("host", **{f"TcpExt{name}": 440}), LIMITS)
    assert (on_the_machine.status, on_the_machine.value) == ("warn", 440)


def test_a_full_queue_hides_in_turns() -> None:
    in_turns = counted(TcpExtListenDrops=1).model_copy(update={"turns": turns(100, 100)})
    check = backlog(in_turns, LIMITS)
    assert (check.status, check.subject) == ("fail", "apparatus")
    assert 'interleave = "off"' in check.message
    quiet = counted().model_copy(update={"turns": turns(100, 100)})
    assert backlog(quiet, LIMITS).status == "pass"


def test_no_growth_is_none_of_ours_and_nothing_read_is_unknown() -> None:
    assert backlog(counted(), LIMITS).status == "pass"
    assert backlog(counted("host"), LIMITS).status == "pass"
    unread = trial(observation=observation(counters={}))
    assert backlog(unread, LIMITS).status == "unknown"
    assert retransmission(unread, LIMITS).status == "unknown"


def test_retransmission_warns_and_a_time_out_fails_for_latency() -> None:
    assert retransmission(counted(), LIMITS).status == "pass"
    few = retransmission(counted(TcpRetransSegs=2, TcpOutSegs=27_510), LIMITS)
    assert few.status == "pass"
    assert few.message == "2 of 27,510 segments were sent again, 0 times after a time-out"
    again = retransmission(counted(TcpRetransSegs=30, TcpOutSegs=27_510), LIMITS)
    assert (again.status, again.subject, again.invalidates) == ("warn", "apparatus", "latency")
    late = retransmission(counted(TcpRetransSegs=3, TcpExtTCPTimeouts=2), LIMITS)
    assert (late.status, late.subject, late.invalidates) == ("fail", "apparatus", "latency")
    assert trial(checks=(late,)).believed  # but its latencies are not
    host = retransmission(counted("host", TcpRetransSegs=3, TcpExtTCPTimeouts=2), LIMITS)
    assert host.status == "warn"


def test_what_a_full_backlog_makes_be_sent_again_is_the_servers() -> None:
    counters = {"TcpExtListenDrops": 5, "TcpExtTCPSynRetrans": 5, "TcpExtTCPTimeouts": 5}
    check = retransmission(counted(**counters), LIMITS)
    assert (check.status, check.subject) == ("fail", "behaviour")


# --- K4 ------------------------------------------------------------------------------------------


def timed(times: dict[int, int], acks: int = 0, network: str = "private") -> Trial:
    counts = dict.fromkeys(("responses", "good_at_least", "good_at_most"), sum(times.values()))
    read = reading(**counts, latency=Histogram.of(times))
    counters = SEGMENTS | ({"TcpExtDelayedACKs": acks} if acks else {})
    return trial(reading=read, observation=observation(network=network, counters=counters))


def test_two_small_writes_are_recognised() -> None:
    # Measured: 97.9 % in 38 to 46 ms, 282 delayed acknowledgements of 288 requests.
    two_writes = {41_000: 200, 43_900: 82, 300: 6}
    check = delayed(timed(two_writes, acks=282), LIMITS)
    assert (check.status, check.subject, check.invalidates) == ("fail", "behaviour", "latency")
    assert check.value == pytest.approx(0.979, abs=0.001)
    assert "TCP_NODELAY" in check.message
    # Where the counters are others' too, the times alone tell.
    assert delayed(timed(two_writes, network="host"), LIMITS).status == "fail"


def test_times_that_are_not_crowded_there_pass() -> None:
    assert delayed(timed({300: 13_000}, acks=2), LIMITS).status == "pass"
    spread = {ms * 1000: 10 for ms in range(20, 80)}  # 8 of 60 ms
    assert delayed(timed(spread, acks=600), LIMITS).status == "pass"
    assert delayed(timed({41_000: 99, 300: 9901}, acks=99), LIMITS).status == "pass"


def test_where_nothing_is_faster_than_the_delay_it_is_not_known() -> None:
    slow = {ms * 1000: 10 for ms in range(45, 95)}
    check = delayed(timed(slow, acks=490), LIMITS)
    assert (check.status, check.value) == ("unknown", None)
    assert check.message == (
        "2 % of the responses took 38 to 46 ms, 0 % took less, with 0.98 delayed acknowledgements "
        "each: whether the others waited is not known"
    )
    assert delayed(timed(slow, network="host"), LIMITS).status == "unknown"
    assert delayed(timed(slow, acks=2), LIMITS).status == "pass"
    assert delayed(timed(slow | {20_000: 10}, acks=490), LIMITS).status == "pass"


def test_a_server_that_takes_40_ms_itself_delays_no_acknowledgement() -> None:
    check = delayed(timed({41_000: 1000}, acks=10), LIMITS)
    assert check.status == "pass"
    assert "the server takes so long" in check.message


def test_without_times_few_delayed_acknowledgements_are_proof_and_many_are_none() -> None:
    def without(acks: int, network: str = "private") -> str:
        observed = observation(network=network, counters=SEGMENTS | {"TcpExtDelayedACKs": acks})
        return delayed(trial(reading=reading(latency=None), observation=observed), LIMITS).status

    assert [without(200), without(201), without(2, "host")] == ["pass", "unknown", "unknown"]


@given(st.dictionaries(st.integers(0, 200_000), st.integers(1, 50), min_size=1))
def test_the_crowd_is_counted_by_buckets(times: dict[int, int]) -> None:
    share, density = crowded(Histogram.of(times))
    total = sum(times.values())
    surely = sum(n for us, n in times.items() if 38_040 <= us < 45_960) / total
    maybe = sum(n for us, n in times.items() if 37_960 <= us < 46_040) / total
    assert surely <= share + 1e-9
    assert share <= maybe + 1e-9
    assert density >= 0
    assert (density > 0) == (share > 0)


@given(
    st.dictionaries(st.integers(0, 10**7), st.integers(1, 9)),
    *[st.integers(0, 10**7)] * 2,
)
def test_between_splits_without_rest(times: dict[int, int], item: int, other: int) -> None:
    histogram = Histogram.of(times)
    low, high = sorted((item, other))
    parts = [(0, low), (low, high), (high, float("inf"))]
    assert sum(histogram.between(*part) for part in parts) == histogram.count


# --- K5 and K6 -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("waiting", "status"),
    [(0, "pass"), (19_700, "pass"), (19_800, "warn"), (25_500, "fail"), (30_316, "fail")],
)
def test_ports_that_wait(waiting: int, status: str) -> None:
    machine = MachineUsage(cpus=2, time_wait_sockets=waiting, ephemeral_ports=28_232)
    check = ports(trial(observation=observation(machine=machine)), LIMITS)
    assert (check.status, check.subject) == (status, "apparatus")


def test_ports_that_ran_out_by_the_words_of_the_tool() -> None:
    line = "apr_socket_connect(): Cannot assign requested address (99)"
    complained = trial(exhaustions=(Exhaustion(label="loader-w", resource="ports", line=line),))
    assert ports(complained, LIMITS).status == "fail"
    assert line in ports(complained, LIMITS).message
    claimed = reading(printed={"errors": {"[Errno 99] Cannot assign requested address": 7}})
    assert ports(trial(reading=claimed), LIMITS).status == "fail"
    quiet = MachineUsage(cpus=2)
    assert ports(trial(observation=observation(machine=quiet)), LIMITS).status == "unknown"


def test_descriptors_are_enough_for_the_connections_and_two_hundred() -> None:
    def seen(files: int | None, **label: Any) -> list[Check]:
        parts = observation(usage(open_files_limit=files), loader(open_files_limit=4096))
        item = trial(observation=parts, load={"connections": 1000}, **label)
        return list(descriptors(item, LIMITS))

    assert [item.status for item in seen(1200)] == ["pass", "pass"]
    assert [(item.status, item.value) for item in seen(1199)] == [("fail", 199), ("pass", 3096)]
    assert [item.status for item in seen(None)] == ["unknown", "pass"]
    unknown = list(descriptors(trial(load={"connections": None}), LIMITS))
    assert {item.status for item in unknown} == {"unknown"}


def test_a_load_tool_may_raise_its_own_limit() -> None:
    parts = observation(usage(), loader(open_files_limit=1024))
    items = list(descriptors(trial(observation=parts, load={"connections": 1000}), LIMITS))
    statuses = {item.component: item.status for item in items}
    assert statuses == {"server-a": "pass", "loader-w": "warn"}


def test_who_ran_out_of_descriptors_is_told_apart() -> None:
    def complains(label: str, files: int) -> list[tuple[str, str, str]]:
        line = Exhaustion(label=label, resource="descriptors", line="Too many open files")
        parts = observation(usage(open_files_limit=files), loader())
        checks = descriptors(trial(observation=parts, exhaustions=(line,)), LIMITS)
        return [(it.component, it.status, it.subject) for it in checks if it.status != "pass"]

    assert complains("server-a", 4096) == [("server-a", "fail", "behaviour")]
    assert complains("server-a", 100) == [("server-a", "fail", "apparatus")]
    assert complains("loader-w", 4096) == [("loader-w", "fail", "apparatus")]
    assert complains("backend-db", 4096) == [("backend-db", "fail", "apparatus")]


# --- K7 ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first_side", "status"), [(True, "pass"), (False, "fail"), (None, "unknown")]
)
def test_whose_process_answered(first_side: bool | None, status: str) -> None:
    listener = Listener(address="http://127.0.0.1:1", is_server=first_side, why="hidden")
    check = right_process(trial(listener=listener), LIMITS)
    assert (check.status, check.subject) == (status, "apparatus")
    assert ("hidden" in check.message) == (first_side is None)
