"""A clock that is set back while benchforge measures: durations and order do not depend on it."""

import os
import signal
import sys
import time
from datetime import timedelta
from pathlib import Path

import pytest
from faults.robustness import noted
from faults.watched import until, watched
from front_door import Bench, answering, bench_words, calls, captured
from suite_texts.with_wrk import suite, trials

from benchforge.model.files.folder import read_header, read_sessions, read_trials

BLOCKS = 4
AN_HOUR = timedelta(minutes=50)  # and a few minutes for the test itself
LONGEST_S = 300.0


def test_the_clock_of_the_test_is_believed(clock: dict[str, str]) -> None:
    def now() -> float:
        words = [sys.executable, "-c", "import time; print(time.time())"]
        finished = captured(words, env={**os.environ, **clock}, check=True)
        return float(finished.stdout)

    assert abs(now() - time.time()) < AN_HOUR.total_seconds()
    Path(clock["SET_BACK"]).touch()
    assert time.time() - now() > AN_HOUR.total_seconds()


def test_a_clock_set_back_is_harmless(bench: Bench, tmp_path: Path, clock: dict[str, str]) -> None:
    first = ("env", *(f"{name}={value}" for name, value in clock.items()))
    path = suite(tmp_path, answering(), blocks=BLOCKS)
    with watched(tmp_path, "run", path, first=first) as run:
        until(lambda: trials(tmp_path))
        Path(clock["SET_BACK"]).touch()
        noted("the clock is set back an hour between two trials", run, "good responses/s")
    actual = read_trials(run.result)
    numbers = [(number, number) for number in range(1, BLOCKS + 1)]
    assert [(trial.number, trial.block) for trial in actual] == numbers
    assert actual[-1].started < actual[0].started - AN_HOUR  # it did go back
    for trial in actual:
        assert trial.failure is None
        assert 1.0 <= trial.phases["load"] < sum(trial.phases.values()) <= trial.seconds < LONGEST_S
        assert trial.reading is not None
        assert 0 < trial.reading.seconds <= trial.phases["load"]
    bench("validate", run.result, code=0)


@pytest.mark.exhaustive
def test_a_result_of_the_future_goes_on(tmp_path: Path, clock: dict[str, str]) -> None:
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")}  # which is removed, too
    later = calls(bench_words(), tmp_path, {**os.environ, **clock, **cache})
    with watched(tmp_path, "run", suite(tmp_path, answering(), blocks=BLOCKS)) as run:
        until(lambda: trials(tmp_path))
        run.signal(signal.SIGTERM)
        assert run.ended().code == 143, run.ended().all
    result = run.result
    Path(clock["SET_BACK"]).touch()
    later("run", "--resume", result, code=0)
    assert [trial.block for trial in read_trials(result)] == list(range(1, BLOCKS + 1))
    (session,) = read_sessions(result)
    assert session.started < read_header(result).created - AN_HOUR
    later("validate", result, code=0)
    listed = later("clean", "--results", "results", "--older-than", "1h", "--yes")
    assert result.exists(), listed.all
    gone = later("clean", "--results", "results", "--yes", code=0)
    assert not result.exists(), gone.all
