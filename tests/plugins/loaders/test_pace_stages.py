"""A rate that changes by plan: when requests are due, and what each stage measured."""

import importlib
import json
import sys
from itertools import accumulate, pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from benchforge_loaders.pace.pace import PROGRAM
from front_door import Bench
from hypothesis import given
from hypothesis import strategies as st
from measured.case import cases, trial_of
from suite_texts.files import suite_text

from benchforge.plugin import Histogram, Reading, StageReading
from benchforge.suite.mix.drivers import flow_values

sys.path[:0] = [str(PROGRAM.parent), str(Path(flow_values.__file__).parent)]
pace_stages: Any = importlib.import_module("pace_stages")
pace_loop: Any = importlib.import_module("pace_loop")
del sys.path[:2]

RATES = st.floats(0, 1000)
STAGES = st.lists(st.tuples(RATES, RATES, st.floats(0.01, 20)), min_size=1, max_size=5)


def expected(stages: list[tuple[float, float, float]], second: float) -> float:
    """Return how many requests are due so many seconds after the begin: the integral."""
    total = 0.0
    for begin, end, seconds in stages:
        inside = max(0.0, min(second, seconds))
        total += begin * inside + (end - begin) / seconds * inside**2 / 2
        second -= seconds
    return total


@given(STAGES, st.floats(0, 0.999))
def test_when_a_request_is_due(stages: list[tuple[float, float, float]], share: float) -> None:
    total = expected(stages, sum(stage[2] for stage in stages))
    number = share * total
    due = pace_stages.inverse(stages)(number)
    if total > 0.01:
        assert due is not None
        assert abs(expected(stages, due / 1e9) - number) < 1e-4 * max(1.0, total)
    assert pace_stages.inverse(stages)(total + 1) is None


@pytest.mark.parametrize("arrivals", ["constant", "poisson"])
def test_the_processes_share_the_arrivals_of_stages(arrivals: str) -> None:
    stages = [(0.0, 1000.0, 1.0), (1000.0, 1000.0, 1.0), (3000.0, 3000.0, 1.0)]
    plan = SimpleNamespace(stages=stages, arrivals=arrivals, seed=3, processes=3)
    vars(plan).update(rate=1.0, duration_ns=3 * 10**9, per_record=1.0)
    parts = [list(pace_loop.arrivals(plan, part, 0)) for part in range(3)]
    assert all(item <= other for part in parts for item, other in pairwise(part))
    assert all(1300 < len(part) < 1700 for part in parts)
    seconds = [sum(1 for part in parts for when in part if when // 10**9 == n) for n in range(3)]
    for counted, wanted in zip(seconds, (500, 1000, 3000), strict=True):
        assert abs(counted - wanted) <= (1 if arrivals == "constant" else wanted**0.5 * 5)


@given(STAGES, st.lists(st.floats(0, 1), max_size=20))
def test_parts_of_stages_are_equal_and_have_a_p99(
    stages: list[tuple[float, float, float]], shares: list[float]
) -> None:
    course = pace_stages.Course(stages, 10**9)
    ends = [0.0, *accumulate(seconds for _, _, seconds in stages)]
    moments = [10**9 + int(share * ends[-1] * 1e9) for share in shares]
    for moment in moments:
        course.answered(moment, 7)
    printed = course.printed()["stages"]
    assert len(printed) == len(stages)
    for (begin, end, seconds), parts in zip(stages, printed, strict=True):
        due = (begin + end) / 2 * seconds
        assert len(parts) == 1 or (len(parts) <= 20 and due / len(parts) >= 1000)
    counted = [sum(part["durations"]["counts"] != [] for part in parts) for parts in printed]
    assert sum(counted) <= len(shares)
    counts = [[part["durations"]["counts"] for part in parts] for parts in printed]
    responses = [sum(n for pairs in parts for _, n in pairs) for parts in counts]
    assert sum(responses) == len(shares)
    for (start, end), count in zip(pairwise(ends), responses, strict=True):
        inside = [m for m in moments if start * 1e9 + 2 < m - 10**9 < end * 1e9 - 2]
        assert count >= len(inside)


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50))
def test_which_responses_of_a_stage_are_good_is_bounded(
    sandbox: int, others: int, bad: int
) -> None:
    stage = StageReading(
        stage="1/s for 1s", seconds=1, errors=2, unfinished=1, latency=Histogram.of({5: sandbox})
    )
    responses = sandbox + others
    good = max(0, responses - bad)
    full = Reading(seconds=9, responses=responses, good_at_least=good, good_at_most=good, errors={})
    reading = stage.of(full)
    for of_others in range(max(0, good - sandbox), min(others, good) + 1):
        assert reading.good_at_least <= good - of_others <= reading.good_at_most
    assert (reading.good is None) == (0 < good < responses and sandbox > 0 and others > 0)
    assert (reading.unanswered, reading.censored) == (2, 3)


