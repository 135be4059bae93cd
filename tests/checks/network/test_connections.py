"""K1 to K7: what the network's counters, the tool and the processes tell of connections."""

from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made.observed import LIMITS, SEGMENTS, loader, observation, reading, trial, usage
from made.turns import turns

from benchforge.checks.network import connections
from benchforge.checks.network.connections import crowded, descriptors, keep_alive
from benchforge.model.trial.answers.monitor import Exhaustion, Listener
from benchforge.model.trial.check import Check
from benchforge.model.trial.histogram import Histogram
from benchforge.model.trial.observation import MachineUsage
from benchforge.model.trial.reading import Reading
from benchforge.model.trial.trial import Trial


def counted(network: Literal["private", "host"] = "private", /, **counters: int) -> Trial:
    """A trial whose network counted so much."""
    named = {name: n for name, n in counters.items() if n}
    return trial(observation=observation(network=network, counters=SEGMENTS | named))


def timed(times: dict[int, int], acks: int = 0, network: str = "private") -> Trial:
    counts = dict.fromkeys(("responses", "good_at_least", "good_at_most"), sum(times.values()))
    read = reading(**counts, latency=Histogram.of(times))
    counters = SEGMENTS | ({"TcpExtDelayedACKs": acks} if acks else {})
    return trial(reading=read, observation=observation(network=network, counters=counters))


def without_times(acks: int, network: Literal["private", "host"] = "private") -> Trial:
    item = counted(network, TcpExtDelayedACKs=acks)
    return item.model_copy(update={"reading": reading(latency=None)})


def closing(read: Reading, **counters: int) -> Trial:
    """A load that closes each connection, with so many opened."""
    observed = counted(TcpPassiveOpens=9_200, **counters).observation
    return trial(load={"keep_alive": False}, reading=read, observation=observed)


def in_turns(item: Trial) -> Trial:
    return item.model_copy(update={"turns": turns(100, 100)})


def waiting(sockets: int | None) -> Trial:
    ranges: dict[str, Any] = {} if sockets is None else {"ephemeral_ports": 28_232}
    machine = MachineUsage(cpus=2, time_wait_sockets=sockets, **ranges)
    return trial(observation=observation(machine=machine))


def listener(*, is_server: bool | None) -> Trial:
    address = "http://127.0.0.1:1"
    return trial(listener=Listener(address=address, is_server=is_server, why="hidden"))


FEW = dict.fromkeys(("responses", "good_at_least", "good_at_most"), 100)
SHARED = observation(network="host", counters=SEGMENTS | {"TcpPassiveOpens": 36_353})
UNREAD = trial(observation=observation(counters={}))
LOST = "800 requests had no answer: their connections were reset, or never accepted"
SENT_AGAIN = {"TcpExtListenDrops": 5, "TcpExtTCPSynRetrans": 5, "TcpExtTCPTimeouts": 5}
LATE = {"TcpRetransSegs": 3, "TcpExtTCPTimeouts": 2}
FULL = ("ListenOverflows", "ListenDrops", "TCPReqQFullDrop", "TCPReqQFullDoCookies")
TWO_WRITES = {41_000: 200, 43_900: 82, 300: 6}
SLOW = {ms * 1000: 10 for ms in range(45, 95)}
NOT_KNOWN = (
    "2 % of the responses took 38 to 46 ms, 0 % took less, with 0.98 delayed acknowledgements "
    "each: whether the others waited is not known"
)
LINE = "apr_socket_connect(): Cannot assign requested address (99)"
CLAIMED = {"errors": {"[Errno 99] Cannot assign requested address": 7}}

