"""The ceiling of a load tool: what is made of it, and how a run measures it."""

import itertools
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from front_door import Bench, answering
from hypothesis import given
from hypothesis import strategies as st
from made import plain
from measured.case import cases

from benchforge.checks.limits import limits
from benchforge.checks.load_tool import ceiling
from benchforge.model.files.ceiling import Ceiling
from benchforge.model.trial.answers.answer import Answer
from benchforge.model.trial.check import Check
from benchforge.model.trial.hosts import TrialHost
from benchforge.model.trial.observation import Usage
from benchforge.model.trial.reading import Load, Schedule
from benchforge.model.trial.trial import Failure, Trial
from benchforge.run.ceiling.ceiling import COSTS_S, SHARE, against, lacking, wanted
from benchforge.run.ceiling.null_server import NullServer

CASE = plain.named("one", driver="closed", digest="a" * 16)
SECONDS = 10.0


def used(role: Any, cpu_s: float | None, hottest_s: float | None = None) -> Usage:
    return plain.usage(role, cpu_s=cpu_s, peak_pss_bytes=1, busiest_thread_cpu_s=hottest_s)


def trial(
    rate: float,
    *,
    length: int = 100,
    driven: str | None = "load",
    usage: Sequence[Usage] = (used("server", 1.0), used("loader", 9.5)),
    schedule: Schedule | None = None,
    **other: Any,
) -> Trial:
    made: dict[str, Any] = {
        "case": CASE,
        "seconds": SECONDS,
        "url": "http://127.0.0.1:8000/",
        "answers": (Answer(status=200, headers={}, length=length, sha256="", seconds=0.001),),
        "load": Load(processes=1),
        "driver_digest": driven,
        "reading": plain.reading(round(rate * SECONDS), seconds=SECONDS, schedule=schedule),
        "observation": plain.observation(*usage, seconds=SECONDS),
    }
    return plain.trial(**made | other)


def plain_check(id_: str, status: Any, **changed: Any) -> Check:
    fields = {"name": "link", "scope": "trial", "subject": "behaviour", "message": ""} | changed
    return Check.model_validate({"id": id_, "status": status, **fields})


def ceiling_of(rate: float, length: int = 100, **how: Any) -> Ceiling:
    return Ceiling(
        number=1, body_bytes=length, processes=1, trial=trial(rate, length=length, **how)
    )


def host(*parts: str, rate: float | None = None) -> TrialHost:
    reading = None if rate is None else plain.reading(round(rate * SECONDS), seconds=SECONDS)
    return TrialHost(address="10.0.0.1", parts=parts, reading=reading)


def on_hosts(rate: float, rate2: float) -> Trial:
    """A load that two load tools divide."""
    tools = {"l1": host("loader-closed", rate=rate), "l2": host("l2-loader-closed", rate=rate2)}
    return trial(rate + rate2, hosts={**tools, "app": host("server-one")})


def ceiling_on(
    label: str, rate: float, *, text: str = "app", shares: int = 2, **how: Any
) -> Ceiling:
    hosts = {label: host("loader-closed"), text: host("server-null")}
    item = ceiling_of(rate, hosts=hosts, case=plain.named("null", driver="closed"), **how)
    return item.model_copy(update={"shares": shares})


def asked(trials: Sequence[Trial], ceilings: Sequence[Ceiling], **how: Any) -> list[Check]:
    return list(ceiling.of_session(plain.header(CASE, **how), trials, ceilings, limits()))


def answer(trial: Trial, label: Ceiling) -> Check:
    (check,) = asked([trial], [label])
    return check


@pytest.mark.parametrize(
    ("share", "status"), [(0.1, "pass"), (0.69, "pass"), (0.71, "warn"), (0.91, "fail")]
)
def test_a_rate_is_compared_with_the_null_servers(share: float, status: str) -> None:
    actual = answer(trial(10_000 * share), ceiling_of(10_000))
    assert (actual.id, actual.scope) == ("L2", "result")
    assert (actual.subject, actual.status) == ("apparatus", status)
    assert actual.value == pytest.approx(share, rel=0.001)
    assert actual.component == CASE.title
    assert ("the load tool, not the server, was the limit" in actual.message) is (status == "fail")


