"""Where the time of a block goes, by stage."""

from datetime import timedelta
from typing import Any

import pytest
from benchforge_reporters.raw import block_lines, block_row, block_times
from made import plain

from benchforge.model.trial.trial import Trial

OWN = {"keeper": 0.25, "services": 1.0, "ask": 0.5, "probes": 0.125, "finish": 0.25, "leave": 0.0}
TOGETHER = {"freeze": 0.5, "rates": 0.25, "load": 4.0, "end": 0.125, "stop": 0.25}


def in_turns(block: int, begins_s: float, **more: Any) -> list[Trial]:
    """Return the two trials of a launch of 10 s."""
    changed = {"block": block, "started": plain.NOON + timedelta(seconds=begins_s), "seconds": 10}
    changed |= {"phases": OWN | TOGETHER} | more
    return [plain.trial(number=2 * block - 1, **changed), plain.trial(number=2 * block, **changed)]


def test_what_trials_in_turns_share_counts_once() -> None:
    trials = [trial for block in (1, 2, 3) for trial in in_turns(block, 12 * block)]
    times = {stage: (trial, block) for stage, trial, block in block_times(trials)}
    assert times["start"] == (1.25, 2.5)
    assert times["ask"] == (0.5, 1.0)
    assert times["warm up"] == (0.125, 0.25)
    assert times["load"] == (4.875, 4.875)
    assert times["finish"] == (0.25, 0.5)
    assert times["stop"] == (0.25, 0.25)
    assert times["between trials"] == (0, 2)  # nothing follows the last of three blocks
    assert times["between stages"] == (10 - 7.25, 10 - 9.375)
    assert times["in all"] == (10, 12)


def test_a_trial_alone_has_its_own_load() -> None:
    trials = [in_turns(1, 0)[0], in_turns(1, 11)[1]]  # of one block, one after the other
    times = {stage: (trial, block) for stage, trial, block in block_times(trials)}
    assert times["load"] == (4.875, 9.75)
    assert times["in all"] == (10, 21)


def test_the_table_has_each_stage_and_the_row_has_the_longest_first() -> None:
    trials = in_turns(1, 0)
    text = "".join(block_lines(trials))
    assert "| load | 4.875 | 4.875 |\n" in text
    assert "wait for quiet" not in text  # nobody waited
    ((name, value),) = block_row(trials)
    assert name == "time of a block"
    assert value.startswith("in all 10 s, load 4.88 s, start 2.5 s, ask 1 s, ")


@pytest.mark.parametrize("phases", [{}, {"services": 9.0, "load": 4.0}], ids=["none", "overlap"])
def test_without_phases_that_add_up_nothing_is_said(phases: dict[str, float]) -> None:
    trials = in_turns(1, 0, phases=phases)
    assert block_times(trials) == []
    assert [*block_lines(trials), *block_row(trials)] == []