ROWS: list[tuple[str, Trial, str, str]] = [
    # wrk -c16 has 17 connections in a network of its own: one is its test connection.
    ("K1", counted(TcpPassiveOpens=17), "pass behaviour", "over 16 connections: kept"),
    ("K1", counted(TcpPassiveOpens=22), "pass behaviour", "over 21 connections: kept"),
    ("K1", counted(TcpPassiveOpens=201), "pass behaviour", "over 200 connections: kept"),
    ("K1", counted(TcpPassiveOpens=202), "fail behaviour", "over 201 connections, where 16"),
    ("K1", counted(TcpPassiveOpens=20_001), "fail behaviour", "not honoured"),
    # 21 of 21.8 that a short load may have.
    (
        "K1",
        counted(TcpPassiveOpens=22).model_copy(update={"reading": reading(**FEW)}),
        "pass behaviour",
        "over 21",
    ),
    ("K1", closing(reading(connections=19_600)), "pass apparatus", "one each as asked"),
    ("K1", closing(reading(connections=19_599)), "fail apparatus", "used them again"),
    *(
        ("K1", closing(reading(connections=9_200, **read), **counters), "fail apparatus", LOST)
        for read, counters in (
            ({"responses": 9_200, "unanswered": 800}, {}),
            ({"responses": 10_000, "errors": {"length": 800}}, {}),
            ({"responses": 10_000}, {"TcpEstabResets": 800}),
        )
    ),
    # What the tool tells counts where counters do not.
    ("K1", trial(observation=SHARED), "unknown behaviour", "whole machine"),
    ("K1", trial(reading=reading(connections=16), observation=SHARED), "pass behaviour", "over 16"),
    ("K1", trial(load={"keep_alive": None}), "unknown behaviour", "was to keep"),
    ("K1", trial(load={"connections": None}), "unknown behaviour", "how many connections"),
    ("K1", trial(observation=None), "unknown behaviour", "nothing was observed"),
    ("K1", UNREAD, "unknown behaviour", "counters were not read"),
    (
        "K1",
        trial(observation=observation(foreign_connections="the server's own are counted too")),
        "unknown behaviour",
        "the server's own",
    ),
    *(("K2", counted(**{f"TcpExt{name}": 1}), "fail behaviour", f"{name} 1)") for name in FULL),
    ("K2", counted("host", TcpExtListenDrops=440), "warn behaviour", "ListenDrops 440)"),
    ("K2", in_turns(counted(TcpExtListenDrops=1)), "fail apparatus", 'interleave = "off"'),
    ("K2", in_turns(counted()), "pass behaviour", ""),
    ("K2", counted(), "pass behaviour", ""),
    ("K2", counted("host"), "pass behaviour", ""),
    ("K2", UNREAD, "unknown behaviour", ""),
    ("K3", UNREAD, "unknown apparatus", ""),
    ("K3", counted(), "pass apparatus", ""),
    (
        "K3",
        counted(TcpRetransSegs=2, TcpOutSegs=27_510),
        "pass apparatus",
        "2 of 27,510 segments were sent again, 0 times after a time-out",
    ),
    ("K3", counted(TcpRetransSegs=30, TcpOutSegs=27_510), "warn apparatus", ""),
    ("K3", counted(**LATE), "fail apparatus", ""),
    ("K3", counted("host", **LATE), "warn apparatus", "the whole machine"),
    ("K3", counted(**SENT_AGAIN), "fail behaviour", "raise its backlog"),
    # Measured: 97.9 % in 38 to 46 ms, 282 delayed acknowledgements of 288 requests.
    ("K4", timed(TWO_WRITES, acks=282), "fail behaviour", "97.9 % of the responses"),
    ("K4", timed(TWO_WRITES, acks=282), "fail behaviour", "TCP_NODELAY"),
    # Where the counters are others' too, the times alone tell.
    ("K4", timed(TWO_WRITES, network="host"), "fail behaviour", ""),
    ("K4", timed({300: 13_000}, acks=2), "pass behaviour", ""),
    ("K4", timed({ms * 1000: 10 for ms in range(20, 80)}, acks=600), "pass behaviour", ""),
    ("K4", timed({41_000: 99, 300: 9901}, acks=99), "pass behaviour", ""),
    # Where nothing is faster than the delay.
    ("K4", timed(SLOW, acks=490), "unknown behaviour", NOT_KNOWN),
    ("K4", timed(SLOW, network="host"), "unknown behaviour", ""),
    ("K4", timed(SLOW, acks=2), "pass behaviour", ""),
    ("K4", timed(SLOW | {20_000: 10}, acks=490), "pass behaviour", ""),
    ("K4", timed({41_000: 1000}, acks=10), "pass behaviour", "the server takes so long"),
    # Without times few delayed acknowledgements are proof, and many are none.
    ("K4", without_times(200), "pass behaviour", ""),
    ("K4", without_times(201), "unknown behaviour", ""),
    ("K4", without_times(2, "host"), "unknown behaviour", ""),
    *(("K5", waiting(n), "pass apparatus", "") for n in (0, 19_700)),
    ("K5", waiting(19_800), "warn apparatus", ""),
    *(("K5", waiting(n), "fail apparatus", "") for n in (25_500, 30_316)),
    ("K5", waiting(None), "unknown apparatus", "the kernel does not tell"),
    (
        "K5",
        trial(exhaustions=(Exhaustion(label="loader-w", resource="ports", line=LINE),)),
        "fail apparatus",
        LINE,
    ),
    ("K5", trial(reading=reading(printed=CLAIMED)), "fail apparatus", ""),
    ("K7", listener(is_server=True), "pass apparatus", "listened at"),
    ("K7", listener(is_server=False), "fail apparatus", "end that one"),
    ("K7", listener(is_server=None), "unknown apparatus", "hidden"),
]


def asked(item: Trial, id_: str) -> Check:
    (check,) = (check for check in connections.of_trial(item, LIMITS) if check.id == id_)
    return check


@pytest.mark.parametrize(("id_", "item", "outcome", "says"), ROWS)
def test_connections(id_: str, item: Trial, outcome: str, says: str) -> None:
    check = asked(item, id_)
    assert f"{check.status} {check.subject}" == outcome
    assert (check.value is None) >= (check.status == "unknown")
    assert says in check.message
    assert check.invalidates == ("latency" if id_ in {"K3", "K4"} else "all")


def test_nothing_speaks_against_a_healthy_trial() -> None:
    items = list(connections.of_trial(trial(), LIMITS))
    assert {item.id for item in items} == {f"K{n}" for n in range(1, 8)}
    assert {item.status for item in items} == {"pass"}, items


