"""What the tests share that measure one case of a suite: a whole trial, without the command."""

import os
import sys
from pathlib import Path

from present import present

from benchforge.model.trial.reading import Reading
from benchforge.model.trial.trial import Trial
from benchforge.parts.registry import Registry
from benchforge.run.sandbox.host import LocalHost
from benchforge.run.trial.context import TrialContext, TrialInputs, locate_programs
from benchforge.run.trial.measure import measure
from benchforge.suite.cases.case import Case
from benchforge.suite.cases.expand import expand
from benchforge.suite.load import load
from benchforge.suite.plan import Measurement


def cases(path: Path, registry: Registry | None = None) -> list[Case]:
    return list(expand(load(path, registry or Registry())))


def trial_context(case: Case, folder: Path, python: Path = Path(sys.executable)) -> TrialContext:
    """Return what a trial of a case has; relative paths of its suite start in `folder`."""
    needs = [need for part in case.parts for need in part.needs()]
    return TrialContext(
        host=LocalHost(),
        programs=locate_programs(needs, folder),
        python=python,
        suite_folder=folder,
        network="private",
        secrets=frozenset(),
        as_root=os.geteuid() == 0,
        writes=(folder.resolve(),),  # servers of tests note there what they were asked
    )


def read_trial(case: Case, folder: Path) -> tuple[Trial, Reading]:
    """Measure a case; nothing fails, and its load tool is read."""
    trial = trial_of(case, folder)
    assert trial.failure is None, trial.failure
    return trial, present(trial.reading)


def trial_of(case: Case, folder: Path, python: Path = Path(sys.executable)) -> Trial:
    """Measure a case in `folder`/trial."""
    step = Measurement(block=1, position=1, case=case, seed=0)
    (folder / "trial").mkdir()
    return measure(
        TrialInputs(step, folder / "trial", number=1), trial_context(case, folder, python)
    ).trial
