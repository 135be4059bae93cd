"""A load tool that fails alike in each trial: its case ends after three, and the others go on."""

from pathlib import Path

import pytest
from front_door import Bench, answering, needed
from made.plain import trial
from suite_texts.files import suite_text

from benchforge.model.files.folder import read_trials
from benchforge.model.trial.trial import ATTEMPTS, Failure, Trial
from benchforge.stats.summary.completeness import given_up

SUITE = suite_text("results/given_up", answering=answering())


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
    ],
)
def test_only_three_in_a_row_that_end_alike_are_enough(ends: list[str], over: bool) -> None:
    trials = [
        trial(number=number, failure=Failure(stage="read", message=end) if end else None)
        for number, end in enumerate(ends, 1)
    ]
    assert given_up(trials, trials[0].case) is over
    others = [item.model_copy(update={"failure": None}) for item in trials]
    assert not given_up(others, trials[0].case)


def test_a_server_that_did_not_start_is_no_failure_of_the_load_tool() -> None:
    def ended(stage: str, message: str) -> Trial:
        failure = Failure.model_validate({"stage": stage, "message": message})
        return trial().model_copy(update={"failure": failure})

    starts, crash = ended("start", "it did not start"), ended("read", "crashed after 12 ms")
    again = ended("read", "crashed after 9 ms")
    case = crash.case
    assert given_up([starts, crash, again, crash], case)
    assert not given_up([starts, starts, crash], case)
    assert not given_up([starts] * 3, case)
    assert not given_up([crash, again, trial(), crash], case)
    assert not given_up([crash, again], case)
    assert not given_up([crash, again, ended("read", "another end")], case)
