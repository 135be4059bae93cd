"""Rising concurrency: which cases are a sweep, and what reports say of it."""

import math
import statistics
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest
from benchforge_reporters.html.report import Html
from benchforge_reporters.markdown import Markdown
from benchforge_reporters.terminal.report import Terminal
from benchforge_reporters.text.standings import sweeps
from front_door import Bench, answering
from made.made_result import METRICS, case, header, trials
from present import present
from suite_texts.files import suite_text

from benchforge.model.summary.capacity import ConcurrencySweep
from benchforge.model.summary.summary import Summary
from benchforge.model.values.case_name import CaseName
from benchforge.stats.summary.concurrency_sweeps import sweep
from benchforge.stats.summary.summarize import summarize

LEVELS = (1, 2, 4, 8, 16, 32)
Rows = list[tuple[CaseName, Sequence[float | None]]]


def law(level: int) -> float:
    return 1000 * level / (1 + 0.05 * (level - 1))


def rising(server: str = "a", n: int = 5, knee: int = 10**6) -> Rows:
    draw = Random(server)
    return [
        (
            case(server, loaders__few__connections=level),
            [law(min(level, knee)) * math.exp(draw.gauss(0, 0.01)) for _ in range(n)],
        )
        for level in LEVELS
    ]


def summed(rows: Rows, at_once: Sequence[int | None] | None = None) -> Summary:
    levels = at_once or [int(str(item.vary["loaders.few.connections"])) for item, _ in rows]
    blocks = max(len(row) for _, row in rows)
    return summarize(header([item for item, _ in rows], blocks), trials(rows, levels), METRICS)


def only(summary: Summary) -> ConcurrencySweep:
    (actual,) = summary.sweeps
    return actual


def test_a_line_says_the_most_and_from_where_on() -> None:
    summary = summed(rising())
    sole = only(summary)
    assert [level.concurrency for level in sole.levels] == list(LEVELS)
    assert present(sole.sweep).best_level == 32
    (line,) = sweeps(summary, "hello")
    assert line.startswith("a by few, connections varied: at most ")
    assert " requests/s (" in line
    assert "not saturated below 32" in line
    assert "times one at a time" in line


def test_a_hard_knee_saturates() -> None:
    summary = summed(rising(knee=4))
    assert present(only(summary).sweep).saturated == 4
    (line,) = sweeps(summary, "hello")
    assert "saturated from 4" in line


def test_each_server_is_swept_by_itself_in_the_order_of_the_suite() -> None:
    summary = summed([*rising("b"), *rising("a")])
    assert [sweep.server for sweep in summary.sweeps] == ["b", "a"]
    assert len(summary.comparisons) == len(LEVELS)
    assert all(comparison.rankings[0].blocks == 5 for comparison in summary.comparisons)


def test_what_is_no_sweep() -> None:
    """Few levels, a concurrency that does not change or is unknown, an option of the server."""
    assert summed(rising()[:1]).sweeps == summed(rising()[:2]).sweeps == ()
    assert summed(rising(), [8] * 6).sweeps == summed(rising(), [None] * 6).sweeps == ()
    rows: Rows = [(case("a", servers__a__workers=n), [100.0 * n] * 5) for n in (1, 2, 4)]
    assert summed(rows, [1, 2, 4]).sweeps == ()


def test_another_option_that_varies_makes_a_sweep_for_each_of_its_values() -> None:
    rows: Rows = [
        (case("a", loaders__few__connections=n, path__size=size), [100.0 * n + k for k in range(4)])
        for size in (1, 9)
        for n in (1, 2, 4)
    ]
    summary = summed(rows).sweeps
    assert [item.vary for item in summary] == [{"path.size": 1}, {"path.size": 9}]
    assert [len(item.levels) for item in summary] == [3, 3]


def test_a_level_without_believed_trials_is_left_out_and_told() -> None:
    rows = rising()
    rows[2] = (rows[2][0], [None] * 5)
    summary = summed(rows)
    assert only(summary).left_out == (4,)
    (line,) = sweeps(summary, "hello")
    assert "without 4 (no value is believed)" in line
    for index in (1, 3, 4):
        rows[index] = (rows[index][0], [None] * 5)
    sole = only(summed(rows))
    assert sole.sweep is None
    assert sole.why == "2 levels have believed values: it takes 3"


@pytest.mark.parametrize(("n", "subject"), [(1, "1 block has"), (2, "2 blocks have")])
def test_few_blocks_say_nothing_together(n: int, subject: str) -> None:
    summary = summed(rising(n=n))
    assert only(summary).sweep is None
    (line,) = sweeps(summary, "hello")
    assert line.endswith(f"no curve: {subject} believed values of every level: it takes 3")


