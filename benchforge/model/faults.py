"""Everything that is wrong with a result: each file by itself, and what they say together."""

import hashlib
import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from benchforge.model.calibration import Calibration
from benchforge.model.ceiling import Ceiling
from benchforge.model.file import Fault, Parsed, parse
from benchforge.model.folder import HEADER, SUMMARY, ceiling_files, sitting_files, trial_files
from benchforge.model.pivot import crowded
from benchforge.model.result import Header
from benchforge.model.sitting import Sitting
from benchforge.model.summary import Summary
from benchforge.model.trial import CaseName, Trial


def faults(path: Path) -> list[Fault]:
    """Return what is wrong with a result's folder, or with one of its files."""
    if path.is_dir():
        return list(_of_folder(path))
    found = parse(path, Header, Trial, Summary, Sitting, Ceiling, Calibration)
    if isinstance(found, list):
        return found
    if isinstance(found.model, Ceiling):
        return list(_of_ceiling(Parsed(path, found.model, found.places)))
    if isinstance(found.model, Trial):
        return list(_of_trial(Parsed(path, found.model, found.places)))
    return []


def _of_folder(folder: Path) -> Iterator[Fault]:
    header = parse(folder / HEADER, Header)
    trials = [parse(file, Trial) for file in trial_files(folder)]
    sittings = [parse(file, Sitting) for file in sitting_files(folder)]
    ceilings = [parse(file, Ceiling) for file in ceiling_files(folder)]
    there = folder / SUMMARY
    summary = parse(there, Summary) if there.exists() else []
    yield from chain.from_iterable(
        found
        for found in (header, *trials, *sittings, *ceilings, summary)
        if isinstance(found, list)
    )
    whole = [trial for trial in trials if isinstance(trial, Parsed)]
    for trial in whole:
        yield from _of_trial(trial)
    yield from _numbers(whole)
    for ceiling in ceilings:
        if isinstance(ceiling, Parsed):
            yield from _of_ceiling(ceiling)
    yield from _of_sittings([one for one in sittings if isinstance(one, Parsed)])
    if isinstance(header, Parsed):
        yield from _of_plan(header)
        yield from _of_tables(header)
        yield from _of_runtimes(header)
        cases = set(map(_identity, header.model.cases))
        blocks = max((planned.block for planned in header.model.plan), default=0)
        for trial in whole:
            yield from _against_header(trial, cases, blocks)
        if isinstance(summary, Parsed):
            yield from _of_summary(summary, header.model, {one.model.number for one in whole})


def _of_trial(trial: Parsed[Trial]) -> Iterator[Fault]:
    if trial.model.reading is None and trial.model.failure is None:
        yield trial.fault("a trial has a reading, or a failure that says why not", "reading")
    for path, message in _printed(trial.model, trial.file):
        yield trial.fault(message, *path)


def _of_ceiling(ceiling: Parsed[Ceiling]) -> Iterator[Fault]:
    """Yield what is wrong with a load tool's measurement against the null server."""
    trial = ceiling.model.trial
    if trial.reading is None and trial.failure is None:
        message = "a trial has a reading, or a failure that says why not"
        yield ceiling.fault(message, "trial", "reading")
    for path, message in _printed(trial, ceiling.file):
        yield ceiling.fault(message, "trial", *path)
    length = trial.answers[-1].length if trial.answers else ceiling.model.body_bytes
    if trial.request.method != "HEAD" and length != ceiling.model.body_bytes:
        yield ceiling.fault(f"the null server answered {length} bytes", "body_bytes")


def _printed(trial: Trial, file: Path) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield what the processes of a trial are said to have printed, and is not there."""
    for number, process in enumerate(trial.processes):
        for name, printed in (("stdout", process.stdout), ("stderr", process.stderr)):
            if not _beside(file, printed):
                path = ("processes", number, name)
                yield path, f"no such file beside the trial: {printed!r}"


def _beside(told: Path, name: str) -> bool:
    """Whether the folder of a file holds another; a path that leaves the folder names none."""
    try:
        file = (told.parent / name).resolve()
        return file.is_relative_to(told.parent.resolve()) and file.is_file()
    except (OSError, ValueError, RuntimeError):  # too long, with a NUL, links in a circle
        return False


def _numbers(trials: list[Parsed[Trial]]) -> Iterator[Fault]:
    first: dict[int, Path] = {}
    for trial in trials:
        number = trial.model.number
        if number in first:
            yield trial.fault(f"{number} is already the number of {first[number]}", "number")
        first.setdefault(number, trial.file)


def _of_sittings(sittings: list[Parsed[Sitting]]) -> Iterator[Fault]:
    first_trial = 1
    for number, sitting in enumerate(sittings, 2):
        if sitting.model.number != number:
            yield sitting.fault(f"expected {number}: sittings are counted from 2", "number")
        if sitting.model.first_trial < first_trial:
            message = f"the sitting before it began with trial {first_trial}"
            yield sitting.fault(message, "first_trial")
        first_trial = sitting.model.first_trial


def _of_plan(header: Parsed[Header]) -> Iterator[Fault]:
    cases = set(map(_identity, header.model.cases))
    for number, planned in enumerate(header.model.plan):
        if _identity(planned.case) not in cases:
            yield header.fault(f"{_named(planned.case)} is not in `cases`", "plan", number, "case")
    planned_cases = {_identity(planned.case) for planned in header.model.plan}
    for number, case in enumerate(header.model.cases):
        if _identity(case) not in planned_cases:
            yield header.fault(f"{_named(case)} is not in the plan", "cases", number)


def _of_tables(header: Parsed[Header]) -> Iterator[Fault]:
    for label, pivot in header.model.tables.items():
        if forgotten := crowded(pivot, header.model.cases):
            message = f"several cases in one cell: they differ in {', '.join(forgotten)}"
            yield header.fault(message, "tables", label)


def _of_runtimes(header: Parsed[Header]) -> Iterator[Fault]:
    for label, one in header.model.runtimes.items():
        if one.lock_sha256 is None:
            continue
        name = f"runtimes/{label}.txt"
        if not _beside(header.file, name):
            message = f"no such file beside it: {name!r}, the packages that it was built from"
            yield header.fault(message, "runtimes", label, "lock_sha256")
            continue
        lock = (header.file.parent / name).read_bytes()
        if hashlib.sha256(lock).hexdigest() != one.lock_sha256:
            yield header.fault(f"is not the digest of {name}", "runtimes", label, "lock_sha256")


def _against_header(trial: Parsed[Trial], cases: set[str], blocks: int) -> Iterator[Fault]:
    if _identity(trial.model.case) not in cases:
        message = f"{_named(trial.model.case)} is not in the plan of {HEADER}"
        yield trial.fault(message, "case")
    if trial.model.block > blocks:
        yield trial.fault(f"{trial.model.block} is beyond the plan's {blocks} blocks", "block")


def _of_summary(summary: Parsed[Summary], header: Header, numbers: set[int]) -> Iterator[Fault]:
    for number, case in enumerate(summary.model.cases):
        if case.case not in header.cases:
            message = f"{_named(case.case)} is not in the plan of {HEADER}"
            yield summary.fault(message, "cases", number, "case")
        told = {one.trial for line in case.lines for one in line.samples}
        told |= {failed.trial for failed in case.failed}
        for missing in sorted(told - numbers):
            message = f"speaks of trial {missing}, which is not there"
            yield summary.fault(message, "cases", number)


def _identity(case: CaseName) -> str:
    return json.dumps(case.model_dump(mode="json"), sort_keys=True)


def _named(case: CaseName) -> str:
    return f"the case {case.title!r}"
