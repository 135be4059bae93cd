"""A load that ends before its tool would by itself: a warm-up of less than a second under wrk."""

import sys
from collections.abc import Sequence
from pathlib import Path

from benchforge_loaders.wrk.wrk import Wrk

from benchforge.model.trial.answers.answer import Request
from benchforge.parts.command import Command
from benchforge.parts.site import Target
from benchforge.run.sandbox.host import LocalHost
from benchforge.run.trial.scope import TrialRecorder
from benchforge.run.trial.stages.drive import LoadToolRun, drive

GOES_ON = """
import signal, sys, time
signal.signal(signal.SIGINT, lambda *_: sys.exit(7))
time.sleep(600)
"""


def test_a_warm_up_of_less_than_a_second_is_killed_when_it_is_over(tmp_path: Path) -> None:
    class GoesOn(Wrk):
        def commands(self, target: Target) -> Sequence[Command]:
            return [Command(sys.executable, "-c", GOES_ON)]

    driver = GoesOn(connections=1).for_warm_up(0.5)
    target = Target("http://127.0.0.1:1/", Request(), tmp_path, {}, Path(sys.executable))
    trial_recorder = TrialRecorder(lambda _: None)
    with LocalHost().trial(tmp_path / "logs") as sandbox:
        (finished,) = drive(
            sandbox, LoadToolRun(driver, target, "warm-up", length_s=0.5), trial_recorder
        )
    assert finished.code == -9
