"""Whether each interpreter is the one that its name says (D4)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from benchforge.checks.limits import Limits
from benchforge.model.check import Check, Status
from benchforge.model.result import Header
from benchforge.model.runtime import OWN, Interpreter
from benchforge.model.trial import Started, Trial

# In a label or a path: py312, python3.12, pypy3.9; a version alone: 3.12, 3.12.1.
_NAMED = re.compile(
    r"(?:py|python|pypy)[-_]?(?P<major>[23])\.?(?P<minor>\d{1,2})(?!\d)", re.IGNORECASE
)
_ALONE = re.compile(r"\A(?P<major>[23])\.(?P<minor>\d{1,2})(?:\.\d+)?\Z")
_PYTHON = re.compile(r"(python|pypy)[\d.]*\Z", re.IGNORECASE)


def of_trial(trial: Trial, limits: Limits) -> Iterator[Check]:
    """Yield D4 for each process that was to run on an interpreter: whether it did."""
    for one in trial.processes:
        if one.interpreter is not None:
            yield _of_process(one, one.interpreter, limits)


def _of_process(started: Started, meant: str, limits: Limits) -> Check:
    real, of = started.executable, started.label
    if real is None:
        says = f"on which interpreter {of} ran is not known: /proc hides it, or it had ended"
        return limits.check("D4", "apparatus", None, says, of=of)
    if real == meant:
        says = f"{of} ran on {meant}"
        return limits.check("D4", "apparatus", None, says, status="pass", of=of)
    if not _PYTHON.search(PurePosixPath(real).name):
        says = f"{of} is {real}: which interpreter it holds is not known"
        return limits.check("D4", "apparatus", None, says, of=of)
    says = f"{of} ran on {real}, not on {meant}: correct its command, or its runtime"
    return limits.check("D4", "apparatus", None, says, status="fail", of=of)


def of_session(header: Header, trials: Sequence[Trial], limits: Limits) -> Iterator[Check]:
    """Yield D4 for each runtime: whether it is what it is called, and no other under a new name."""
    del trials
    named = {label: one for label, one in header.runtimes.items() if label != OWN}
    for label, one in named.items():
        yield _of_runtime(label, one, named, limits)


def _of_runtime(
    label: str, one: Interpreter, named: Mapping[str, Interpreter], limits: Limits
) -> Check:
    status: Status = "pass"
    says = f"runtime {label} is {one.implementation} {one.version}"
    if told := _otherwise(label, one):
        status, says = "fail", f"{told}: build it with the right one, or name it rightly"
    elif other := _twice(label, named):
        status = "warn"
        says = f"runtimes {other} and {label} are one and the same ({one.real}): one measured twice"
    return limits.check("D4", "apparatus", None, says, status=status, scope="session", of=label)


def _otherwise(label: str, one: Interpreter) -> str:
    """What its label or the suite says that it is, and it is not; empty where all agrees."""
    for what in (label, one.asked):
        for found in (_ALONE.search(what), *_NAMED.finditer(what)):
            if found is None:
                continue
            version = tuple(int(part) for part in one.version.split(".")[:2])
            if version != (int(found["major"]), int(found["minor"])):
                is_ = f"{one.implementation} {one.version} ({one.executable})"
                return f"runtime {label} is called {what}, and is {is_}"
    return ""


def _twice(label: str, named: Mapping[str, Interpreter]) -> str:
    """Which runtime before it is the very same, although it is called otherwise; empty if none."""
    own = named[label]
    for other, one in named.items():
        if other == label:
            return ""
        alike = (one.real, one.build, one.packages) == (own.real, own.build, own.packages)
        if alike and own.real:
            return f"runtimes {other} and {label} are one and the same ({own.real})"
    return ""
