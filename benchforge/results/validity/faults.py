"""Faults of the files of a result: each by itself, and contradictions between them.

Nothing is computed again here: see `verify`.
"""

import hashlib
import math
import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from benchforge.model.files.calibration import Calibration
from benchforge.model.files.ceiling import Ceiling
from benchforge.model.files.file import MOST_BYTES, FileFault, Model, Parsed, parse, parse_named
from benchforge.model.files.folder import RUNTIMES, SUMMARY, files_of, parse_header, parse_trials
from benchforge.model.files.manifest import Manifest
from benchforge.model.files.result import Header
from benchforge.model.suite.pivot import crowded
from benchforge.model.summary.summary import MetricSummary, Summary
from benchforge.model.trial.session import Session
from benchforge.model.trial.trial import Trial
from benchforge.results.validity.contradiction import Contradiction, beneath
from benchforge.results.validity.identities import statistics_of
from benchforge.results.validity.order import identity, named, order, planned
from benchforge.results.validity.trial import MachineBounds, meaning
from benchforge.text import door
from benchforge.text.readable import exact

_MOST_LOCK = 16 * door.MIB


def faults(path: Path) -> list[FileFault]:
    """Return what is wrong with a result's folder, or with one of its files."""
    if path.is_dir():
        return [*contradictions(FolderFiles(path))]
    parsed = parse_named(path, Header, Trial, Summary, Session, Ceiling, Manifest, Calibration)
    if isinstance(parsed, list):
        return parsed
    model, text = parsed.model, parsed.text
    if isinstance(model, Ceiling):
        return list(_of_ceiling(Parsed(path, model, text), MachineBounds()))
    if isinstance(model, Trial):
        return list(_of_trial(Parsed(path, model, text), MachineBounds()))
    return list(summed(Parsed(path, model, text))) if isinstance(model, Summary) else []


class FolderFiles:
    """The files of a result that could be read, each once, and what is wrong with the others.

    The summary only `with_summary`. Unless `all_of` trials, numbers that are not needed again are
    dropped: thousands of trials fit.
    """

    def __init__(self, folder: Path, *, with_summary: bool = True, all_of: bool = True) -> None:
        self.unread: list[FileFault] = []
        self.wrong: list[FileFault] = []
        "Contradictions in trials."
        self.header = next(self.read(parse_header(folder)), None)
        facts = {} if self.header is None else self.header.model.facts
        self.machine = MachineBounds.of(facts)
        "What the machine can do at most, by the header."
        read_trials = (trial for parsed in parse_trials(folder) for trial in self.read(parsed))
        self.trials = [self.judged(trial, as_whole=all_of) for trial in read_trials]
        self.trials.sort(key=lambda trial: trial.model.number)
        self.sessions = list[Parsed[Session]]()
        for name in files_of(folder, Session):
            self.sessions += self.read(parse(folder, name, Session))
        self.ceilings = list[Parsed[Ceiling]]()
        for name in files_of(folder, Ceiling):
            self.ceilings += self.read(parse(folder, name, Ceiling))
        self.summary: Parsed[Summary] | None = None
        if with_summary and os.path.lexists(folder / SUMMARY):
            self.summary = next(self.read(parse(folder, SUMMARY, Summary)), None)

    def judged(self, trial: Parsed[Trial], *, as_whole: bool) -> Parsed[Trial]:
        """Note what a trial says that cannot be; return it without its text, and reduced."""
        self.wrong.extend(_of_trial(trial, self.machine))
        model = trial.model
        if not as_whole and model.search_outcome is None:
            turns = model.turns and model.turns.model_copy(update={"slices": ()})
            model = model.model_copy(update={**_OF_ITSELF, "turns": turns})
        read = partial(door.read, trial.file.parent, trial.file.name, MOST_BYTES)
        return Parsed(trial.file, model, read)

    def read(self, parsed: Parsed[Model] | list[FileFault]) -> Iterator[Parsed[Model]]:
        """Yield a file that could be read; note the faults of another."""
        if isinstance(parsed, Parsed):
            yield parsed
        else:
            self.unread.extend(parsed)