RATES, CPU_S = st.floats(1, 1e6), st.floats(0, 10)


@given(RATES, RATES, CPU_S, CPU_S, st.integers(0, 10**6))
def test_neither_pass_nor_fail_is_said_of_what_is_only_a_bound(
    rate: float, most: float, tool_s: float, null_s: float, length: int
) -> None:
    usage = (used("server", null_s), used("loader", tool_s))
    subject = ceiling_of(most, usage=usage)
    if subject.per_second is None or not round(rate * SECONDS):
        return
    actual = answer(trial(rate, length=length), subject)
    if subject.only_a_floor or (length < 100 and abs(length - 100) > 1024):
        assert actual.status in {"pass", "unknown"}
    if length > 100 + 1024:
        assert actual.status != "pass"


NOISE = plain_check("N1", "fail", name="foreign-cpu", subject="apparatus")
WORKED = "the null server worked more than the tool (0.9 and 0.4 of a CPU)"


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ({"usage": (used("server", 9.0), used("loader", 4.0))}, WORKED),
        ({"usage": (used("server", None), used("loader", 9.0))}, "is not known"),
        ({"checks": (NOISE,)}, "that measurement is not believed (N1 foreign-cpu)"),
    ],
)
def test_a_floor_is_no_ceiling_and_no_verdict(how: dict[str, Any], reason: str) -> None:
    label = ceiling_of(10_000, **how)
    assert answer(trial(1_000), label).status == "pass"
    actual = answer(trial(9_500), label)
    assert actual.status == "unknown"
    assert reason in actual.message


def test_the_busiest_thread_of_the_tool_decides_where_it_is_known() -> None:
    usage = (used("server", 6.0), used("loader", 8.0, hottest_s=2.0))
    assert ceiling_of(10_000, usage=usage).only_a_floor
    usage = (used("server", 6.0), used("loader", 12.0, hottest_s=9.0))
    assert not ceiling_of(10_000, usage=usage).only_a_floor


AT_500, AT_1000 = (
    Schedule(rate=rate, intended=n, sent=n) for rate, n in ((500, 5_000), (1_000, 10_100))
)
TWICE = ceiling_of(1_010, schedule=AT_1000)
BROKEN = ceiling_of(1, reading=None, failure=Failure(stage="drive", message="it broke"))
HTTPS = trial(1_000, url="https://127.0.0.1/")


@pytest.mark.parametrize(
    ("trials", "label", "status", "value", "says"),
    [
        ([trial(rate) for rate in (1_000, 9_500, 2_000)], ceiling_of(10_000), "fail", None, ""),
        # Longer and encrypted answers are harder: nothing passes.
        ([trial(1_000, length=9_000)], ceiling_of(10_000), "unknown", None, ""),
        ([trial(9_500, length=9_000)], ceiling_of(10_000), "fail", None, ""),
        ([HTTPS], ceiling_of(10_000), "unknown", None, ""),
        # What is faster than its ceiling shows that it was none.
        ([trial(12_000)], ceiling_of(10_000), "unknown", 1.2, "it was faster here"),
        # An open loop is judged by its planned rate.
        ([trial(480, schedule=AT_500)], TWICE, "pass", 0.5, "was asked for 500 requests/s"),
        ([trial(480, schedule=AT_500)], ceiling_of(520, schedule=AT_1000), "fail", None, ""),
        # Without a ceiling it is unknown once, and says how to know.
        ([trial(1_000), trial(2_000)], None, "unknown", None, "take more blocks, or longer loads"),
        ([trial(1_000)], BROKEN, "unknown", None, "could not be measured: it broke"),
        ([trial(1_000, driven=None)], ceiling_of(10), "unknown", None, ""),  # an older result
    ],
)
def test_each_state(
    trials: list[Trial], label: Ceiling | None, status: str, value: float | None, says: str
) -> None:
    (check,) = asked(trials, [] if label is None else [label])
    assert (check.status, says in check.message) == (status, True), check.message
    assert value is None or check.value == pytest.approx(value)