def test_nothing_observed_is_unknown_and_never_a_pass() -> None:
    bare = trial(observation=None, listener=None, load={"connections": None})
    actual = {check.id: check.status for check in connections.of_trial(bare, LIMITS)}
    assert actual == {**dict.fromkeys(("K1", "K2", "K3", "K5", "K7"), "unknown"), "K4": "pass"}
    no_times = bare.model_copy(update={"reading": reading(latency=None)})
    assert asked(no_times, "K4").status == "unknown"
    assert trial(checks=(asked(counted(**LATE), "K3"),)).believed  # but its latencies are not


# --- K1 ------------------------------------------------------------------------------------------


@given(st.integers(1, 500), st.integers(1, 10**6), st.integers(0, 10**6), st.booleans())
def test_k1_has_the_rule_of_keep_alive(
    allowed: int, responses: int, opened: int, keeps: bool
) -> None:
    counts = dict.fromkeys(("responses", "good_at_least", "good_at_most"), responses)
    load = {"connections": allowed, "keep_alive": keeps}
    check = keep_alive(trial(load=load, reading=reading(**counts, connections=opened)), LIMITS)
    closes = opened > 1.05 * allowed + 5 and responses < 100 * opened
    reuses = opened < 0.98 * responses
    assert check.status == ("fail" if (closes if keeps else reuses) else "pass")


def test_k1_names_sides_that_treat_connections_otherwise() -> None:
    stored, closed = trial(server="kept"), counted(TcpPassiveOpens=9000)
    unknown = trial(server="other", load={"keep_alive": None})

    def between(*sides: Trial | None) -> list[tuple[str, str]]:
        cases = [[side] if side else [] for side in sides]
        return [(it.status, it.message) for it in connections.of_comparison(cases, LIMITS)]

    ((status, says),) = between(stored, closed)
    assert (status, "kept kept connections alive, and a closed them" in says) == ("warn", True)
    # Two cases of one name are told apart.
    assert "a kept connections alive, and a #2 closed them" in between(trial(), closed)[0][1]
    pairs = ((stored, stored), (stored, unknown), (stored, None))
    assert [between(*pair)[0][0] for pair in pairs] == ["pass", "unknown", "unknown"]
    assert between() == between(stored) == []


# --- K4 ------------------------------------------------------------------------------------------


@given(st.dictionaries(st.integers(0, 200_000), st.integers(1, 50), min_size=1))
def test_k4_counts_the_crowd_by_buckets(times: dict[int, int]) -> None:
    share, density = crowded(Histogram.of(times))
    total = sum(times.values())
    surely = sum(n for us, n in times.items() if 38_040 <= us < 45_960) / total
    maybe = sum(n for us, n in times.items() if 37_960 <= us < 46_040) / total
    assert surely <= share + 1e-9
    assert share <= maybe + 1e-9
    assert density >= 0
    assert (density > 0) == (share > 0)


@given(st.dictionaries(st.integers(0, 10**7), st.integers(1, 9)), *[st.integers(0, 10**7)] * 2)
def test_k4_splits_times_without_rest(times: dict[int, int], item: int, other: int) -> None:
    histogram = Histogram.of(times)
    low, high = sorted((item, other))
    parts = [(0, low), (low, high), (high, float("inf"))]
    assert sum(histogram.between(*part) for part in parts) == histogram.count


# --- K6 ------------------------------------------------------------------------------------------


def test_k6_wants_descriptors_for_the_connections_and_two_hundred() -> None:
    def judged(files: int | None, tool: int = 4096, connections: int | None = 1000) -> list[str]:
        parts = observation(usage(open_files_limit=files), loader(open_files_limit=tool))
        item = trial(observation=parts, load={"connections": connections})
        return [f"{it.component} {it.status} {it.value}" for it in descriptors(item, LIMITS)]

    assert judged(1200) == ["server-a pass 200.0", "loader-w pass 3096.0"]
    assert judged(1199) == ["server-a fail 199.0", "loader-w pass 3096.0"]
    assert judged(None) == ["server-a unknown None", "loader-w pass 3096.0"]
    assert judged(9, connections=None) == ["server-a unknown None", "loader-w unknown None"]
    # A load tool may raise its own limit.
    assert judged(4096, tool=1024) == ["server-a pass 3096.0", "loader-w warn 24.0"]


@pytest.mark.parametrize(
    ("label", "files", "subject"),
    [
        ("server-a", 4096, "behaviour"),
        *(("server-a", 100, "apparatus"), ("loader-w", 4096, "apparatus")),
        ("backend-db", 4096, "apparatus"),
    ],
)
def test_k6_tells_apart_who_ran_out_of_descriptors(label: str, files: int, subject: str) -> None:
    line = Exhaustion(label=label, resource="descriptors", line="Too many open files")
    parts = observation(usage(open_files_limit=files), loader())
    checks = descriptors(trial(observation=parts, exhaustions=(line,)), LIMITS)
    (check,) = (check for check in checks if check.status != "pass")
    assert (check.component, check.status, check.subject) == (label, "fail", subject)
