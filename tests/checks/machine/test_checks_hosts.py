"""Checks of trials on several hosts: links, clocks, load tools, and whether hosts are alike."""

from typing import Any

import pytest
from made import plain
from made.quiet_trial import LIMITS, asked, header, ids, observation, only, reading, trial, usage
from pydantic import JsonValue

from benchforge.checks import hosts
from benchforge.model.files.result import Header
from benchforge.model.trial.hosts import HostFacts, HostLink, TrialHost
from benchforge.model.trial.trial import Trial

GBIT = 125_000_000
LINK = HostLink(bytes_per_s=GBIT, round_trip_s=0.00003)
ALIKE: dict[str, JsonValue] = {"cpu": "EPYC", "governor": "performance", "boot": "a"}


def host(role: str, **changed: Any) -> TrialHost:
    observed = observation(usage=(usage(f"{role}-x", role),))
    fields: dict[str, Any] = {"address": "10.0.0.1", "parts": (f"{role}-x",), "dropped": 0}
    fields |= {"clock_offset_s": 5.0, "clock_bound_s": 0.00007, "clock_moved_s": 0.0}
    fields |= dict.fromkeys(("sent_bytes", "received_bytes"), 10 * GBIT // 5)
    return TrialHost.model_validate(fields | {"observation": observed} | changed)


def on_two(load: dict[str, Any] | None = None, app: dict[str, Any] | None = None) -> Trial:
    links: dict[str, Any] = {"links": {"app": LINK}, "links_at_first": {"app": LINK}}
    load_host = host("loader", **links | (load or {}))
    return trial(hosts={"load": load_host, "app": host("server", **app or {})})


def divided(**second: Any) -> Trial:
    """A load of 10 s, divided among two hosts."""
    mine: dict[str, Any] = {"reading": reading(), "started_s": 0.0}
    load = {name: host("loader", **mine | more) for name, more in (("l1", {}), ("l2", second))}
    return trial(hosts={**load, "app": host("server")})


def test_two_quiet_hosts_have_no_finding() -> None:
    assert not [check for check in hosts.of_trial(on_two(), LIMITS) if check.status != "pass"]
    assert not {"H6", "H8"} & ids(on_two())
    assert not {id_ for id_ in ids(trial()) if id_.startswith("H")}


@pytest.mark.parametrize(
    ("share", "status"), [(0.29, "pass"), (0.79, "pass"), (0.80, "fail"), (0.98, "fail")]
)
def test_a_full_link_is_the_limit(share: float, status: str) -> None:
    carried = int(share * 10 * GBIT) + 1
    check = asked(on_two({"sent_bytes": carried}, {"received_bytes": carried}), "H3")
    assert (check.status, check.subject) == (status, "behaviour")
    assert ("the link was the limit" in check.message) == (status == "fail")


def test_a_link_that_dropped_packets_is_said_and_traffic_that_nobody_read_is_unknown() -> None:
    assert asked(on_two({"dropped": 3}), "H3").status == "warn"
    assert asked(on_two({"sent_bytes": None}), "H3").status == "unknown"


@pytest.mark.parametrize(
    ("rate", "trip_s", "status"),
    [
        (1.0, 0.00003, "pass"),
        (0.81, 0.00003, "pass"),
        (0.79, 0.00003, "warn"),
        (0.49, 0.00003, "fail"),
        (1.0, 0.00012, "pass"),  # four times as long, and below a tenth of a millisecond more
        (1.0, 0.0002, "fail"),
    ],
)
def test_a_link_that_others_use_is_not_as_before(rate: float, trip_s: float, status: str) -> None:
    host_link = HostLink(bytes_per_s=GBIT * rate, round_trip_s=trip_s)
    check = asked(on_two({"links": {"app": host_link}}), "H4")
    assert (check.status, check.subject, check.transient) == (status, "apparatus", True)


@pytest.mark.parametrize(
    ("bound_s", "moved_s", "status"),
    [
        (0.00007, 0.0, "pass"),
        (0.0011, 0.0, "pass"),
        (0.00007, 0.001, "pass"),  # of which the bounds explain 0.14 ms
        (0.00007, -0.0012, "fail"),
        (None, 0.0, "unknown"),
        (0.00007, None, "unknown"),
    ],
)
def test_an_unsure_host_clock(bound_s: float | None, moved_s: float | None, status: str) -> None:
    changed = {"clock_bound_s": bound_s, "clock_moved_s": moved_s}
    assert asked(on_two(app=changed), "H5", "app").status == status


@pytest.mark.parametrize(("bound_s", "status"), [(0.0009, "pass"), (0.0011, "fail")])
def test_clocks_of_several_load_tools_have_to_be_known(bound_s: float, status: str) -> None:
    changed = {"clock_bound_s": bound_s, "clock_moved_s": 0.0}
    assert asked(divided(**changed), "H5", "l2").status == status


@pytest.mark.parametrize(("later_s", "status"), [(0.001, "pass"), (0.1, "warn"), (None, "unknown")])
def test_load_tools_that_do_not_start_together(later_s: float | None, status: str) -> None:
    assert asked(divided(started_s=later_s), "H6").status == status


def test_each_load_tool_is_judged_by_itself() -> None:
    busy = usage("l2-loader-x", "loader", busiest_thread_cpu_s=9.9)
    one_of_two = divided(observation=observation(usage=(busy,)))
    assert asked(one_of_two, "H8", "l1").status == "pass"
    check = asked(one_of_two, "H8", "l2")
    assert (check.status, check.subject) == ("fail", "apparatus")
    assert check.message.startswith("l2: the hottest thread")


@pytest.mark.parametrize(
    ("role", "other", "status"),
    [
        ("server", {}, "warn"),
        ("server", {"governor": "powersave"}, "warn"),
        ("loader", {"machine_id": "b", "boot": "b"}, "pass"),
        ("loader", {"governor": "powersave"}, "warn"),
    ],
)
def test_hosts_of_one_role_are_to_be_alike(
    role: str, other: dict[str, JsonValue], status: str
) -> None:
    result = on_hosts(a=ALIKE, b=ALIKE | other)
    trials = [plain.trial(case=trial().case, hosts={label: host(role)}) for label in result.hosts]
    sole = only(hosts.of_session(result, trials, LIMITS), "H2")
    assert sole.status == status
    assert ("governor" in sole.message) == ("governor" in other)


def on_hosts(**facts: dict[str, JsonValue]) -> Header:
    made = {
        label: HostFacts(address="10.0.0.1", code="0", facts=fact) for label, fact in facts.items()
    }
    return header().model_copy(update={"hosts": made})


def test_hosts_that_are_one_machine_are_named() -> None:
    result = on_hosts(a=ALIKE, b=ALIKE)
    assert "a and b are one machine" in only(hosts.of_session(result, (), LIMITS), "P1").message
