"""Checks of trials on several hosts: links, clocks, load tools, and whether hosts are alike."""

from typing import Any

import pytest
from made import plain
from made.quiet_trial import LIMITS, Row, header, ids, observation, only, reading, trial, usage
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


def test_h1_to_h8_have_no_finding_of_two_quiet_hosts() -> None:
    assert not [check for check in hosts.of_trial(on_two(), LIMITS) if check.status != "pass"]
    assert not {"H6", "H8"} & ids(on_two())
    assert not {id_ for id_ in ids(trial()) if id_.startswith("H")}


def full(share: float) -> Trial:
    carried = int(share * 10 * GBIT) + 1
    return on_two({"sent_bytes": carried}, {"received_bytes": carried})


def link(rate: float, trip_s: float = 0.00003) -> Trial:
    host_link = HostLink(bytes_per_s=GBIT * rate, round_trip_s=trip_s)
    return on_two({"links": {"app": host_link}})


def clock(bound_s: float | None, moved_s: float | None) -> dict[str, Any]:
    return {"clock_bound_s": bound_s, "clock_moved_s": moved_s}


BUSY = usage("l2-loader-x", "loader", busiest_thread_cpu_s=9.9)
ROWS = [
    *(Row("H3", full(share), "pass behaviour") for share in (0.29, 0.79)),
    *(Row("H3", full(n), "fail behaviour", says="the link was the limit") for n in (0.80, 0.98)),
    Row("H3", on_two({"dropped": 3}), "warn behaviour"),
    Row("H3", on_two({"sent_bytes": None}), "unknown behaviour"),
    *(Row("H4", link(rate), "pass") for rate in (1.0, 0.81)),
    Row("H4", link(0.79), "warn", says="others use the network"),
    Row("H4", link(0.49), "fail"),
    Row("H4", link(1, 0.00012), "pass"),  # four times as long, and below 0.1 ms more
    Row("H4", link(1, 0.0002), "fail"),
    *(Row("H5:app", on_two(app=clock(bound_s, 0)), "pass") for bound_s in (0.00007, 0.0011)),
    Row("H5:app", on_two(app=clock(0.00007, 0.001)), "pass"),  # the bounds explain 0.14 ms
    Row("H5:app", on_two(app=clock(0.00007, -0.0012)), "fail"),
    *(Row("H5:app", on_two(app=clock(*pair)), "unknown") for pair in ((None, 0), (0.00007, None))),
    # Clocks of several load tools have to be known.
    Row("H5:l2", divided(**clock(0.0009, 0)), "pass"),
    Row("H5:l2", divided(**clock(0.0011, 0)), "fail"),
    Row("H6", divided(started_s=0.001), "pass"),
    Row("H6", divided(started_s=0.1), "warn"),
    Row("H6", divided(started_s=None), "unknown"),
    # Each load tool is judged by itself.
    Row("H8:l1", divided(observation=observation(usage=(BUSY,))), "pass"),
    Row("H8:l2", divided(observation=observation(usage=(BUSY,))), "fail", says="l2: the hottest"),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.check}-{row.outcome}")
def test_hosts(row: Row) -> None:
    row.holds()


@pytest.mark.parametrize(
    ("role", "other", "status"),
    [
        ("server", {}, "warn"),
        ("server", {"governor": "powersave"}, "warn"),
        ("loader", {"machine_id": "b", "boot": "b"}, "pass"),
        ("loader", {"governor": "powersave"}, "warn"),
    ],
)
def test_h2_wants_hosts_of_one_role_alike(
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


def test_p1_names_hosts_that_are_one_machine() -> None:
    result = on_hosts(a=ALIKE, b=ALIKE)
    assert "a and b are one machine" in only(hosts.of_session(result, (), LIMITS), "P1").message
