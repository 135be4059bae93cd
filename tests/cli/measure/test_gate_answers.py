"""`benchforge gate` fails each commit that answers wrongly, and calls no honest commit broken."""

import re
from pathlib import Path

import pytest
from front_door import Bench, Told
from planted.commits import BROKEN, HONEST, outcome_of, planted

FIRST_LINES = 4
LONGEST_S = 60
CODES = {"broken": {1}, "base broken": {0}, "honest": {0, 1, 4}}


def gated(bench: Bench, suite: Path, outcome: str) -> Told:
    """Gate for longer and longer, until there is that outcome: a loud machine leaves few blocks."""
    seconds = 3
    while True:
        ended = bench("gate", suite, "--base", "HEAD", "--time", f"{seconds}s", "--details")
        measured = "no block was measured" not in ended.out
        if seconds > LONGEST_S or (measured and ended.code in CODES[outcome]):
            return ended
        seconds *= 3


@pytest.mark.samples(4)
@pytest.mark.parametrize("name", [*BROKEN, *HONEST])
def test_a_gate_fails_for_wrong_answers_alone(bench: Bench, tmp_path: Path, name: str) -> None:
    commit, outcome = {**BROKEN, **HONEST}[name], outcome_of(name)
    ended = gated(bench, planted(tmp_path / "repository", commit), outcome)
    first, *_ = lines = ended.out.splitlines()
    assert ended.code in CODES[outcome], ended.all
    assert re.search(commit.says, "\n".join(lines[:FIRST_LINES]), re.DOTALL), ended.all
    if outcome == "honest":
        assert "broken" not in ended.all.lower()
        assert ended.code != 1 or "slower; the limit is" in first, ended.all
        return
    assert first.startswith("FAILED: " if outcome == "broken" else "PASSED: "), ended.all
    rows = [line for line in lines if " · app · pace: " in line]
    assert len(rows) == len(commit.scenarios), ended.all
    assert sum("broken" in row for row in rows) == 1, ended.all  # the others keep their verdicts