_OF_ITSELF: dict[str, object] = {
    **dict.fromkeys(("load_answers", "monitor", "observation", "probes", "reading", "stream")),
    "answers": (),
    "processes": (),
}
"What no other file of a result is compared with."


def contradictions(files: FolderFiles) -> Iterator[FileFault]:
    """Yield what cannot be read, and what files say that cannot be, alone or beside each other."""
    header = files.header
    yield from files.unread
    yield from files.wrong
    for ceiling in files.ceilings:
        yield from _of_ceiling(ceiling, files.machine)
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
            if not door.holds(file.parent, printed):
                yield f"no such file beside the trial: {printed!r}", ("processes", number, name)


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
    identities = {identity(case) for case in header.model.cases}
    for number, claim in enumerate(header.model.claims):
        for case in claim.cases:
            axes = {axis: value for axis, value in case.vary.items() if axis != case.part}
            if identity(case.model_copy(update={"vary": axes})) not in identities:
                yield header.fault(f"{named(case)} is not in `cases`", "claims", number)


def _of_runtimes(header: Parsed[Header]) -> Iterator[FileFault]:
    for label, runtime in header.model.runtimes.items():
        if runtime.lock_sha256 is None:
            continue
        name, path = f"{RUNTIMES}/{label}.txt", ("runtimes", label, "lock_sha256")
        if not door.holds(header.file.parent, name):
            message = f"no such file beside it: {name!r}, the packages that it was built from"
            yield header.fault(message, *path)
            continue
        try:
            lock = door.read(header.file.parent, name, _MOST_LOCK)
        except OSError as error:
            yield header.fault(f"{name}: {error.strerror}", *path)
            continue
        if hashlib.sha256(lock).hexdigest() != runtime.lock_sha256:
            yield header.fault(f"is not the digest of {name}", *path)


def summed(summary: Parsed[Summary]) -> Iterator[FileFault]:
    """Say what in a summary its own samples do not give."""
    for case_number, case in enumerate(summary.model.cases):
        for number, line in enumerate(case.metrics):
            path = ("cases", case_number, "metrics", number)
            try:
                messages = [*_samples(line), *_statistics(line)]
            except OverflowError:
                messages = [("a number is larger than anything that can be measured", ())]
            for message, inner in beneath(path, messages):
                yield summary.fault(message, *inner)


def _samples(line: MetricSummary) -> Iterator[Contradiction]:
    for number, taken in enumerate(line.samples):
        path = ("samples", number, "sample")
        for name in ("metric", "of", *(("unit",) if line.median is not None else ())):
            if getattr(taken.sample, name) != (expected := getattr(line, name)):
                yield f"expected {expected!r}, as of the line", (*path, name)


def _statistics(line: MetricSummary) -> Iterator[Contradiction]:
    values = [taken.sample.value for taken in line.samples]
    measured = [value for value in values if value is not None]
    if line.median is None:
        if not line.why:
            yield "a line without a median says why", ("why",)
        return
    if not measured or len(measured) < len(values):
        yield "a median, but not every sample has a value", ("median",)
        return
    bounds = any(taken.sample.lower_bound for taken in line.samples)
    expected = statistics_of(measured) | ({"sd": None} if bounds else {})
    for name in expected.keys() & line.model_fields_set:
        if not _same(getattr(line, name), expected[name]):
            value = expected[name]
            yield f"its samples give {'none' if value is None else exact(value)}", (name,)
    if line.lower_bound and not bounds:
        yield "no sample is a lower bound", ("lower_bound",)


def _same(stated: float | None, expected: float | None) -> bool:
    if stated is None or expected is None:
        return stated is expected
    return math.isclose(stated, expected, rel_tol=1e-9, abs_tol=1e-300)
