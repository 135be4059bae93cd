"""`find` by the front door: a server whose capacity is known, searched for; and what is refused."""

import csv
import json
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from front_door import WAITS_S, Bench, Told, attempts, bench_words, calls
from measured.on_disk import edited, only_result
from measured.once import made_once
from present import present
from suite_texts.files import suite_text

from benchforge.model.files.folder import read_header, read_trials
from benchforge.model.summary.summary import CaseSummary, Summary
from benchforge.parts.registry import Registry
from benchforge.stats.search.search import following
from benchforge.suite.load import load
from benchforge.suite.toml.faults import SuiteErrors

MOST = 200  # of a server that answers one after the other, each after 5 ms

# A smoke goes on whatever its checks say: neighbours of the tests spoil no trial.
TOP = suite_text("suite/scenarios/find_top")
SEARCH = """[scenarios.ping]
servers = ["slow"]
loaders = ["open"]
find = { rate = [50, 800], slo = "latency p50 < 100ms", steps = 3 }
"""
SHORT = SEARCH.replace("steps = 3", "steps = 1")


def suite(folder: Path, text: str = TOP + SEARCH) -> Path:
    path = folder / "capacity.toml"
    path.write_text(text)
    return path


def summed(result: Path) -> dict[str, CaseSummary]:
    summary = Summary.model_validate_json((result / "summary.json").read_bytes())
    return {case.case.scenario: case for case in summary.cases}


def phases(cases: dict[str, CaseSummary]) -> dict[str, str]:
    """How each search ended, by its scenario."""
    return {name: case.capacity.phase for name, case in cases.items() if case.capacity is not None}


def searched(bench: Bench, folder: Path, text: str) -> tuple[Told, Path]:
    """Run the searches until they end as they should: a neighbour may keep a server from a rate."""
    for path in attempts(folder):
        call = bench("run", "--details", suite(path, text), "-o", path / "results", code=0)
        ends = phases(summed(only_result(path)))
        if ends == {"ping": "done", "little": "too high", "much": "too low"}:
            break
    return call, only_result(path)


def follows(result: Path) -> None:
    """Each trial was asked for what its search asks after those of the blocks before."""
    header, trials = read_header(result), read_trials(result)
    for trial in trials:
        find = header.searches[trial.case.scenario]
        request = following(find, trial.case, trial.block, trials).rate
        assert present(trial.search_outcome).rate == present(trial.load).rate == request


def test_what_a_server_keeps_up_with_is_found(bench: Bench, tmp_path: Path) -> None:
    text = TOP + SHORT + suite_text("suite/scenarios/find_more")
    actual, result = searched(bench, tmp_path, text)
    cases = summed(result)
    ping = present(cases["ping"].capacity)
    assert (ping.phase, ping.message) == ("done", "all of its trials were made")
    assert ping.rate.value is not None
    assert present(ping.rate.low) <= ping.rate.value < MOST * 1.15
    assert present(ping.highest_passed) < MOST * 1.15
    assert present(ping.safe) < ping.rate.value
    assert ping.attempts[0].rate == 50
    assert len(ping.attempts) == cases["ping"].trials <= cases["ping"].planned == 10
    assert cases["ping"].metrics == ()

    little, much = present(cases["little"].capacity), present(cases["much"].capacity)
    assert (little.phase, little.highest_passed) == ("too high", 50)
    assert little.message == "every trial passed up to 50/s: at least that"
    assert (much.phase, much.highest_passed, len(much.attempts)) == ("too low", None, 1)
    share = r"rate answered >= 99%: \d\d?(\.\d+)? %"
    assert re.match(rf"the lowest rate, 600/s, fails: {share}", much.message)
    assert cases["closed"].capacity is None
    assert cases["closed"].metrics

    assert "at least 50" in actual.out
    assert "less than 600" in actual.out
    assert "ping · slow · open · 50/s · passed" in actual.err
    assert re.search(rf" · 600/s · not kept: {share}", actual.err)
    assert "NOT COMPLETE" not in actual.out
    report = (result / "report.md").read_text()
    assert "keeps latency p50 \\< 100ms, errors \\< 0.1%; at most 10 trials a case" in report
    assert "the highest rate passes" in report
    assert (result / "report.html").read_text().count("<use ") >= len(ping.attempts)
    rows = list(csv.DictReader((result / "searches.csv").read_text().splitlines()))
    assert [row["scenario"] for row in rows] == ["ping", "little", "much"]
    assert float(rows[0]["rate (requests/s)"]) == ping.rate.value
    assert [row["ended"] for row in rows] == ["done", "too high", "too low"]

    trials = [trial for trial in read_trials(result) if trial.case.scenario == "ping"]
    assert [trial.block for trial in trials] == list(range(1, len(trials) + 1))
    bench("validate", result, code=0)
    bench("verify", result, code=0)


