"""What is wrong with the files of a result: each by itself, and what they say of each other.

Whether a summary is what its trials give is not asked: `validate/validity.py` computes it again.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchforge.model.files.calibration import Calibration
from benchforge.model.files.ceiling import Ceiling
from benchforge.model.files.file import FileFault, Parsed, parse, parse_named
from benchforge.model.files.folder import (
    HEADER,
    RUNTIMES,
    SUMMARY,
    ceiling_files,
    parse_trials,
    session_files,
)
from benchforge.model.files.manifest import Manifest
from benchforge.model.files.result import Header
from benchforge.model.suite.pivot import crowded
from benchforge.model.summary.summary import Summary
from benchforge.model.trial.session import Session
from benchforge.model.trial.trial import Trial
from benchforge.results.validity.contradiction import Contradiction
from benchforge.results.validity.lines import summed
from benchforge.results.validity.order import order
from benchforge.results.validity.plan import identity, named, planned
from benchforge.results.validity.trial import meaning
from benchforge.results.validity.usage import MachineBounds
from benchforge.text import door

_MOST_LOCK = 16 * door.MIB


def faults(path: Path) -> list[FileFault]:
    """Return what is wrong with a result's folder, or with one of its files."""
    if path.is_dir():
        return read_files(path).faults
    parsed = parse_named(path, Header, Trial, Summary, Session, Ceiling, Manifest, Calibration)
    if isinstance(parsed, list):
        return parsed
    if isinstance(parsed.model, Ceiling):
        return list(_of_ceiling(Parsed(path, parsed.model, parsed.text), MachineBounds()))
    if isinstance(parsed.model, Trial):
        return list(_of_trial(Parsed(path, parsed.model, parsed.text), MachineBounds()))
    if isinstance(parsed.model, Summary):
        return list(summed(Parsed(path, parsed.model, parsed.text)))
    return []


@dataclass(frozen=True)
class FolderFiles:
    """The files of a result that could be read, and what is wrong with any."""

    header: Parsed[Header] | None
    trials: Sequence[Parsed[Trial]]
    sessions: Sequence[Parsed[Session]]
    ceilings: Sequence[Parsed[Ceiling]]
    summary: Parsed[Summary] | None
    faults: list[FileFault]


def read_files(folder: Path, *, with_summary: bool = True) -> FolderFiles:
    """Read the files of a result, each once; its summary only `with_summary`."""
    header = parse(folder, HEADER, Header)
    trials = [one if isinstance(one, list) else one.packed() for one in parse_trials(folder)]
    sessions = [parse(folder, name, Session) for name in session_files(folder)]
    ceilings = [parse(folder, name, Ceiling) for name in ceiling_files(folder)]
    there = with_summary and (folder / SUMMARY).exists()
    summary = parse(folder, SUMMARY, Summary) if there else None
    files = FolderFiles(
        header if isinstance(header, Parsed) else None,
        [trial for trial in trials if isinstance(trial, Parsed)],
        [session for session in sessions if isinstance(session, Parsed)],
        [ceiling for ceiling in ceilings if isinstance(ceiling, Parsed)],
        summary if isinstance(summary, Parsed) else None,
        [],
    )
    for parsed in (header, *trials, *sessions, *ceilings, summary):
        files.faults.extend(parsed if isinstance(parsed, list) else ())
    files.faults.extend(_of_files(files))
    return files


def _of_files(files: FolderFiles) -> Iterator[FileFault]:
    header = files.header
    machine = MachineBounds() if header is None else MachineBounds.of(header.model.facts)
    for trial in files.trials:
        yield from _of_trial(trial, machine)
    for ceiling in files.ceilings:
        yield from _of_ceiling(ceiling, machine)
    yield from _of_sessions(files.sessions)
    if header is None:
        return
    yield from planned(header)
    yield from _of_tables(header)
    yield from _of_claims(header)
    yield from _of_runtimes(header)
    yield from order(header, files.trials, files.sessions)


def _of_trial(trial: Parsed[Trial], machine: MachineBounds) -> Iterator[FileFault]:
    for message, path in _contradictions(trial.model, trial.file, machine):
        yield trial.fault(message, *path)


def _of_ceiling(ceiling: Parsed[Ceiling], machine: MachineBounds) -> Iterator[FileFault]:
    """Yield what is wrong with a load tool's measurement against the null server."""
    trial = ceiling.model.trial
    for message, path in _contradictions(trial, ceiling.file, machine):
        yield ceiling.fault(message, "trial", *path)
    length = trial.answers[-1].length if trial.answers else ceiling.model.body_bytes
    if trial.request.method != "HEAD" and length != ceiling.model.body_bytes:
        yield ceiling.fault(f"the null server answered {length} bytes", "body_bytes")


def _contradictions(trial: Trial, file: Path, machine: MachineBounds) -> Iterator[Contradiction]:
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


def beside(file: Path, name: str) -> bool:
    """Whether the folder of a file holds another; a path that leaves the folder names none."""
    return door.holds(file.parent, name)


def _of_sessions(sessions: Sequence[Parsed[Session]]) -> Iterator[FileFault]:
    first_trial = 1
    for number, session in enumerate(sessions, 2):
        if session.model.number != number:
            yield session.fault(f"expected {number}: sessions are counted from 2", "number")
        if session.model.first_trial < first_trial:
            message = f"the session before it began with trial {first_trial}"
            yield session.fault(message, "first_trial")
        first_trial = session.model.first_trial


def _of_tables(header: Parsed[Header]) -> Iterator[FileFault]:
    for label, pivot in header.model.tables.items():
        if forgotten := crowded(pivot, header.model.cases):
            message = f"several cases in one cell: they differ in {', '.join(forgotten)}"
            yield header.fault(message, "tables", label)


def _of_claims(header: Parsed[Header]) -> Iterator[FileFault]:
    there = {identity(case) for case in header.model.cases}
    for number, claim in enumerate(header.model.claims):
        for case in claim.cases:
            if identity(case) not in there:
                yield header.fault(f"{named(case)} is not in `cases`", "claims", number)


def _of_runtimes(header: Parsed[Header]) -> Iterator[FileFault]:
    for label, runtime in header.model.runtimes.items():
        if runtime.lock_sha256 is None:
            continue
        name = f"{RUNTIMES}/{label}.txt"
        if not beside(header.file, name):
            message = f"no such file beside it: {name!r}, the packages that it was built from"
            yield header.fault(message, "runtimes", label, "lock_sha256")
            continue
        try:
            lock = door.read(header.file.parent, name, _MOST_LOCK)
        except OSError as error:
            message = f"{name}: {error.strerror}"
            yield header.fault(message, "runtimes", label, "lock_sha256")
            continue
        if hashlib.sha256(lock).hexdigest() != runtime.lock_sha256:
            yield header.fault(f"is not the digest of {name}", "runtimes", label, "lock_sha256")
