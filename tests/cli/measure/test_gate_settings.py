"""Settings of a gate: what an undecided one does, which files are irrelevant, what a step gives."""

import json
from pathlib import Path
from typing import get_args

import pytest
from front_door import Bench
from made import plain
from repository import COMMAND, FAST, git, repository
from suite_texts.files import suite_text

from benchforge.cli.measure.gate.files import junit, outputs
from benchforge.cli.measure.gate.outcome import GatedPair, Outcome
from benchforge.cli.measure.gate.verdict import STATES, SpeedVerdict, State
from benchforge.model.suite.claim import Waiver

SUITE = suite_text("cli/measure/gate", command=COMMAND)
FAILS: set[State] = {"broken", "slower", "invalid"}


def pair(verdict: SpeedVerdict, *, tolerated: bool, waiver: Waiver | None = None) -> GatedPair:
    name = plain.named()
    return GatedPair("s", name, "throughput", verdict, True, waiver, None, tolerated=tolerated)


def outcome(*pairs: GatedPair, result: str = "r") -> Outcome:
    return Outcome("main at 1a2b3c4", "working tree", 0.05, 0.98, pairs, (), result)


@pytest.mark.parametrize("state", get_args(State))
@pytest.mark.parametrize("tolerated", [True, False])
def test_only_an_interval_that_decides_nothing_passes_by_the_setting(
    state: State, *, tolerated: bool
) -> None:
    gate = outcome(pair(SpeedVerdict(state, 0.98, 0.94, 1.02, 8), tolerated=tolerated))
    passes = tolerated and state == "undecided"
    assert gate.state == state
    assert gate.exit_code == (0 if passes else STATES[state].exit_code)
    without = outcome(pair(SpeedVerdict(state, why="no block"), tolerated=tolerated))
    assert (without.state, without.exit_code) == (state, STATES[state].exit_code)
    assert ("<skipped" in junit(gate)) == passes
    assert outcome(result="").exit_code == 4, "nothing is compared"
    for worse in FAILS:
        both = outcome(*gate.questions, pair(SpeedVerdict(worse, 0.9, 0.8, 0.95), tolerated=True))
        assert both.exit_code == (1 if {state, worse} & {"broken", "slower"} else 4)


def test_a_step_gives_the_slowest_server_with_the_verdict() -> None:
    verdicts = [
        SpeedVerdict("slower", 0.9, 0.88123, 0.92, 8),
        SpeedVerdict("slower", 0.8, 0.78, 0.82, 8),
        SpeedVerdict("not slower", 0.7, 0.6, 0.8, 8),
    ]
    gate = outcome(*(pair(verdict, tolerated=False) for verdict in verdicts))
    slowest = ["verdict=slower", "ratio=0.8000", "interval=0.7800 to 0.8200", "page=r/report.html"]
    assert outputs(gate).splitlines() == slowest
    empty = ["verdict=invalid", "ratio=", "interval=", "page="]
    assert outputs(outcome(result="")).splitlines() == empty


@pytest.mark.parametrize(("setting", "seconds"), [("pass", "8s"), ("rerun", "4s")])
def test_an_undecided_gate_does_as_it_is_set(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str, seconds: str
) -> None:
    """A limit of a thousandth decides nothing of equal code; only a comment is added."""
    repository(tmp_path / "repository")
    git(tmp_path / "repository", "checkout", "--quiet", "v1")
    (tmp_path / "repository/suite.toml").write_text(SUITE)
    (tmp_path / "repository/app/answer.py").write_text(f"{FAST}# the same\n")
    monkeypatch.setenv("GITHUB_OUTPUT", str(tmp_path / "outputs"))
    words = ("gate", "repository/suite.toml", "--base", "v1", "--limit", "0.1%", "--json")
    ended = bench(*words, "--time", seconds, "--undecided", setting)
    document = json.loads(ended.out)
    (row,) = document["verdicts"]
    passes = setting == "pass" and row["state"] == "undecided" and row["low"] is not None
    code = 0 if passes else STATES[document["state"]].exit_code
    assert ended.code == document["exit_code"] == code, ended.all
    lines = (tmp_path / "outputs").read_text().splitlines()
    assert lines[0] == f"verdict={document['state']}"
    assert lines[3] == f"page={document['result']}/report.html"
    assert (tmp_path / document["result"] / "report.html").is_file()


def test_only_changes_of_irrelevant_files_are_not_measured(bench: Bench, tmp_path: Path) -> None:
    folder = tmp_path / "repository"
    repository(folder)
    (folder / "suite.toml").write_text(f'{SUITE}[gate]\nirrelevant = ["docs/**", "*.md"]\n')
    for name in ("docs/deep/page.txt", "README.md", "app/README.md"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("first\n")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "suite")

    def changed(*names: str) -> bool:
        """Return whether a gate of a commit that changes these files measured something."""
        for name in names:
            (folder / name).write_text((folder / name).read_text() + "\n")
        git(folder, "commit", "--quiet", "--all", "--message", "change")
        words = ("gate", "repository/suite.toml", "--base", "HEAD~1", "--time", "1s", "--json")
        ended = bench(*words)
        assert not json.loads(ended.out)["same"] or ended.code == 0, ended.all
        return not json.loads(ended.out)["same"]

    assert not changed("docs/deep/page.txt", "README.md")
    assert changed("docs/deep/page.txt", "app/README.md"), "*.md is of the top folder"
    assert changed("suite.toml")