def test_find_goes_on_after_it_was_ended_twice(bench: Bench, tmp_path: Path) -> None:
    # No neighbour keeps the server from such a latency, so that the search does not end before.
    path = suite(tmp_path, TOP + SHORT.replace("100ms", "5s"))
    call = bench("run", path, "--time-limit", "4s", code=0)
    result = only_result(tmp_path)
    assert "NOT COMPLETE" in call.out
    programs = present(summed(result)["ping"].capacity)
    assert not programs.over
    assert programs.message.startswith("not finished: ")
    assert "which the time limit left no time for" in call.err
    first = read_trials(result)
    killed(tmp_path, result, len(first) + 1)
    bench("validate", result, code=0)
    entries = read_trials(result)
    assert entries[: len(first)] == first
    call = bench("run", "--resume", result, code=0)
    assert f"resumed: {len(entries)} of 10 measurements are done" in call.err
    trials = read_trials(result)
    assert trials[: len(entries)] == entries
    assert [trial.block for trial in trials] == list(range(1, len(trials) + 1))
    follows(result)
    assert present(summed(result)["ping"].capacity).phase == "done"
    bench("verify", result, code=0)
    assert "nothing is missing" in bench("run", "--resume", result).err
    assert len(read_trials(result)) == len(trials)


def killed(folder: Path, result: Path, trials: int) -> None:
    """Resume a result, and kill that once it has so many trials and measures another."""
    deadline = time.monotonic() + WAITS_S
    words = bench_words("run", "--resume", result)
    process = subprocess.Popen(words, cwd=folder, stderr=subprocess.DEVNULL, text=True)
    try:
        while process.poll() is None and len(list(result.glob("trials/*/trial.json"))) < trials:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        time.sleep(0.3)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait(WAITS_S)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result of a search of two trials."""

    def measured(folder: Path) -> Path:
        for path in attempts(folder):  # a neighbour may keep the server from a rate that it has
            text = TOP + SEARCH.replace("800", "100").replace("100ms", "5s")
            calls(bench_words(), path)("run", "--details", suite(path, text), code=0)
            outcomes = [trial.search_outcome for trial in read_trials(only_result(path))]
            if [outcome.passed for outcome in outcomes if outcome] == [True] * 2:
                break
        return only_result(path)

    return made_once(tmp_path_factory, "made", measured)


def changed(result: Path, folder: Path, name: str, change: Callable[[Any], None]) -> Path:
    """Return a copy of a result one of whose files is changed."""
    copy = Path(shutil.copytree(result, folder / "copy"))
    edited(max(copy.glob(name)), change)
    return copy


@pytest.mark.samples(1)
@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"passed": False}, "is not what its outcomes give"),
        ({"rate": 90.0}, "is another than the rate of its load"),
        ({"rate": 1000.0}, "1,000/s is not from 50 to 100/s"),
    ],
)
def test_validate_finds_a_change_in_a_search_of_find(
    bench: Bench, made: Path, tmp_path: Path, change: dict[str, Any], says: str
) -> None:
    file = "trials/*/trial.json"
    copy = changed(made, tmp_path, file, lambda trial: trial["search_outcome"].update(change))
    assert says in bench("validate", copy, code=1).out
    assert bench("verify", copy).code != 0


def test_verify_names_an_easier_objective_of_find(bench: Bench, made: Path, tmp_path: Path) -> None:
    def eased(header: Any) -> None:
        header["searches"]["ping"]["objectives"][0]["bound"] = 50.0

    copy = changed(made, tmp_path, "result.json", eased)
    call = bench("verify", copy, code=1)
    assert "searches.ping.objectives.0.bound: 50.0, but recomputed it is 5.0" in call.out


def test_a_search_whose_trials_say_nothing_has_no_answer(bench: Bench, tmp_path: Path) -> None:
    text = (TOP + SEARCH).replace("smoke = true", "").replace("p50 < 100ms", "p99 < 5s")
    call = bench("run", "--details", suite(tmp_path, text + '[repeat]\nquiet = "off"\n'))
    programs = present(summed(only_result(tmp_path))["ping"].capacity)
    if "not kept: rate answered" in call.err:  # neighbours left it not even 50 requests/s
        assert (call.code, programs.phase) == (0, "too low")
        return
    assert call.code == 4, call.all
    assert (programs.phase, programs.attempts, programs.highest_passed) == ("unanswered", (), None)
    assert programs.message.startswith("trials that say nothing of the server: ")
    # Two rounds; a few more where the last says nothing because of the tests' neighbours.
    assert 2 <= len({trial.block for trial in read_trials(only_result(tmp_path))}) <= 5
    assert "trials say nothing" in call.out
    assert "NOT COMPLETE" not in call.out
    bench("verify", only_result(tmp_path), code=0)


def test_a_plan_tells_how_many_trials_at_most(bench: Bench, tmp_path: Path) -> None:
    call = bench("plan", suite(tmp_path), code=0)
    assert "1 case: at most 12 trials, at most 24 s (6 s load, 18 s starts and stops)" in call.out
    says = "looks for the highest rate from 50 to 800/s that keeps latency p50 < 100ms, "
    assert f"  {says}errors < 0.1%; at most 12 trials a case\n" in call.out
    document = json.loads(bench("plan", suite(tmp_path), "--format", "json").out)
    assert document["trials"] == 12
    assert document["scenarios"][0]["search"]["highest"] == 800
    assert [len(block["cases"]) for block in document["order"]] == [1] * 12


SLO = 'slo = "latency p50 < 1s"'


def test_a_search_profile_ignores_claims_and_tables(tmp_path: Path) -> None:
    measured = suite_text("suite/scenarios/find_measured")
    search = f"[profiles.high]\nscenarios.ping.find = {{ rate = [50, 800], {SLO} }}\n"
    path = suite(tmp_path, f"{TOP}{measured}{search}")
    full = load(path, Registry())
    assert (len(full.claims), [*full.tables]) == (1, ["T"])
    searching = load(path, Registry(), profile="high")
    assert (searching.claims, searching.tables) == ((), {})
    mine = measured.replace('"open"]', f'"open"]\nfind = {{ rate = [50, 800], {SLO} }}')
    with pytest.raises(SuiteErrors) as caught:
        load(suite(tmp_path, f"{TOP}{mine}[profiles.high]\n"), Registry(), profile="high")
    assert "a claim cannot use its metrics" in str(caught.value)


def test_blocks_of_the_suite_are_no_fault_of_a_profile_that_searches(tmp_path: Path) -> None:
    measured = '[scenarios.ping]\nservers = ["slow"]\nloaders = ["open"]\n[repeat]\nblocks = 4\n'
    search = f"[profiles.high]\nscenarios.ping.find = {{ rate = [50, 800], {SLO} }}\n"
    path = suite(tmp_path, f"{TOP}{measured}{search}")
    assert load(path, Registry(), profile="high").repeat.blocks == 4
    mine = suite(tmp_path, f"{TOP}{measured}{search}[profiles.high.repeat]\nblocks = 3\n")
    with pytest.raises(SuiteErrors) as caught:
        load(mine, Registry(), profile="high")
    assert "every scenario searches for a rate" in str(caught.value)
    path = suite(tmp_path, f"{TOP}{measured}{search}")
    with pytest.raises(SuiteErrors):
        load(path, Registry(), profile="high", settings=[("repeat.blocks", "3")])
