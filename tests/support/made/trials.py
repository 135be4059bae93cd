"""What the tests share that measure one case of a suite: a whole trial, without the command."""

import os
import sys
from pathlib import Path

from benchforge.graph import Measure
from benchforge.model.trial import Trial
from benchforge.registry import Registry
from benchforge.run.ground import Ground, found
from benchforge.run.host import LocalHost
from benchforge.run.measure import measure
from benchforge.suite.case import Case
from benchforge.suite.expand import expand
from benchforge.suite.load import load


def cases(path: Path, registry: Registry | None = None) -> list[Case]:
    return list(expand(load(path, registry or Registry())))


def trial_of(case: Case, folder: Path, python: Path = Path(sys.executable)) -> Trial:
    """Measure a case in `folder`/trial; relative paths of its suite start in `folder`."""
    needs = [need for part in case.parts for need in part.needs()]
    ground = Ground(
        host=LocalHost(),
        programs=found(needs, folder),
        python=python,
        suite_folder=folder,
        network="private",
        secrets=frozenset(),
        as_root=os.geteuid() == 0,
    )
    step = Measure(block=1, position=1, case=case, seed=0)
    (folder / "trial").mkdir()
    return measure(step, 1, 1, ground, folder / "trial", None, lambda _: None).trial
