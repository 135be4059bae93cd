"""Claims of real runs: a delay is planted in a server, and the verdicts have to say so."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from front_door import Bench, answering, attempts, bench_words, calls
from measured.on_disk import summary_of
from measured.once import made_once
from measured.real_result import Where, change
from suite_texts.files import suite_text
from third_party import Installs

from benchforge.model.files.folder import read_trials
from benchforge.model.trial.window import WHOLE
from benchforge.parts.registry import Registry
from benchforge.plugin import Metric

SUITE = suite_text("suite/claims/claims", answering=answering(), slow=answering("--wait", "0.02"))
BOTH = 'scenario = "hello"\na = { server = "fast" }\nb = { server = "slow" }\n'
TWINS = """scenario = "hello"
a = { server = "slow" }
b = { scenario = "again", server = "twin" }
"""
FASTER = f"""
[claims.faster]
says = "the fast one serves more"
{BOTH}metric = "throughput"
holds = "a > b"
published = 7.17
"""
SLOWER = f"""
[claims.slower]
{BOTH}metric = "throughput"
holds = "a < 2 * b"
"""
LIKE = f"""
[claims.like]
{TWINS}metric = "throughput"
holds = "a == b +- 60%"
"""
UNLIKE = f"""
[claims.unlike]
{TWINS}metric = "throughput"
holds = "a == b +- 0.0001%"
"""
SOON = """
[claims.soon]
scenario = "hello"
metric = "middle"
a = { server = "slow", minus = { server = "fast" } }
holds = "a > 5ms"
published = 0.02
"""
UNKNOWN = f"""
[claims.unknown]
{BOTH}metric = "tail"
holds = "a < b"
"""
NEVER = """
[claims.never]
scenario = "hello"
metric = "failed"
a = { server = "fast" }
holds = "a < 50%"
"""
PLANTED = {
    "faster": "holds",
    "slower": "fails",
    "like": "holds",
    "unlike": "inconclusive",
    "soon": "holds",
    "unknown": "invalid",
    "never": "holds",
}
ALL = FASTER + SLOWER + LIKE + UNLIKE + SOON + UNKNOWN + NEVER


def run(bench: Bench, folder: Path, claims: str, *words: str) -> tuple[int, str, Path]:
    suite = folder / "suite.toml"
    suite.write_text(SUITE + claims)
    call = bench("run", "--details", suite, "-o", folder / "out", *words)
    (result,) = (folder / "out").iterdir()
    return call.code, call.out, result


def run_with_twins(bench: Bench, folder: Path, claims: str, *words: str) -> tuple[int, str, Path]:
    """Run until the answers are those that were planted, five times at most.

    One run in twenty finds a difference between the twins by chance; and a neighbour that stops one
    of four blocks makes intervals wide.
    """
    for path in attempts(folder):
        answer = run(bench, path, claims, *words)
        states = {verdict.claim: verdict.state for verdict in summary_of(answer[2]).verdicts}
        if all(PLANTED[label] == state for label, state in states.items()):
            break
    return answer


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, str, Path]:
    def measured(folder: Path) -> Path:
        *output, result = run_with_twins(calls(bench_words(), folder), folder, ALL)
        (result.parent / "said.json").write_text(json.dumps(output))
        return result

    result = made_once(tmp_path_factory, "claims", measured)
    code, out = json.loads((result.parent / "said.json").read_text())
    return code, out, result


@pytest.fixture
def result(answered: tuple[int, str, Path], tmp_path: Path) -> Path:
    """Return a copy, to be changed."""
    return Path(shutil.copytree(answered[2], tmp_path / "copy"))


def test_claims_find_what_was_planted(answered: tuple[int, str, Path]) -> None:
    code, out, result = answered
    verdicts = {verdict.claim: verdict for verdict in summary_of(result).verdicts}
    assert {label: verdict.state for label, verdict in verdicts.items()} == PLANTED, out
    assert code == 4, out
    assert verdicts["faster"].at == {}
    value = verdicts["soon"].estimate.value
    assert value is not None
    assert 0.015 < value < 0.1
    assert "no blocks have believed values, it takes 3: a: trial" in verdicts["unknown"].why


def test_a_metric_has_the_parts_that_it_says(answered: tuple[int, str, Path]) -> None:
    trials, registry = read_trials(answered[2]), Registry()
    for label in registry.names("metric"):
        metric = registry.part("metric", label)()
        assert isinstance(metric, Metric)
        actual = {item.of for trial in trials for item in metric.of_trial(trial, label, WHOLE)}
        assert not metric.parts() or actual <= {*metric.parts(), *metric.once}, label
    assert registry.part("metric", "latency")().parts() == ("mean", "p50", "p90", "p99")  # type: ignore[attr-defined]


def test_the_terminal_has_a_line_for_each_claim(answered: tuple[int, str, Path]) -> None:
    out = answered[1]
    assert "\n  \N{HEAVY CHECK MARK} faster   throughput of fast > slow holds: " in out
    words = " ".join(out.split())
    assert "published 7.17x" in words
    assert "published 20 ms" in words
    assert " 1 does not hold, 1 undecided, 1 invalid" in words
    assert " slower throughput of fast < 2 * slow does not hold: " in words
    assert re.search(r" unknown \S.* is invalid: ", words)
    assert re.search(" blocks would tell| more blocks to tell", words)


def test_the_reports_have_each_sentence(answered: tuple[int, str, Path]) -> None:
    result = answered[2]
    markdown, html = (result / "report.md").read_text(), (result / "report.html").read_text()
    assert "## Claims" in markdown
    assert ">Claims</h2>" in html
    assert r"| holds | faster | a \> b | " in markdown
    for verdict in summary_of(result).verdicts:
        start = verdict.sentence.partition(" (95")[0].partition("<")[0]
        assert start in html, start
    assert "closed loop, 1 connection, co-located, this machine" in markdown


def test_the_verdicts_are_computed_again(bench: Bench, result: Path) -> None:
    bench("validate", result, code=0)
    # Its header has an option that excludes others, beside their defaults.
    bench("report", result, "-o", "-", "--reporter", "csv", code=0)
    bench("verify", result, code=0)
    change(result / "summary.json", ("verdicts", 0, "estimate", "sd"), lambda sd: sd * (1 + 1e-6))
    assert "verdicts.0.estimate.sd" in bench("verify", result, code=1).out


@pytest.mark.samples(4)
@pytest.mark.parametrize(
    ("path", "to", "output"),
    [
        (("verdicts", 0, "state"), lambda _: "fails", "verdicts.0.state: "),
        (("verdicts", 1, "state"), lambda _: "holds", "verdicts.1.state: "),
        (("verdicts", 3, "state"), lambda _: "holds", "verdicts.3.state: "),
        (("verdicts", 0, "a", 2), lambda item: item * 1.01, "verdicts.0.a.2"),
        (("verdicts", 0, "b"), lambda all_: all_[:-1], "verdicts.0.b."),
        (("verdicts", 0, "blocks", 0), lambda _: 9, "verdicts.0.blocks.0: 9, but recomputed it is"),
        (
            ("verdicts", 0, "estimate", "n"),
            lambda _: 99,
            "verdicts.0.estimate.n: 99, but recomputed it is",
        ),
        (
            ("verdicts", 0, "claim"),
            lambda _: "like",
            'verdicts.0.claim: "like", but recomputed it is "faster"',
        ),
        (("verdicts", 5, "why"), lambda _: "", 'verdicts.5.why: "", but recomputed it is'),
        (("verdicts",), lambda all_: all_[1:], "verdicts.0."),
        (("claims", 0, "margin"), lambda _: 0.5, "claims.0.margin: 0.5, but recomputed it is"),
        (("verdicts", 0, "estimate", "low"), lambda low: low * 9, "is not between"),
    ],
)
def test_a_verdict_that_cannot_be_is_told(
    bench: Bench, result: Path, path: Where, to: Callable[[Any], Any], output: str
) -> None:
    change(result / "summary.json", path, to)
    assert output in bench("verify", "--level", "numbers", "--all", result, code=1).all


def test_no_number_of_a_foreign_result_is_nan(bench: Bench, result: Path) -> None:
    file = result / "summary.json"
    document = json.loads(file.read_text())
    document["verdicts"][0]["a"][0] = float("nan")
    file.write_text(json.dumps(document))
    assert "summary.json" in bench("validate", result, code=2).all


def test_a_claim_whose_case_is_not_there_is_told(bench: Bench, result: Path) -> None:
    path = ("claims", 0, "instances", 0, "a", "case", "digest")
    change(result / "result.json", path, lambda _: "x")
    run = bench("validate", result, code=1)
    assert "claims.0: the case 'hello · fast · few' is not in `cases`" in run.all
    bench("verify", result, code=1)


FAST = ("--set", "repeat.blocks=3")


def test_an_inconclusive_claim_ends_with_0(bench: Bench, tmp_path: Path) -> None:
    code, out, result = run_with_twins(bench, tmp_path, FASTER + UNLIKE, *FAST)
    assert code == 0, out
    suite = result.parents[1] / "suite.toml"
    again = bench("run", "--details", "--resume", result, suite, "--inconclusive-fails", code=1)
    assert "  ? unlike  " in again.out
    assert " is undecided: " in " ".join(again.out.split())


JUDGED = """
from benchforge.plugin import hookimpl

