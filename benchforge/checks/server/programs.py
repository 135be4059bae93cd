"""Programs that ran: interpreters (D4), the mode of a client (D5), lives of processes (S7)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import PurePosixPath

from benchforge.checks.limits import Thresholds
from benchforge.checks.seen import NOT_OBSERVED, of_roles, why_unknown
from benchforge.model.files.result import Header
from benchforge.model.suite.code import OWN, Interpreter
from benchforge.model.trial.check import Check, Status
from benchforge.model.trial.trial import StartedProcess, Trial

# In a label or a path: py312, python3.12, pypy3.9; a version alone: 3.12, 3.12.1.
_NAMED = re.compile(r"(?i)(?:py|python|pypy)[-_]?(?P<major>[23])\.?(?P<minor>\d{1,2})(?!\d)")
_ALONE = re.compile(r"\A(?P<major>[23])\.(?P<minor>\d{1,2})(?:\.\d+)?\Z")
_PYTHON = re.compile(r"(python|pypy)[\d.]*\Z", re.IGNORECASE)
_IDENTITY = attrgetter("real_path", "build", "packages")


def interpreters(trial: Trial, limits: Thresholds) -> Iterator[Check]:
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


def runtimes(header: Header, trials: Sequence[Trial], limits: Thresholds) -> Iterator[Check]:
    """Yield D4 for each runtime: whether it is what it is called, and no other under a new name."""
    del trials
    named = {label: interpreter for label, interpreter in header.runtimes.items() if label != OWN}
    for label, interpreter in named.items():
        status: Status = "pass"
        says = f"runtime {label} is {interpreter.implementation} {interpreter.version}"
        if fault := _otherwise(label, interpreter):
            status, says = "fail", f"{fault}: build it with the right one, or name it rightly"
        elif fault := _twice(label, named):
            status = "warn"
            says = f"{fault}: one is measured twice under two names; leave one out"
        yield limits.check("D4", "apparatus", None, says, status).about(label, "result")


def _otherwise(label: str, python: Interpreter) -> str:
    for text in (label, python.requested):
        for match in filter(None, (_ALONE.search(text), *_NAMED.finditer(text))):
            version = tuple(int(part) for part in python.version.split(".")[:2])
            if version != (int(match["major"]), int(match["minor"])):
                real = f"{python.implementation} {python.version} ({python.executable})"
                return f"runtime {label} is called {text}, and is {real}"
    return ""


def _twice(label: str, named: Mapping[str, Interpreter]) -> str:
    first = named[label]
    for other, interpreter in named.items():
        if other == label:
            return ""
        if first.real_path and _IDENTITY(interpreter) == _IDENTITY(first):
            return f"runtimes {other} and {label} are one and the same ({first.real_path})"
    return ""


def method(trial: Trial, limits: Thresholds) -> Iterator[Check]:
    """Yield D5 of a client that has several ways; who takes another is measured by that one."""
    wanted = None if trial.load is None else trial.load.method
    if wanted is None:
        return
    ran = None if trial.reading is None else trial.reading.method
    driver = trial.case.driver
    if ran is None:
        says = f"{driver} did not tell by which of its ways it made its requests"
        yield limits.check("D5", "behaviour", None, says).about(driver)
    elif ran == wanted:
        says = f"{driver} made its requests by {ran}"
        yield limits.check("D5", "behaviour", None, says, "pass").about(driver)
    else:
        says = f"{driver} was to make its requests by {wanted}, and made them by {ran}"
        says += ": call it that"
        yield limits.check("D5", "behaviour", None, says, "fail").about(driver)


def restarts(trial: Trial, limits: Thresholds) -> Iterator[Check]:
    """Yield S7: whether processes of servers ended or began; backends may have one a connection."""
    servers = of_roles(trial, "server", "upstream")
    if not servers:
        yield limits.check("S7", "behaviour", None, f"whether it went on: {NOT_OBSERVED}")
    for usage in servers:
        if usage.ended_processes is None or usage.new_processes is None:
            says = why_unknown(usage, "whether all processes lived through the load")
            yield limits.check("S7", "behaviour", None, says).about(usage.label)
            continue
        ended, begun = usage.ended_processes, usage.new_processes
        count = max(ended, begun)
        status: Status | None = None
        says = f"all processes of {usage.label} lived through the load"
        if ended:
            says = f"of the processes of {usage.label}, {ended} ended and {begun} began during the "
            says += "load: it crashed, or is set to begin anew after so many requests; see its log"
        elif begun:
            status = "warn"  # nothing crashed, and what it did counts
            says = f"of the processes of {usage.label}, none ended and {begun} began during the "
            says += "load: at first it had fewer workers; lengthen repeat.warmup"
        yield limits.check("S7", "behaviour", count, says, status).about(usage.label)
