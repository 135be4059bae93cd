"""What the machine did meanwhile: a neighbour, a clock that was set, pages from a disk, swap."""

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from faults.watched import until
from front_door import PROGRAMS, Bench, bench_words, calls
from made.quiet_trial import LIMITS, machine, observation, trial
from planted.beside import PACE, program, suite
from planted.validity import ONCE, apart, caught, measured, noted, quiet

from benchforge.checks.machine import clock as clocks
from benchforge.checks.machine import noise

PONG = program("servers/answers.py", "--port", "{port}")


@contextmanager
def neighbours(seconds: float) -> Iterator[None]:
    """One for each CPU, which burns it for so long at most."""
    words = [sys.executable, str(PROGRAMS / "processes/burns.py"), str(seconds)]
    with ExitStack() as stack:
        for _ in os.sched_getaffinity(0):
            process = stack.enter_context(subprocess.Popen(words, start_new_session=True))
            stack.callback(os.killpg, process.pid, 9)
        yield


def idle() -> float:
    """The share of all CPUs that nobody used for a second."""

    def counted() -> list[int]:
        return [int(word) for word in Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]

    earlier = counted()
    time.sleep(1)
    grown = [later - item for item, later in zip(earlier, counted(), strict=True)]
    return grown[3] / sum(grown)


@pytest.mark.exhaustive
def test_a_busy_neighbour(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    text = suite({"pong": PONG}, PACE)
    with neighbours(40):
        result = measured(bench, tmp_path, text)
    assert caught("a neighbour that burns each core", result, "N1", server="pong")["value"] > 0.15
    trials = result.trials("pong")
    foreign = trials[0]["observation"]["machine"]["foreign"]
    assert any(process["program"].startswith("python") for process in foreign)
    assert [trial["attempt"] for trial in trials] == [1, 2, 3]
    assert re.search(r"DISTURBED: .*N1 foreign-cpu", result.told.all)


@pytest.mark.exhaustive
def test_no_neighbour(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    first = idle()
    result = measured(bench, tmp_path, suite({"pong": PONG}, PACE))
    if min(first, idle()) < 0.9:
        pytest.skip("this machine has neighbours of its own")
    quiet(result, "N1", "pong")


@pytest.mark.exhaustive
def test_a_clock_that_is_set_back_during_a_load(tmp_path: Path, clock: dict[str, str]) -> None:
    options = [f"{name}={value}" for name, value in clock.items()]
    shifted = calls(["env", *options, *bench_words()], tmp_path)

    def sets() -> None:
        until(lambda: list(tmp_path.glob("results/*/trials/*/loader-*.out")))
        time.sleep(0.5)
        Path(clock["SET_BACK"]).touch()

    setter = threading.Thread(target=sets)
    setter.start()
    result = measured(shifted, tmp_path, suite({"pong": PONG}, PACE))
    setter.join()
    check = caught("the wall clock is set back during a load", result, "T2", server="pong")
    assert check["value"] > 3000
    first, second = result.trials("pong")
    assert (first["attempt"], second["attempt"]) == (1, 2)
    assert [item["status"] for item in second["checks"] if item["id"] == "T2"] == ["pass"]


def test_a_server_that_reads_its_memory_from_a_disk(bench: Bench, tmp_path: Path) -> None:
    words = ("faulty_servers/pages.py", "{port}", tmp_path / "pages")
    servers = {"pages": program(*words, "--forget"), "healthy": program(*words)}
    load = PACE.replace('"2s"', '"1s"')
    result = measured(bench, tmp_path, suite(servers, load, top=ONCE))
    if not any(check["value"] for check in result.checks("M1", "pages")):
        pytest.skip("files here never leave the memory")
    fault = "a server whose pages are taken from memory again and again"
    apart(result, fault, "M1", "pages", "give it a warm-up", status="warn")


def test_swap_by_its_counters_alone() -> None:
    """Few machines that measure have any: recorded counters, and the pure function."""
    paging = {"pswpin": 0, "pswpout": 0, "oom_kill": 0}
    for swapped, status in ((0, "pass"), (812, "fail")):
        observed = observation(machine=machine(paging={**paging, "pswpout": swapped}))
        items = noise.memory(trial(observation=observed), LIMITS)
        check = next(item for item in items if not item.component)
        assert (check.id, check.status, check.subject) == ("M1", status, "apparatus")
    noted("pages went to swap (recorded counters)", "M1", check.model_dump(), "")


def test_a_stepped_clock_by_its_difference_alone() -> None:
    for step_s, status in ((0.0001, "pass"), (0.01, "warn"), (-0.2, "fail")):
        observed = observation(machine=machine(clock_step_s=step_s))
        check, _ = clocks.of_trial(trial(observation=observed), LIMITS)
        assert (check.id, check.status, check.subject) == ("T2", status, "apparatus")
    noted("a step of 0.2 s (recorded difference)", "T2", check.model_dump(), "")