SUITE = suite_text("plugins/loaders/pace_stages")


def test_each_stage_has_the_requests_that_were_due_in_it(bench: Bench, tmp_path: Path) -> None:
    path = tmp_path / "day.toml"
    path.write_text(SUITE)
    ran = bench("run", "--details", path, "-o", "results", code=0)
    assert "day, by stage of the load\nrecords, stage 1, 0..80/s in 500ms: " in ran.out
    (result,) = (tmp_path / "results").iterdir()
    (trial,) = (json.loads(file.read_text()) for file in result.glob("trials/*/trial.json"))
    stages = trial["reading"]["stages"]
    answered = [sum(stage["latency"]["counts"].values()) for stage in stages]
    due = [n + s["errors"] + s["unfinished"] for n, s in zip(answered, stages, strict=True)]
    # 20, 40 and 30 requests; each process begins with a number of its own.
    assert [*accumulate(due)] == pytest.approx([20, 60, 90], abs=1)
    assert trial["load"]["rate"] == pytest.approx(90 / 1.3)
    assert "0..80/s in 500ms" in trial["load"]["stages"]
    bench("verify", result, code=0)
    for page in ("report.md", "report.html"):
        text = (result / page).read_text()
        assert "By stage of the load" in text
        assert "records over time" in text
    drawn = (result / "charts/time-1-1.svg").read_text()
    assert "until 500 ms: " in drawn
    assert drawn.count('class="grid zero"') == 3
    _has_an_axis_of_stages(trial, json.loads((result / "summary.json").read_text()), result)


def _has_an_axis_of_stages(trial: dict[str, Any], summary: dict[str, Any], result: Path) -> None:
    """A claim and a table have the numbers of a stage, and not those of the whole load."""
    stages = trial["reading"]["stages"]
    rates = [sum(stage["latency"]["counts"].values()) / stage["seconds"] for stage in stages]
    (case,) = summary["cases"]
    of_stages = [
        {line["metric"]: line["median"] for line in lines if line["of"] is None}
        for lines in case["stages"]
    ]
    assert [of_stage["throughput"] for of_stage in of_stages] == pytest.approx(rates)
    assert [of_stage["errors"] for of_stage in of_stages] == [stage["errors"] for stage in stages]
    (instance,) = summary["claims"][0]["instances"]
    assert instance["a"]["case"]["vary"] == {"stage": 3}
    head, row = (result / "tables/stages.csv").read_text().splitlines()[:2]
    assert head.count("stage") >= 1
    assert row.startswith("records")


def test_a_warm_up_keeps_the_mean_rate_of_the_stages(tmp_path: Path) -> None:
    path = tmp_path / "day.toml"
    path.write_text(SUITE.replace("blocks = 1", 'blocks = 1, warmup = "200ms"'))
    (case,) = cases(path)
    trial = trial_of(case, tmp_path)
    assert trial.failure is None, trial.failure
    warm_up = next(item for item in trial.processes if "--duration 0.2" in " ".join(item.argv))
    assert "--stages" not in warm_up.argv
