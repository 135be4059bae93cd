"""`until` by the front door: what a suite may say, and runs that end when it is enough."""

import hashlib
import math
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from front_door import Bench, answering, bench_words, calls
from measured.on_disk import cut_off, edited, only_result, places, summary_of
from measured.once import made_once
from present import present
from suite_texts.files import suite_text

from benchforge.cli.suites.plan.planned import Plan
from benchforge.model.files.folder import read_header
from benchforge.parts.registry import Registry
from benchforge.stats.distributions import t_quantile
from benchforge.suite.load import load
from benchforge.suite.toml.faults import SuiteErrors

AT_ONCE, NEVER = "99%", 0.0001
EACH_LINE = """
from benchforge.__main__ import main
from benchforge.cli.console import progress
progress._APART_S = 0.0  # no plain line of a pipe waits for the one before
main()
"""


def suite(folder: Path, repeat: str = f'until = "{AT_ONCE}"', more: str = "") -> Path:
    path, holes = folder / "few.toml", {"answering": answering(), "repeat": repeat, "more": more}
    path.write_text(suite_text("end_to_end/until", **holes))
    return path


def amount(path: Path, **how: Any) -> tuple[float, int, int] | int:
    repeat = load(path, Registry(), **how).repeat
    until = repeat.amount()
    return repeat.blocks if until is None else (until.width, until.least, until.most)


@pytest.mark.parametrize(
    ("written", "actual"),
    [
        ('until = "3%"', (0.03, 4, 30)),
        ("until = 0.03", (0.03, 4, 30)),
        ('until = "2.5 %"\nbetween = [10, 10]', (0.025, 10, 10)),
        ("", 5),
    ],
)
def test_until_is_read(tmp_path: Path, written: str, actual: tuple[float, int, int] | int) -> None:
    assert amount(suite(tmp_path, written)) == actual


def test_what_is_said_last_holds(tmp_path: Path) -> None:
    more = """[profiles.number]
repeat.blocks = 2
[profiles.width]
repeat = { until = "1%", between = [9, 10] }
[profiles.both]
repeat = { blocks = 2, until = "1%" }
"""
    path = suite(tmp_path, 'until = "3%"', more)
    assert amount(path, profile="number") == 2
    assert amount(path, profile="width") == (0.01, 9, 10)
    assert amount(path, settings=[("repeat.blocks", "1")]) == 1
    assert amount(path, profile="number", settings=[("repeat.until", "5%")]) == (0.05, 4, 30)
    with pytest.raises(SuiteErrors, match="cannot be combined with `blocks`"):
        load(path, Registry(), profile="both")
    path = suite(tmp_path, "blocks = 7", more)
    assert amount(path) == 7
    assert amount(path, profile="width") == (0.01, 9, 10)


