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
from measured.on_disk import only_result

from benchforge.checks.limits import limits
from benchforge.checks.load_tool import ceiling
from benchforge.model.files.ceiling import Ceiling
from benchforge.model.files.result import Header
from benchforge.model.trial.answers.answer import Answer
from benchforge.model.trial.check import Check
from benchforge.model.trial.hosts import TrialHost
from benchforge.model.trial.observation import Usage
from benchforge.model.trial.reading import Schedule
from benchforge.model.trial.trial import Failure, Load, Trial
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


def header(*, smoke: bool = False) -> Header:
    return plain.header(CASE, smoke=smoke)


def asked(trials: Sequence[Trial], ceilings: Sequence[Ceiling], **how: Any) -> list[Check]:
    return list(ceiling.of_session(header(**how), trials, ceilings, limits()))


def answer(trial: Trial, label: Ceiling) -> Check:
    (check,) = asked([trial], [label])
    return check


@pytest.mark.parametrize(
    ("share", "status"), [(0.1, "pass"), (0.69, "pass"), (0.71, "warn"), (0.91, "fail")]
)
def test_a_rate_is_compared_with_the_null_servers(share: float, status: str) -> None:
    actual = answer(trial(10_000 * share), ceiling_of(10_000))
    assert (actual.id, actual.scope, actual.subject, actual.status) == (
        *("L2", "result", "apparatus"),
        status,
    )
    assert actual.value == pytest.approx(share, rel=0.001)
    assert actual.component == CASE.title
    assert ("the load tool, not the server, was the limit" in actual.message) is (status == "fail")


def test_the_largest_throughput_of_a_case_counts() -> None:
    several = [trial(rate) for rate in (1_000, 9_500, 2_000)]
    (check,) = asked(several, [ceiling_of(10_000)])
    assert check.status == "fail"


@given(
    st.floats(1, 1e6), st.floats(1, 1e6), st.floats(0, 10), st.floats(0, 10), st.integers(0, 10**6)
)
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


def test_a_faster_null_server_never_makes_it_worse() -> None:
    order = ["fail", "warn", "pass"]
    output = [answer(trial(9_000), ceiling_of(most)).status for most in (9_100, 11_000, 20_000)]
    assert output == order


@pytest.mark.parametrize(
    ("label", "reason"),
    [
        (
            ceiling_of(10_000, usage=(used("server", 9.0), used("loader", 4.0))),
            "the null server worked more than the tool (0.9 and 0.4 of a CPU)",
        ),
        (ceiling_of(10_000, usage=(used("server", None), used("loader", 9.0))), "is not known"),
        (
            ceiling_of(
                10_000, checks=(plain_check("N1", "fail", name="foreign-cpu", subject="apparatus"),)
            ),
            "that measurement is not believed (N1 foreign-cpu)",
        ),
    ],
)
def test_a_floor_is_no_ceiling_and_no_verdict_is_drawn_from_it(label: Ceiling, reason: str) -> None:
    assert answer(trial(1_000), label).status == "pass"
    actual = answer(trial(9_500), label)
    assert actual.status == "unknown"
    assert reason in actual.message


def test_the_busiest_thread_of_the_tool_decides_where_it_is_known() -> None:
    usage = (used("server", 6.0), used("loader", 8.0, hottest_s=2.0))
    assert ceiling_of(10_000, usage=usage).only_a_floor
    usage = (used("server", 6.0), used("loader", 12.0, hottest_s=9.0))
    assert not ceiling_of(10_000, usage=usage).only_a_floor


def test_longer_and_encrypted_answers_are_harder_so_that_nothing_passes() -> None:
    assert answer(trial(1_000, length=9_000), ceiling_of(10_000)).status == "unknown"
    assert answer(trial(9_500, length=9_000), ceiling_of(10_000)).status == "fail"
    encrypted = trial(1_000, url="https://127.0.0.1/")
    assert answer(encrypted, ceiling_of(10_000)).status == "unknown"


def test_what_is_faster_than_the_ceiling_shows_that_it_was_none() -> None:
    actual = answer(trial(12_000), ceiling_of(10_000))
    assert (actual.status, actual.value) == ("unknown", 1.2)
    assert "it was faster here" in actual.message


def test_an_open_loop_is_judged_by_the_rate_that_was_asked_for() -> None:
    plan = Schedule(rate=500, intended=5_000, sent=5_000)
    twice = Schedule(rate=1_000, intended=10_100, sent=10_100)
    stored = ceiling_of(1_010, schedule=twice)
    assert stored.per_second == 1_000
    actual = answer(trial(480, schedule=plan), stored)
    assert (actual.status, actual.value) == ("pass", 0.5)
    assert "was asked for 500 requests/s" in actual.message
    late = ceiling_of(520, schedule=twice)
    assert answer(trial(480, schedule=plan), late).status == "fail"


def test_the_ceiling_of_the_nearest_size_and_the_same_load_is_taken() -> None:
    small, large = ceiling_of(10_000), ceiling_of(2_000, 10**6)
    for ceilings in itertools.permutations([small, large, ceiling_of(10, driven="another load")]):
        (check,) = asked([trial(1_900, length=10**6)], ceilings)
        assert check.status == "fail"
        (check,) = asked([trial(1_900)], ceilings)
        assert check.status == "pass"


