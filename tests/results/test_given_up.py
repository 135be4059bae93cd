"""A load tool that fails alike in each trial: its case ends after three, and the others go on."""

from pathlib import Path

import pytest
from front_door import Bench, answering, needed
from made.plain import trial
from suite_texts.files import suite_text

from benchforge.model.files.folder import read_trials
from benchforge.model.trial.trial import ATTEMPTS, Trial
from benchforge.stats.summary.completeness import given_up

SUITE = suite_text("results/given_up", answering=answering())
UNSTARTED = "it did not start"


def crashed(result: Path) -> list[Trial]:
    return [item for item in read_trials(result) if item.case.driver == "crashes"]


def test_a_crashing_tool_has_three_trials(bench: Bench, tmp_path: Path) -> None:
    needed("hyperfine")
    (tmp_path / "suite.toml").write_text(SUITE)
    ran = bench("run", "suite.toml", "-o", "results", code=4)
    (result,) = (tmp_path / "results").iterdir()
    assert [item.block for item in crashed(result)] == [1] * ATTEMPTS
    sound = {item.block for item in read_trials(result) if item.case.driver == "sound"}
    assert sound == {1, 2, 3, 4}
    assert "not measured: 3 planned measurements, whose load tool had failed alike" in ran.err
    bench("verify", result, code=0)
    # A later session tries the place that was lost again, and comes to the same end.
    again = bench("run", "--resume", result, code=4)
    assert [item.block for item in crashed(result)] == [1] * 2 * ATTEMPTS
    assert "not measured: 3 planned measurements, whose load tool had failed alike" in again.err
    bench("verify", result, code=0)


@pytest.mark.parametrize(
    ("ends", "over"),
    [
        (["ended by signal 11"] * 3, True),
        (["pid 7: ended", "pid 18: ended", "pid 901: ended"], True),
        (["ended by signal 11"] * 2, False),
        (["", "a", "a", "a"], True),
        (["a", "a", "", "a"], False),
        (["a", "a", "b"], False),
        # A server that did not start is no failure of the load tool.
        ([UNSTARTED, "crashed after 12 ms", "crashed after 9 ms", "crashed after 12 ms"], True),
        ([UNSTARTED, UNSTARTED, "crashed after 12 ms"], False),
        ([UNSTARTED] * 3, False),
    ],
)
def test_only_three_in_a_row_that_end_alike_are_enough(ends: list[str], over: bool) -> None:
    stages = ["start" if end == UNSTARTED else "read" for end in ends]
    failures = [{"stage": stage, "message": end} for stage, end in zip(stages, ends, strict=True)]
    trials = [
        trial(number=number, failure=failure if failure["message"] else None)
        for number, failure in enumerate(failures, 1)
    ]
    assert given_up(trials, trials[0].case) is over
    others = [item.model_copy(update={"failure": None}) for item in trials]
    assert not given_up(others, trials[0].case)