@hookimpl
def benchforge_judged(summary, verdicts):
    with open("heard.txt", "a") as file:
        file.write(" ".join([summary.name, *(one.state for one in verdicts)]))
"""


def test_a_smoke_run_is_not_judged(bench: Bench, tmp_path: Path, installs: Installs) -> None:
    installs("listener", {"notes": "notes"}, {"notes.py": JUDGED})
    suite = tmp_path / "suite.toml"
    suite.write_text(SUITE + FASTER + LIKE)
    call = bench("run", "--details", suite, "--profile", "smoke", "--only", "hello", code=0)
    assert "not tested, because their scenarios do not run: 1 claim (like)\n" in call.all
    assert "claims are not judged, a smoke measures nothing: faster\n" in call.out
    assert (tmp_path / "heard.txt").read_text() == "suite"


def test_a_failed_claim_ends_with_1(bench: Bench, tmp_path: Path, installs: Installs) -> None:
    installs("listener", {"notes": "notes"}, {"notes.py": JUDGED})
    code, _, result = run(bench, tmp_path, FASTER + SLOWER, *FAST, "--only", "hello")
    assert code == 1
    assert (tmp_path / "heard.txt").read_text() == "suite holds fails"
    bench("run", "--resume", result, tmp_path / "suite.toml", code=1)


def test_a_wrong_answer_makes_it_invalid(bench: Bench, tmp_path: Path) -> None:
    text = SUITE.replace(answering(), answering("--status", "500"), 1)
    (tmp_path / "suite.toml").write_text(text + FASTER)
    suite, short = tmp_path / "suite.toml", ("--set", "repeat.blocks=1")
    call = bench("run", "--details", suite, *short, "--only", "hello", code=4)
    assert "faster fast > slow is invalid: broken: fast" in " ".join(call.out.split())
