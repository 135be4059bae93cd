"""Output of the driver of a kept trial, as its reader gets it."""

import sys
from pathlib import Path

from benchforge.errors import BenchforgeError
from benchforge.model.trial.trial import StartedProcess, Trial
from benchforge.parts.command import Finished
from benchforge.parts.part import Driver
from benchforge.parts.site import Output, Target
from benchforge.results.validity.faults import beside
from benchforge.run.sandbox.keeper import LARGEST_OUTPUT
from benchforge.suite.mix.record import FILE
from benchforge.text import door
from benchforge.text.readable import too_many

_MOST_LINES = 4_000_000  # of a log with a line for each request


def was_refused(trial: Trial) -> bool:
    """Whether a trial has no reading because its load tool's output could not be read."""
    failure = trial.failure
    late = failure is not None and failure.stage == "read" and trial.observation is not None
    return late and trial.reading is None and not any(each.truncated for each in trial.processes)


def output_of(trial: Trial, file: Path, driver: Driver) -> Output:
    """Return what a driver left beside a trial's file. Raises BenchforgeError if incomplete."""
    label = f"{driver.kind}-{trial.case.driver}"
    mine = [process for process in trial.processes if f"{process.label}-".startswith(f"{label}-")]
    if not mine:
        raise BenchforgeError(f"the trial has no process {label}")
    folder = file.parent.resolve()
    for name in door.files(folder):
        _bounded(folder, name)
    target = Target(
        url=trial.url,
        request=trial.request,
        folder=folder,
        programs={},
        python=Path(sys.executable),
        turns=None if trial.turns is None else folder,
        stream=None if trial.stream is None else folder / FILE,
        kinds=() if trial.stream is None else tuple(trial.stream.kinds),
    )
    return Output(target, tuple(_finished(file, process) for process in mine))


def _bounded(folder: Path, name: str) -> None:
    """Raise BenchforgeError for what no load tool of ours leaves."""
    try:
        size, lines = door.size_of(folder, name), 0
    except OSError as error:
        raise BenchforgeError(f"{name} {error.strerror}") from error
    if size > LARGEST_OUTPUT:
        raise BenchforgeError(f"{name} {too_many(size, LARGEST_OUTPUT, 'bytes')}")
    with door.stream(folder, name) as file:
        while part := file.read(door.MIB):
            lines += part.count(b"\n") + part.count(b"\r")
    if lines > _MOST_LINES:
        raise BenchforgeError(f"{name} {too_many(lines, _MOST_LINES, 'lines')}")


def _finished(file: Path, process: StartedProcess) -> Finished:
    for name in (process.stdout, process.stderr):
        if not beside(file, name):
            raise BenchforgeError(f"no {name} beside the trial")
    seconds, user_s, system_s = process.seconds, process.user_s, process.system_s
    if process.exit_code is None or seconds is None or user_s is None or system_s is None:
        raise BenchforgeError(f"the record lacks how {process.label} ended")
    folder = file.parent.resolve()
    out, err = folder / process.stdout, folder / process.stderr
    return Finished(process.exit_code, out, err, seconds, user_s, system_s)