def test_without_a_ceiling_it_is_unknown_once_and_says_how_to_know() -> None:
    (check,) = asked([trial(1_000), trial(2_000)], [])
    assert (check.status, check.component, check.value) == ("unknown", "closed", None)
    assert "take more blocks, or longer loads" in check.message
    (check,) = asked([trial(1_000)], [], smoke=True)
    assert "smoke" in check.message
    broken = ceiling_of(1, reading=None, failure=Failure(stage="drive", message="it broke"))
    (check,) = asked([trial(1_000)], [broken])
    assert check.status == "unknown"
    assert "could not be measured: it broke" in check.message
    (check,) = asked([trial(1_000, driven=None)], [ceiling_of(10)])
    assert check.status == "unknown"  # an older result


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
    ],
)
def test_each_tool_has_its_own_ceiling(ceilings: Sequence[Ceiling], status: str, says: str) -> None:
    (check,) = asked([on_hosts(950, 800)], ceilings)
    assert (check.status, says in check.message) == (status, True), check.message


def test_a_ceiling_over_a_full_link_is_a_floor() -> None:
    full = plain_check("H3", "fail")
    (check,) = asked(
        [on_hosts(950, 800)], [ceiling_on("l1", 1_000, checks=(full,)), ceiling_on("l2", 9_000)]
    )
    assert check.status == "unknown"
    assert "the link between the hosts may have been the limit" in check.message


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


def test_clients_and_tools_that_measure_processes_are_not_asked() -> None:
    assert asked([trial(1_000, driven="")], []) == []
    item = trial(1_000)
    assert item.reading is not None
    timed = item.reading.model_copy(update={"process_s": (0.1,)})
    assert asked([item.model_copy(update={"reading": timed})], [ceiling_of(1_000)]) == []
    assert asked([], [ceiling_of(1_000)]) == []


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


def suite(folder: Path, loads: str, *, blocks: int = 30, more: str = "") -> Path:
    path = folder / "small.toml"
    path.write_text(
        f"""benchforge = 1
scenarios.ping = {{ request = {{ path = "/ping" }}, servers = ["one"], loaders = ["a", "b"] }}
[servers.one]
{answering()}
{loads}
[repeat]
blocks = {blocks}
quiet = "off"
{more}"""
    )
    return path


def loads(a: str, b: str) -> str:
    return f'[loaders.a]\nuse = "pace"\n{a}\n[loaders.b]\nuse = "pace"\n{b}'


def test_options_make_a_load_and_labels_do_not(tmp_path: Path) -> None:
    alike = cases(suite(tmp_path, loads("connections = 3", "connections = 3")))
    assert len({case.driven for case in alike}) == 1
    other = cases(suite(tmp_path, loads("connections = 3", "connections = 4")))
    assert len({case.driven for case in other}) == 2


def test_the_load_stays_as_it_is_and_a_rate_is_doubled(tmp_path: Path) -> None:
    closed, open_ = cases(suite(tmp_path, loads("connections = 3", "rate = 100")))
    null = NullServer(body_bytes=1)
    comparison = against(closed, null).driver.model_dump()
    assert comparison == closed.driver.model_dump() | {"duration": 2.0}
    comparison = against(open_, null).driver.model_dump()
    assert comparison == open_.driver.model_dump() | {"duration": 2.0, "rate": 200.0}


def l2(result: Path) -> list[dict[str, Any]]:
    summary = json.loads((result / "summary.json").read_text())
    return [check for check in summary["checks"] if check["id"] == "L2"]


def test_a_run_measures_each_ceiling_once(bench: Bench, tmp_path: Path) -> None:
    load = 'connections = 2\nthink = "5ms"\nduration = "1s"'
    folder = tmp_path / "results"
    bench("run", suite(tmp_path, loads(load, load), blocks=90), "-o", folder, "--time-limit", "6s")
    result = only_result(folder)
    for limit in ("12s", "24s", "48s"):  # a loud machine may have had time for a trial only
        if not [*result.glob("ceilings/*/ceiling.json")]:
            bench("run", "--resume", result, "--time-limit", limit)
    (file,) = result.glob("ceilings/*/ceiling.json")
    first = file.read_bytes()
    model_validate_json = Ceiling.model_validate_json(first)
    assert model_validate_json.per_second is not None
    assert model_validate_json.body_bytes == model_validate_json.trial.answers[0].length > 0
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

    (file.parent / model_validate_json.trial.processes[0].stdout).unlink()
    call = bench("validate", result, code=1)
    assert "trial.processes.0.stdout: no such file beside the trial" in call.out


def test_a_short_run_and_a_smoke_measure_none_and_say_so(bench: Bench, tmp_path: Path) -> None:
    short = loads('connections = 2\nduration = "200ms"', 'connections = 2\nduration = "200ms"')
    bench("run", suite(tmp_path, short, blocks=1), "-o", tmp_path / "short")
    result = only_result(tmp_path / "short")
    assert not (result / "ceilings").exists()
    assert [item["status"] for item in l2(result)] == ["unknown"] * 2
    assert "take more blocks, or longer loads" in l2(result)[0]["message"]
    smoke = "[profiles.quick]\nsmoke = true\nrepeat.blocks = 1"
    long = short.replace("200ms", "400ms")
    path = suite(tmp_path, long, blocks=1000, more=smoke)
    bench("run", path, "--profile", "quick", "-o", tmp_path / "smoke")
    (item_, _) = l2(only_result(tmp_path / "smoke"))
    assert "smoke" in item_["message"]