def test_unknown_has_no_value_and_a_smoke_its_reason() -> None:
    assert TWICE.per_second == 1_000
    (check,) = asked([trial(1_000), trial(2_000)], [])
    assert (check.component, check.value) == ("closed", None)
    assert "smoke" in asked([trial(1_000)], [], smoke=True)[0].message


def test_clients_and_tools_that_measure_processes_are_not_asked() -> None:
    timed = trial(1_000, reading=plain.reading(10_000, seconds=SECONDS, process_s=(0.1,)))
    for trials, ceilings in (([trial(1_000, driven="")], []), ([timed], [ceiling_of(1_000)])):
        assert asked(trials, ceilings) == []
    assert asked([], [ceiling_of(1_000)]) == []


def test_the_ceiling_of_the_nearest_size_and_the_same_load_is_taken() -> None:
    small, large = ceiling_of(10_000), ceiling_of(2_000, 10**6)
    for ceilings in itertools.permutations([small, large, ceiling_of(10, driven="another load")]):
        (check,) = asked([trial(1_900, length=10**6)], ceilings)
        assert check.status == "fail"
        (check,) = asked([trial(1_900)], ceilings)
        assert check.status == "pass"


FULL = ceiling_on("l1", 1_000, checks=(plain_check("H3", "fail"),))


@pytest.mark.parametrize(
    ("ceilings", "status", "says"),
    [
        ((ceiling_on("l1", 1_000), ceiling_on("l2", 4_000)), "fail", "closed on l1 made 950"),
        ((ceiling_on("l1", 4_000), ceiling_on("l2", 1_000)), "warn", "closed on l2 made 800"),
        ((ceiling_on("l1", 4_000), ceiling_on("l2", 4_000)), "pass", "closed on l"),
        ((ceiling_on("l1", 4_000),), "unknown", "closed on l2: what it can do at most was not"),
        ((ceiling_on("l1", 1_000),), "fail", "closed on l1 made 950"),
        ((ceiling_of(1_000),), "unknown", "closed on l1: what it can do at most was not"),
        # With another server's host the network is another, and a whole load is no half.
        ((ceiling_on("l1", 1_000, text="db"),), "unknown", "was not measured"),
        ((ceiling_on("l1", 1_000, shares=1),), "unknown", "was not measured"),
        # Over a full link it is a floor.
        ((FULL, ceiling_on("l2", 9_000)), "unknown", "the link between the hosts may have been"),
    ],
)
def test_each_tool_has_its_own_ceiling(ceilings: Sequence[Ceiling], status: str, says: str) -> None:
    (check,) = asked([on_hosts(950, 800)], ceilings)
    assert (check.status, says in check.message) == (status, True), check.message


def test_the_load_tool_that_has_no_ceiling_is_next() -> None:
    item, much = on_hosts(950, 800), {"load": 1e6}
    assert lacking(item, []) == ["l1", "l2"]
    assert lacking(item, [ceiling_on("l1", 1_000)]) == ["l2"]
    failure = Failure(stage="drive", message="lost host l2")
    failed = ceiling_on("l2", 1, reading=None, failure=failure)
    assert lacking(item, [ceiling_on("l1", 1_000), failed]) == []
    assert wanted(item, [ceiling_on("l1", 1_000)], much, 60)
    assert not wanted(item, [ceiling_on("l1", 1_000), failed], much, 60)
    assert lacking(trial(1), [ceiling_on("l1", 1_000, shares=1)]) == [""]