def test_a_plan_is_from_the_fewest_to_the_most(bench: Bench, tmp_path: Path) -> None:
    path = suite(tmp_path, 'until = "3%"\nbetween = [8, 20]')
    call = bench("plan", path)
    assert "2 cases, 8 to 20 blocks: 16 to 40 trials, about 26 s to 1 min 6 s (at most " in call.out
    assert "blocks are added until no interval of 95 % is wider than 3 % to a side" in call.out
    assert "block 20:" in call.out
    plan = Plan.model_validate_json(bench("plan", path, "--format", "json").out)
    assert plan.until is not None
    assert (plan.until.width, plan.until.least, plan.blocks, plan.trials) == (0.03, 8, 20, 40)


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A result that stopped after eight of ten blocks, and what its run said.

    A neighbour on the machine makes trials unbelieved, and then a ninth block may be right: once
    more.
    """

    def measured(folder: Path) -> Path:
        number = 0
        while True:
            number += 1
            (path := folder / f"{number}").mkdir()
            bench = calls(bench_words(), path)
            file = suite(path, f'until = "{AT_ONCE}"\nbetween = [8, 10]')
            run = bench("run", "--details", file, code=0)
            if number == 2 or "stopped after 8 blocks" in run.out:
                break
        (path / "said").write_text(run.all)
        return only_result(path)

    result = made_once(tmp_path_factory, "stopped", measured)
    return result, (result.parents[1] / "said").read_text()


def test_it_stops_once_it_is_enough_and_is_complete(
    bench: Bench, stopped: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result, actual = stopped
    assert "2 cases, 8 to 10 blocks: 16 to 20 trials, about " in actual
    assert " left" in actual
    assert "round 8, the report's widest interval is " in actual
    assert "% to a side: ping · one · pace / two · pace in throughput: enough" in actual
    assert "stopped after 8 blocks: no interval is wider than " in actual
    assert "to continue" not in actual
    header = read_header(result)
    assert len(header.plan) == 20
    assert places(result) == [(item.block, item.position) for item in header.plan[:16]]
    summary = summary_of(result)
    assert summary.complete
    assert [case.planned for case in summary.cases] == [8, 8]
    assert "- blocks: stopped after 8 blocks: " in (result / "report.md").read_text()
    bench("validate", result, code=0)
    bench("verify", result, code=0)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # the machine's own may be large
    listed = bench("clean", "--results", result.parent)  # nobody is there to say yes
    assert "finished, 16 of 16 measurements" in listed.all, listed.all


def cut(stopped: tuple[Path, str], folder: Path, writer: int) -> Path:
    """Return a copy of it as a kill leaves it: so many trials, a half one, and no report."""
    return cut_off(Path(shutil.copytree(stopped[0], folder / "cut")), writer)


def test_a_block_has_its_state(stopped: tuple[Path, str], tmp_path: Path) -> None:
    result = cut(stopped, tmp_path, writer=15)
    for trial in result.glob("trials/*/trial.json"):  # what a neighbour disturbs has no order
        edited(trial, lambda item: item.update(checks=[]))
    run = calls([sys.executable, "-c", EACH_LINE], tmp_path)("run", "--resume", result, code=0)
    about = r"^after 8 of at most 10 rounds, ping, throughput: .+ / .+ · "
    answer = f"{about}(no narrow interval yet|so far )"
    assert re.search(answer, run.err, re.MULTILINE), run.err
    assert run.err.count("Ctrl-C ends the run and reports what is there") == 1


def test_the_last_block_ends_it(bench: Bench, stopped: tuple[Path, str], tmp_path: Path) -> None:
    call = bench("run", "--resume", cut(stopped, tmp_path, writer=16), code=0)
    assert "16 planned measurements: stopped after 8 blocks: no interval is wider" in call.err
    assert summary_of(tmp_path / "cut") == summary_of(stopped[0])


def test_a_kill_changes_nothing(bench: Bench, stopped: tuple[Path, str], tmp_path: Path) -> None:
    result = cut(stopped, tmp_path, writer=13)
    call = bench("run", "--resume", result, code=0)
    assert "resumed: 13 of up to 20 measurements are done" in call.err
    assert "round 8, the report's widest interval is " in call.err
    assert places(result) == places(stopped[0])
    assert summary_of(result).complete
    bench("validate", result, code=0)
    bench("verify", result, code=0)


def test_a_time_limit_and_most(bench: Bench, stopped: tuple[Path, str], tmp_path: Path) -> None:
    result = cut(stopped, tmp_path, writer=15)
    path = suite(tmp_path, f"until = {NEVER}\nbetween = [8, 10]")
    text = path.read_text()  # as if it had been begun so

    def begun(header: dict[str, Any]) -> None:
        header["until"]["width"] = NEVER
        digest = hashlib.sha256(text.encode()).hexdigest()
        header.update(suite=text, suite_sha256=digest, suite_file=str(path))

    edited(result / "result.json", begun)
    run = bench("run", "--details", "--resume", result, "--time-limit", "0.1s")
    assert run.code in {0, 4}, run.all  # a loud machine may leave no comparison of a whole block
    assert "not measured: up to 5 planned measurements" in run.err
    # What is decided needs no alarm, although the run ended early.
    assert "not enough after " in run.out or "the run ended after " in run.out
    (verdict,) = [comparison.verdict for comparison in summary_of(result).comparisons]
    assert verdict is not None
    assert ("NOT COMPLETE" in run.out) == (verdict.state != "decided")
    bench("validate", result, code=0)
    run = bench("run", "--details", "--resume", result, code=0)
    assert places(result) == [(item.block, item.position) for item in read_header(result).plan]
    most = "stopped after 10 blocks: repeat.between = [8, 10] allows no more, and an interval is"
    assert most in run.out
    summary = summary_of(result)
    assert summary.complete
    assert summary.stop_decision is not None
    assert (summary.stop_decision.stop, summary.stop_decision.reached) == (True, False)
    bench("verify", result, code=0)

    # Whoever goes on although it is enough is told so.
    edited(result / "result.json", lambda item: item["until"].update(width=0.99, t_error=0.05))
    run = bench("verify", result, "--all", code=1)
    assert "until.t_error: 0.05, but recomputed it is 0.035" in run.out
    assert "until.width: 0.99, but recomputed it is 0.0001" in run.out
    assert "stopped after 8 blocks: no interval is wider" in run.out
    assert "but it went on" in run.out


@pytest.mark.samples(3)
@pytest.mark.parametrize(
    ("file", "change", "says"),
    [
        ("summary", {"blocks": 7}, "stop_decision.blocks: 7, but recomputed it is 8"),
        ("summary", {"blocks": 9}, "stop_decision.blocks: 9, but recomputed it is 8"),
        (
            "summary",
            {"stop": False, "reached": False},
            "stop_decision.stop: false, but recomputed it is true",
        ),
        ("summary", {"half_width": 1.5}, "stop_decision.half_width: 1.5, but recomputed it is"),
        ("result", {"most": 12}, "at most 12 blocks, but the plan has 10"),
        ("result", {"least": 2}, "not 3 or more in order"),
    ],
)
def test_what_cannot_be_is_seen(
    bench: Bench, stopped: tuple[Path, str], tmp_path: Path, file: str, change: Any, says: str
) -> None:
    result = tmp_path / "changed"
    shutil.copytree(stopped[0], result)
    name = "stop_decision" if file == "summary" else "until"
    edited(result / f"{file}.json", lambda item: item[name].update(change))
    assert says in bench("verify", "--level", "numbers", "--all", result, code=1).all


def test_a_result_that_records_no_rule_is_recomputed_by_the_earlier_one(
    bench: Bench, stopped: tuple[Path, str], tmp_path: Path
) -> None:
    result = cut(stopped, tmp_path, writer=16)

    def earlier(header: dict[str, Any]) -> None:
        header["until"] = {key: header["until"][key] for key in ("width", "least", "most")}

    edited(result / "result.json", earlier)
    bench("run", "--resume", result, code=0)
    bench("verify", result, code=0)
    widths = [present(summary_of(item).stop_decision).half_width for item in (result, stopped[0])]
    ratio = present(widths[0]) / present(widths[1])
    quantiles = [t_quantile(1 - error / 2, 7) for error in (0.04, 0.035)]
    assert ratio == pytest.approx(quantiles[0] / quantiles[1])


def test_a_claim_ends_a_run_after_three_blocks(bench: Bench, tmp_path: Path) -> None:
    """The question, its first look and its level are in the result before the first block."""
    path = suite(tmp_path, f"until = {NEVER}", CLAIM.format(holds="a > 0.01 * b"))
    assert "2 cases, 3 to 30 blocks" in bench("plan", path).out
    run = bench("run", path)
    until = read_header(run.result).until
    assert until is not None
    assert (until.method, until.least, until.level) == ("decision", 3, 0.95)
    assert until.t_error == pytest.approx(0.0443885, rel=1e-5)
    decision = present(summary_of(run.result).stop_decision)
    assert decision.why == "every claim is decided, at all looks together"
    (verdict,) = summary_of(run.result).verdicts
    low, high = present(verdict.estimate.interval)
    n = verdict.estimate.n
    half = t_quantile(1 - 0.0443885 / n / 2, n - 1) * present(verdict.estimate.sd) / n**0.5
    assert math.log(high / low) == pytest.approx(2 * half, rel=1e-4)
    bench("verify", run.result, code=0)


CLAIM = """[claims.faster]
says = "one serves at least a hundredth of two"
scenario = "ping"
metric = "throughput"
a = {{ server = "one" }}
b = {{ server = "two" }}
holds = "{holds}"
"""


def test_a_lost_block_is_missed(bench: Bench, stopped: tuple[Path, str], tmp_path: Path) -> None:
    result = tmp_path / "changed"
    shutil.copytree(stopped[0], result)
    for number in (15, 16):
        shutil.rmtree(result / f"trials/{number:04d}")
    call = bench("verify", "--level", "numbers", "--all", result, code=1)
    assert "complete: true, but recomputed it is false" in call.out
    bench("verify", result, code=1)
