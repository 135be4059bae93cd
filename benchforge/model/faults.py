"""Everything that is wrong with a result: each file by itself, and what they say together."""

import hashlib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from benchforge.model.calibration import Calibration
from benchforge.model.ceiling import Ceiling
from benchforge.model.file import Fault, Parsed, parse
from benchforge.model.folder import HEADER, SUMMARY, ceiling_files, sitting_files, trial_files
from benchforge.model.meaning.lines import summed
from benchforge.model.meaning.order import order
from benchforge.model.meaning.plan import identity, named, planned
from benchforge.model.meaning.said import Said
from benchforge.model.meaning.summary import against
from benchforge.model.meaning.trial import meaning
from benchforge.model.meaning.used import Machine
from benchforge.model.meaning.verdicts import judged
from benchforge.model.pivot import crowded
from benchforge.model.result import Header
from benchforge.model.sitting import Sitting
from benchforge.model.summary import Summary
from benchforge.model.trial import Trial


def faults(path: Path) -> list[Fault]:
    """Return what is wrong with a result's folder, or with one of its files."""
    if path.is_dir():
        return list(_of_folder(path))
    found = parse(path, Header, Trial, Summary, Sitting, Ceiling, Calibration)
    if isinstance(found, list):
        return found
    if isinstance(found.model, Ceiling):
        return list(_of_ceiling(Parsed(path, found.model, found.places), Machine()))
    if isinstance(found.model, Trial):
        return list(_of_trial(Parsed(path, found.model, found.places), Machine()))
    if isinstance(found.model, Summary):
        return list(summed(Parsed(path, found.model, found.places)))
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
    sat = [one for one in sittings if isinstance(one, Parsed)]
    machine = Machine.of(header.model.facts) if isinstance(header, Parsed) else Machine()
    for trial in whole:
        yield from _of_trial(trial, machine)
    for ceiling in ceilings:
        if isinstance(ceiling, Parsed):
            yield from _of_ceiling(ceiling, machine)
    yield from _of_sittings(sat)
    if isinstance(summary, Parsed):
        yield from summed(summary)
        yield from judged(summary)
    if not isinstance(header, Parsed):
        return
    yield from planned(header)
    yield from _of_tables(header)
    yield from _of_claims(header)
    yield from _of_runtimes(header)
    yield from order(header, whole, sat)
    if isinstance(summary, Parsed):
        told = [one.model for one in whole], [one.model for one in sat]
        yield from against(summary, header.model, *told)


def _of_trial(trial: Parsed[Trial], machine: Machine) -> Iterator[Fault]:
    for message, path in _told(trial.model, trial.file, machine):
        yield trial.fault(message, *path)


def _of_ceiling(ceiling: Parsed[Ceiling], machine: Machine) -> Iterator[Fault]:
    """Yield what is wrong with a load tool's measurement against the null server."""
    trial = ceiling.model.trial
    for message, path in _told(trial, ceiling.file, machine):
        yield ceiling.fault(message, "trial", *path)
    length = trial.answers[-1].length if trial.answers else ceiling.model.body_bytes
    if trial.request.method != "HEAD" and length != ceiling.model.body_bytes:
        yield ceiling.fault(f"the null server answered {length} bytes", "body_bytes")


def _told(trial: Trial, file: Path, machine: Machine) -> Iterator[Said]:
    """Yield what a trial says that cannot be, and what it names that is not there."""
    try:
        yield from list(meaning(trial, machine))
    except OverflowError:
        yield "a number is larger than anything that can be measured", ()
    for number, process in enumerate(trial.processes):
        for name, printed in (("stdout", process.stdout), ("stderr", process.stderr)):
            if not beside(file, printed):
                message = f"no such file beside the trial: {printed!r}"
                yield message, ("processes", number, name)


def beside(told: Path, name: str) -> bool:
    """Whether the folder of a file holds another; a path that leaves the folder names none."""
    try:
        file = (told.parent / name).resolve()
        return file.is_relative_to(told.parent.resolve()) and file.is_file()
    except (OSError, ValueError, RuntimeError):  # too long, with a NUL, links in a circle
        return False


def _of_sittings(sittings: list[Parsed[Sitting]]) -> Iterator[Fault]:
    first_trial = 1
    for number, sitting in enumerate(sittings, 2):
        if sitting.model.number != number:
            yield sitting.fault(f"expected {number}: sittings are counted from 2", "number")
        if sitting.model.first_trial < first_trial:
            message = f"the sitting before it began with trial {first_trial}"
            yield sitting.fault(message, "first_trial")
        first_trial = sitting.model.first_trial


def _of_tables(header: Parsed[Header]) -> Iterator[Fault]:
    for label, pivot in header.model.tables.items():
        if forgotten := crowded(pivot, header.model.cases):
            message = f"several cases in one cell: they differ in {', '.join(forgotten)}"
            yield header.fault(message, "tables", label)


def _of_claims(header: Parsed[Header]) -> Iterator[Fault]:
    there = {identity(case) for case in header.model.cases}
    for number, claim in enumerate(header.model.claims):
        for case in claim.cases:
            if identity(case) not in there:
                yield header.fault(f"{named(case)} is not in `cases`", "claims", number)


def _of_runtimes(header: Parsed[Header]) -> Iterator[Fault]:
    for label, one in header.model.runtimes.items():
        if one.lock_sha256 is None:
            continue
        name = f"runtimes/{label}.txt"
        if not beside(header.file, name):
            message = f"no such file beside it: {name!r}, the packages that it was built from"
            yield header.fault(message, "runtimes", label, "lock_sha256")
            continue
        lock = (header.file.parent / name).read_bytes()
        if hashlib.sha256(lock).hexdigest() != one.lock_sha256:
            yield header.fault(f"is not the digest of {name}", "runtimes", label, "lock_sha256")