def test_a_ceiling_is_wanted_once_where_it_costs_little() -> None:
    item, dear, cheap = trial(1_000), {"load": COSTS_S / SHARE - 1}, {"load": COSTS_S / SHARE + 1}
    assert wanted(item, [], cheap, 60)
    assert not wanted(item, [], dear, 60)
    assert not wanted(item, [], cheap, COSTS_S)
    assert not wanted(item, [], {}, 60)
    assert not wanted(item, [ceiling_of(1)], {"load": 1e6}, 60)
    assert wanted(item, [ceiling_of(1, 10**6)], {"load": 1e6}, 60)
    assert not wanted(item, [ceiling_of(1, 10**6)], cheap, 60)
    assert not wanted(trial(1, driven=""), [], {"": 1e6}, 60)
    failed = ceiling_of(1, 10**6, reading=None, failure=Failure(stage="drive", message="x"))
    assert not wanted(item, [failed], {"load": 1e6}, 60)


def suite(folder: Path, a: str, b: str, *, blocks: int = 30) -> Path:
    path = folder / "small.toml"
    path.write_text(
        f"""benchforge = 1
scenarios.ping = {{ request = {{ path = "/ping" }}, servers = ["one"], loaders = ["a", "b"] }}
loaders.a = {{ use = "pace", {a} }}
loaders.b = {{ use = "pace", {b} }}
[servers.one]
{answering()}
[repeat]
blocks = {blocks}
quiet = "off"
"""
    )
    return path


def test_options_make_a_load_and_labels_do_not(tmp_path: Path) -> None:
    for connections, count in ((3, 1), (4, 2)):
        items = cases(suite(tmp_path, "connections = 3", f"connections = {connections}"))
        assert len({case.driven for case in items}) == count


def test_the_load_stays_as_it_is_and_a_rate_is_doubled(tmp_path: Path) -> None:
    closed, open_ = cases(suite(tmp_path, "connections = 3", "rate = 100"))
    for case, changes in ((closed, {}), (open_, {"rate": 200.0})):
        comparison = against(case, NullServer(body_bytes=1)).driver.model_dump()
        assert comparison == case.driver.model_dump() | {"duration": 2.0} | changes


def l2(result: Path) -> list[dict[str, Any]]:
    summary = json.loads((result / "summary.json").read_text())
    return [check for check in summary["checks"] if check["id"] == "L2"]


def test_a_run_measures_each_ceiling_once(bench: Bench, tmp_path: Path) -> None:
    load = 'connections = 2, think = "5ms", duration = "1s"'
    result = bench("run", suite(tmp_path, load, load, blocks=90), "--time-limit", "6s").result
    for limit in ("12s", "24s", "48s"):  # a loud machine may have had time for a trial only
        if not [*result.glob("ceilings/*/ceiling.json")]:
            bench("run", "--resume", result, "--time-limit", limit)
    (file,) = result.glob("ceilings/*/ceiling.json")
    first = file.read_bytes()
    stored = Ceiling.model_validate_json(first)
    assert stored.per_second is not None
    assert stored.body_bytes == stored.trial.answers[0].length > 0
    assert l2(result)
    assert all(item["value"] is not None for item in l2(result))
    bench("validate", result, code=0)

    half = result / "ceilings" / "0002"
    shutil.copytree(file.parent, half)
    (half / "ceiling.json").unlink()
    call = bench("run", "--resume", result, "--time-limit", "3s")
    assert "from a server that does nothing" not in call.err
    assert file.read_bytes() == first
    assert not half.exists()

    (file.parent / stored.trial.processes[0].stdout).unlink()
    call = bench("validate", result, code=1)
    assert "trial.processes.0.stdout: no such file beside the trial" in call.out


def test_a_short_run_measures_none_and_says_so(bench: Bench, tmp_path: Path) -> None:
    short = 'connections = 2, duration = "200ms"'
    result = bench("run", suite(tmp_path, short, short, blocks=1)).result
    assert not (result / "ceilings").exists()
    assert [item["status"] for item in l2(result)] == ["unknown"] * 2
    assert "take more blocks, or longer loads" in l2(result)[0]["message"]