def test_a_level_that_serves_nothing_leaves_no_highest() -> None:
    rows = rising()
    rows[5] = (rows[5][0], [0.0] * 5)
    (line,) = sweeps(summed(rows), "hello")
    assert "the highest throughput is unknown: a value is 0" in line


def test_a_smoke_sweeps_nothing() -> None:
    rows = rising()
    made = header([item for item, _ in rows], 5, smoke=True)
    assert summarize(made, trials(rows, LEVELS), METRICS).sweeps == ()


def test_every_form_says_it_and_the_page_draws_it(tmp_path: Path) -> None:
    summary = summed([*rising("a"), *rising("b", knee=4)])
    report = Markdown().report(summary, (), tmp_path)[0].read_text()
    page = Html().report(summary, (), tmp_path)[0].read_text()
    text = Terminal().text(summary, ())
    for line in sweeps(summary, "hello"):
        assert line in text
        assert line in page
        assert line in report.replace("\\", "")
    assert page.count("by concurrency</figcaption>") == 2
    assert page.count('<circle class="mark ') >= 2 * len(LEVELS)


def test_a_run_that_varies_connections_is_swept(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "rising.toml").write_text(
        suite_text("stats/summary/concurrency_sweeps", answering=answering("--wait", "0.02"))
    )
    call = bench("run", "--details", "rising.toml", code=0)
    (result,) = (tmp_path / "results").iterdir()
    (slow,) = Summary.model_validate_json((result / "summary.json").read_text()).sweeps
    assert (slow.server, slow.option) == ("slow", "loaders.pace.connections")
    assert [level.concurrency for level in slow.levels] == [1, 2, 4]
    assert slow.blocks == 3
    assert present(slow.sweep).best_level == 4  # it waits: the more at a time, the more
    assert "slow by pace, connections varied: at most " in call.out
    assert (result / "report.html").read_text().count("by concurrency</figcaption>") == 1
    bench("validate", result, code=0)
    bench("verify", result, code=0)


DOUBLED = [1, 2, 4, 8, 16, 32, 64, 128, 256]


def scaled(level: int, contention: float, coherency: float) -> float:
    return 1000 * level / (1 + contention * (level - 1) + coherency * level * (level - 1))


def noisy(draw: Random, contention: float, coherency: float, n: int) -> dict[int, list[float]]:
    def value(level: int) -> float:
        return scaled(level, contention, coherency) * math.exp(draw.gauss(0, 0.03))

    return {level: [value(level) for _ in range(n)] for level in DOUBLED}


@pytest.mark.parametrize("knee", [4, 8, 32, 64])
def test_a_sweep_saturates_at_its_knee(knee: int) -> None:
    values = {
        level: [1000.0 * min(level, knee) * by for by in (0.99, 1, 1.01)] for level in DOUBLED
    }
    got = sweep(values)
    assert got.saturated == knee
    assert got.knee == pytest.approx(knee)


def test_a_sweep_says_all_of_it() -> None:
    values = noisy(Random(3), 0.02, 2e-4, n=8)
    got = sweep(values, seed=1)
    assert got == sweep(values, seed=1)
    most = max(DOUBLED, key=lambda level: statistics.geometric_mean(values[level]))
    assert got.best_level == most
    assert got.highest.value == pytest.approx(statistics.geometric_mean(values[most]))
    assert present(got.highest.low) <= scaled(70, 0.02, 2e-4) <= present(got.highest.high) * 1.01
    assert got.saturated_range is not None
    assert got.saturated_range[0] <= present(got.saturated) <= got.saturated_range[1]
    assert got.knee == pytest.approx(19.7, rel=0.1)


@pytest.mark.parametrize(
    ("values", "index", "reason"),
    [
        ({}, None, "no level was measured"),
        ({1: [], 2: []}, None, "no block has a value"),
        ({1: [1.0, 2, 3], 2: [0.0, 3, 4]}, None, "a value is 0"),
        ({1: [1.0], 2: [2.0]}, 2, "1 block has no interval: it takes 3"),
        ({1: [1.0, 1.1], 2: [2.0, 2.1]}, 2, "2 blocks have no interval: it takes 3"),
        ({1: [1.0] * 5, 2: [2.0, 2.1, 2, 2, 2]}, 2, "all 5 are equal: how they spread is not"),
    ],
)
def test_what_a_sweep_cannot_say(
    values: dict[int, list[float]], index: int | None, reason: str
) -> None:
    got = sweep(values)
    assert got.best_level == index
    assert got.highest.interval is None
    assert reason in got.highest.why
