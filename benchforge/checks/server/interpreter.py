"""Identity of each interpreter with its name (D4)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import PurePosixPath

from benchforge.checks.limits import Thresholds
from benchforge.model.files.result import Header
from benchforge.model.suite.code import OWN, Interpreter
from benchforge.model.trial.check import Check, Status
from benchforge.model.trial.trial import StartedProcess, Trial

# In a label or a path: py312, python3.12, pypy3.9; a version alone: 3.12, 3.12.1.
_NAMED = re.compile(r"(?i)(?:py|python|pypy)[-_]?(?P<major>[23])\.?(?P<minor>\d{1,2})(?!\d)")
_ALONE = re.compile(r"\A(?P<major>[23])\.(?P<minor>\d{1,2})(?:\.\d+)?\Z")
_PYTHON = re.compile(r"(python|pypy)[\d.]*\Z", re.IGNORECASE)
_IDENTITY = attrgetter("real_path", "build", "packages")


def of_trial(trial: Trial, limits: Thresholds) -> Iterator[Check]:
    """Yield D4 for each process that was to run on an interpreter: whether it did."""
    for process in trial.processes:
        if process.interpreter is not None:
            yield _of_process(process, process.interpreter, limits)


def _of_process(started: StartedProcess, meant: str, limits: Thresholds) -> Check:
    real, label = started.executable, started.label
    if real is None:
        says = f"on which interpreter {label} ran is not known: /proc hides it, or it had ended"
        return limits.check("D4", "apparatus", None, says).about(label)
    if real == meant:
        says = f"{label} ran on {meant}"
        return limits.check("D4", "apparatus", None, says, "pass").about(label)
    if not _PYTHON.search(PurePosixPath(real).name):
        says = f"{label} is {real}: which interpreter it holds is not known"
        return limits.check("D4", "apparatus", None, says).about(label)
    says = f"{label} ran on {real}, not on {meant}: correct its command, or its runtime"
    return limits.check("D4", "apparatus", None, says, "fail").about(label)


def of_session(header: Header, trials: Sequence[Trial], limits: Thresholds) -> Iterator[Check]:
    """Yield D4 for each runtime: whether it is what it is called, and no other under a new name."""
    del trials
    named = {label: interpreter for label, interpreter in header.runtimes.items() if label != OWN}
    for label, interpreter in named.items():
        yield _of_runtime(label, interpreter, named, limits)


def _of_runtime(
    label: str, interpreter: Interpreter, named: Mapping[str, Interpreter], limits: Thresholds
) -> Check:
    status: Status = "pass"
    says = f"runtime {label} is {interpreter.implementation} {interpreter.version}"
    if fault := _otherwise(label, interpreter):
        status, says = "fail", f"{fault}: build it with the right one, or name it rightly"
    elif fault := _twice(label, named):
        status = "warn"
        says = f"{fault}: one is measured twice under two names; leave one out"
    return limits.check("D4", "apparatus", None, says, status).about(label, "result")


def _otherwise(label: str, python: Interpreter) -> str:
    """Return the contradiction between an interpreter and its name; empty without one."""
    for text in (label, python.requested):
        for match in filter(None, (_ALONE.search(text), *_NAMED.finditer(text))):
            version = tuple(int(part) for part in python.version.split(".")[:2])
            if version != (int(match["major"]), int(match["minor"])):
                real = f"{python.implementation} {python.version} ({python.executable})"
                return f"runtime {label} is called {text}, and is {real}"
    return ""


def _twice(label: str, named: Mapping[str, Interpreter]) -> str:
    """Return an earlier runtime that is the same interpreter; empty without one."""
    first = named[label]
    for other, interpreter in named.items():
        if other == label:
            return ""
        if first.real_path and _IDENTITY(interpreter) == _IDENTITY(first):
            return f"runtimes {other} and {label} are one and the same ({first.real_path})"
    return ""
