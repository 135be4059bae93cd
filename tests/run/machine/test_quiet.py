"""The wait for quiet: on recorded machines, and beside processes that really burn CPU."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import warm
from front_door import PROGRAMS, WAITS_S, Bench
from hypothesis import given
from hypothesis import strategies as st
from suite_texts.with_pace import alone
from suite_texts.with_wrk import trials

from benchforge.model.values.units import Duration
from benchforge.run.machine.quiet import (
    MOST_S,
    ForeignLoad,
    Ticks,
    at_most_s,
    between,
    check,
    ticks,
    until_quiet,
)

HZ = os.sysconf("SC_CLK_TCK")

# --- recorded ------------------------------------------------------------------------------------


def recorded(folder: Path, *cpus: str) -> Path:
    (folder / "proc").mkdir(parents=True)
    rows = [[int(word) for word in row.split()] for row in cpus]
    text = " ".join(str(sum(column)) for column in zip(*rows, strict=True))
    named = [f"cpu{number} {row}" for number, row in enumerate(cpus)]
    (folder / "proc/stat").write_text("\n".join([f"cpu  {text}", *named, "intr 5", ""]))
    return folder


# user nice system idle iowait irq softirq steal guest guest_nice
FIRST = ("100 0 50 1000 10 0 5 3 0 0", "200 0 50 900 10 0 5 3 0 0")
BUSY, WAITS = "120 0 50 1000 10 0 5 3 0 0", "200 0 50 920 10 0 5 3 0 0"


@pytest.mark.parametrize(
    ("second", "own_s", "only", "load"),
    [
        (("100 0 50 1020 10 0 5 3 0 0", "200 0 50 918 12 0 5 3 0 0"), 0, None, (True, 0.0)),
        ((BUSY, WAITS), 0, None, (False, 0.5)),
        ((BUSY, WAITS), 20 / HZ, None, (True, 0.0)),
        (("100 0 50 1010 10 0 5 13 0 0", WAITS), 0, None, (False, 0.25)),
        ((BUSY, WAITS), 0, {1}, (True, 0.0)),
        ((BUSY, WAITS), 0, {0}, (False, 1.0)),
    ],
    ids=["idle", "one busy of two", "used by us", "by the hypervisor", "not our CPU", "our CPU"],
)
def test_what_others_use_is_a_share_of_our_cpus(
    tmp_path: Path, second: tuple[str, str], own_s: float, only: set[int] | None, load: Any
) -> None:
    begin, end = (ticks(recorded(tmp_path / cpus[0], *cpus), only) for cpus in (FIRST, second))
    assert between(begin, end, own_s) == ForeignLoad(*load)


@pytest.mark.parametrize("stat", ["", "cpu 1 2\n", "cpu 1 2 3 4 5 6 7 8\n", "cpu a b\ncpu0 c d\n"])
def test_what_is_not_told_is_unknown_and_no_pass(tmp_path: Path, stat: str) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/stat").write_text(stat)
    assert ticks(tmp_path) is None
    assert between(None, None, 0.0) == ForeignLoad(None, None)
    assert check(ForeignLoad(None, None)).status == "unknown"


COUNTS = st.integers(0, 10**9)


TICKS = st.builds(Ticks, COUNTS, COUNTS, COUNTS, COUNTS)


@given(TICKS, TICKS, st.floats(0, 1e6))
def test_a_share_is_one_whatever_the_kernel_counts(
    first: Ticks, second: Ticks, mine: float
) -> None:
    load = between(first, second, mine)
    assert (load.share is None) == (load.quiet is None) == (second.total <= first.total)
    assert load.share is None or 0 <= load.share <= 1
    assert check(load).status in {"pass", "warn", "unknown"}


def test_how_long_is_waited() -> None:
    for_ever = float("inf")
    assert at_most_s("off", 5.0, for_ever) is None
    assert at_most_s(None, 5.0, for_ever) == 5.0
    assert at_most_s(None, 500.0, for_ever) == MOST_S
    assert at_most_s(Duration(60), 5.0, for_ever) == 60.0
    assert at_most_s(Duration(60), 5.0, 2.0) == 2.0


# --- beside real processes -----------------------------------------------------------------------


@contextmanager
def burning(seconds: float) -> Iterator[None]:
    """Keep half of the CPUs busy from sessions of their own, `seconds` of CPU time each at most."""
    words = [sys.executable, str(PROGRAMS / "processes/burns.py"), str(seconds)]
    count = max(1, len(os.sched_getaffinity(0)) // 2)
    burners = [subprocess.Popen(words, start_new_session=True) for _ in range(count)]
    try:
        yield
    finally:
        for burner in burners:
            os.killpg(burner.pid, 9)
            burner.wait()


def suite(folder: Path, quiet: str, top: str = "") -> Path:
    file = alone(folder, top=top, quiet=quiet)
    file.write_text(file.read_text().replace("blocks = 1", "blocks = 2"))
    return file


def test_it_is_waited_until_it_is_quiet_again() -> None:
    with burning(1.0):
        assert until_quiet(0.3).quiet is False
    if not until_quiet(15.0).quiet:
        pytest.skip("this machine is never quiet")


def test_a_trial_beside_others_waits_in_vain_and_is_marked(bench: Bench, tmp_path: Path) -> None:
    with burning(60.0):
        done = bench("run", suite(tmp_path, 'quiet = "500ms"'), code=0)  # it is no failure
    actual = trials(tmp_path)
    assert {trial["block"] for trial in actual} == {1, 2}
    for trial in actual:
        assert trial["failure"] is None
        assert trial["phases"]["quiet"] >= 0.45
        (marked,) = (item for item in trial["checks"] if item["id"] == "quiet")
        assert (marked["status"], marked["subject"]) == ("warn", "apparatus")
        assert marked["value"] > 0.05
    assert "s for quiet; others still used the CPUs before 2 trials" in done.err
    (report,) = tmp_path.glob("results/*/report.md")
    assert "others used the CPUs before the load" in report.read_text()


@pytest.mark.exhaustive
def test_endless_noise(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))  # no thresholds are loosened
    file = suite(tmp_path, 'quiet = "300ms"')
    with burning(100.0):
        done = bench("run", "--details", file, code=0)
    actual = trials(tmp_path)
    assert [item["attempt"] for item in actual] == [1, 2, 3, 1], done.err
    waited = [item["phases"]["quiet"] for item in actual]
    assert all(item >= 0.25 for item in waited[:3])
    assert all(item["checks"][0]["id"] == "quiet" for item in actual)  # it was looked
    assert done.err.count("noise that does not end: others used ") == 1
    assert "until it ends no trial waits for quiet or is repeated" in done.err
    assert "of the CPUs now: waits for quiet and repeated trials may add 6 s" in done.err
    assert "Noise met 2 of 2 trials: a quiet machine" in done.out, done.out
    (result,) = tmp_path.glob("results/*")
    # An attempt that nobody needed, made up from the last one.
    shutil.copytree(result / "trials/0004", result / "trials/0005")
    copied = result / "trials/0005/trial.json"
    text = copied.read_text().replace('"number": 4', '"number": 5', 1)
    copied.write_text(text.replace('"attempt": 1', '"attempt": 2', 1))
    told_again = bench("verify", result)
    assert told_again.code != 0
    assert "trial 4 needed no other attempt" in told_again.all


@pytest.mark.samples(1)
@pytest.mark.parametrize(("quiet", "top"), [('quiet = "off"', ""), ("", "smoke = true")])
def test_quiet_off_does_not_wait(bench: Bench, tmp_path: Path, quiet: str, top: str) -> None:
    done = bench("run", suite(tmp_path, quiet, top), code=0)
    for trial in trials(tmp_path):
        assert "quiet" not in trial["phases"]
        assert "quiet" not in {item["id"] for item in trial["checks"]}
    assert "for quiet" not in done.err


@pytest.mark.exhaustive
def test_a_time_limit_ends_the_wait_for_quiet(bench: Bench, tmp_path: Path) -> None:
    with burning(60.0):
        done = bench("run", suite(tmp_path, 'quiet = "10m"'), "--time-limit", "8s")
    assert done.code in {0, 4}, done.all
    assert trials(tmp_path)


def test_who_waits_is_interrupted_at_once(tmp_path: Path) -> None:
    file, err = suite(tmp_path, 'quiet = "10m"'), tmp_path / "err"
    with burning(60.0):
        waiting = warm.Called(["run", str(file)], tmp_path, os.environ, tmp_path / "out", err)
        try:
            while not list(tmp_path.glob("results/*/trials/0001")):
                assert waiting.poll() is None, err.read_text()
                time.sleep(0.05)
            waiting.send_signal(signal.SIGTERM)
            assert waiting.wait(WAITS_S) == 143
        finally:
            waiting.kill()
    assert trials(tmp_path) == []
