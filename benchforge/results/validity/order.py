"""Rules for a header, and for the trials of a result: by one another, by the plan and the clock."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from benchforge.model.files.file import FileFault, Parsed
from benchforge.model.files.folder import HEADER
from benchforge.model.files.result import Header
from benchforge.model.suite.search import RateSearch
from benchforge.model.trial.reading import Load
from benchforge.model.trial.session import Session
from benchforge.model.trial.trial import Trial
from benchforge.model.values.case_name import CaseName
from benchforge.results.validity.contradiction import Contradiction
from benchforge.text.readable import exact
from benchforge.text.safe import HIDDEN


def planned(header: Parsed[Header]) -> Iterator[FileFault]:
    """Say what in a header cannot be."""
    model = header.model
    written = hashlib.sha256(model.suite.encode()).hexdigest()
    # Without its secrets the text is not the one that was digested.
    if HIDDEN not in model.suite and written != model.suite_sha256:
        yield header.fault("is not the digest of `suite`", "suite_sha256")
    yield from _cases(header)
    yield from _places(header)
    blocks = model.plan[-1].block if model.plan else 0
    if model.until is not None and model.until.most != blocks:
        message = f"at most {model.until.most} blocks, but the plan has {blocks}"
        yield header.fault(message, "until", "most")


def identity(case: CaseName) -> str:
    """Return all that a case is, as a text that can be compared."""
    return json.dumps(case.model_dump(mode="json"), sort_keys=True)


def named(case: CaseName) -> str:
    """Return a case for people."""
    return f"the case {case.title!r}"


def _cases(header: Parsed[Header]) -> Iterator[FileFault]:
    cases = set(map(identity, header.model.cases))
    for number, entry in enumerate(header.model.plan):
        if identity(entry.case) not in cases:
            yield header.fault(f"{named(entry.case)} is not in `cases`", "plan", number, "case")
    in_plan = {identity(entry.case) for entry in header.model.plan}
    for number, case in enumerate(header.model.cases):
        if identity(case) not in in_plan:
            yield header.fault(f"{named(case)} is not in the plan", "cases", number)


def _places(header: Parsed[Header]) -> Iterator[FileFault]:
    """A block is one pass over all cases: each of them once, counted from 1."""
    block, position = 1, 0
    declared: dict[str, float] = {}
    often: Counter[tuple[int, str]] = Counter()
    for number, entry in enumerate(header.model.plan):
        if entry.block == block + 1 and position:
            block, position = entry.block, 0
        position += 1
        if (entry.block, entry.position) != (block, position):
            message = f"expected block {block}, position {position}: the plan is in order"
            yield header.fault(message, "plan", number, "position")
            return
        often[block, identity(entry.case)] += 1
        if often[block, identity(entry.case)] > 1:
            message = f"{named(entry.case)} stands twice in block {block}"
            yield header.fault(message, "plan", number, "case")
        if declared.setdefault(identity(entry.case), entry.declared_s) != entry.declared_s:
            declared_s = exact(entry.declared_s)
            message = f"{declared_s} s, but elsewhere in the plan {named(entry.case)} has others"
            yield header.fault(message, "plan", number, "declared_s")


_CLOCK = timedelta(minutes=1)
"What a clock may be set back within a trial without our saying so."
_JOINT = ("trials", "seed", "rounds")


def order(
    header: Parsed[Header], trials: Sequence[Parsed[Trial]], sessions: Sequence[Parsed[Session]]
) -> Iterator[FileFault]:
    """Say which trials, by number, have no place in the plan, among others or in time."""
    yield from _folders(trials)
    yield from _attempts(header.model, trials)
    yield from _alike(trials, header.model.searches)
    yield from _sought(trials, header.model)
    yield from _jointly(trials)
    yield from _started(header.model.created, trials, sessions)


def _folders(trials: Sequence[Parsed[Trial]]) -> Iterator[FileFault]:
    first: dict[int, Path] = {}
    for trial in trials:
        number, name = trial.model.number, trial.file.parent.name
        if number in first:
            yield trial.fault(f"{number} is already the number of {first[number]}", "number")
        elif name.isdecimal() and int(name) != number:
            yield trial.fault(f"{number} is not the name of its folder, {name}", "number")
        first.setdefault(number, trial.file)


def _attempts(header: Header, trials: Sequence[Parsed[Trial]]) -> Iterator[FileFault]:
    planned = {(entry.block, entry.position): entry for entry in header.plan}
    cases = {identity(case) for case in header.cases}
    attempts: dict[tuple[int, int], Trial] = {}
    for trial in trials:
        model = trial.model
        if identity(model.case) not in cases:
            yield trial.fault(f"{named(model.case)} is not in the plan of {HEADER}", "case")
            continue
        position = f"block {model.block}, position {model.position}"
        entry = planned.get((model.block, model.position))
        if entry is None or (entry.case, entry.seed) != (model.case, model.seed):
            message = f"trial {model.number}: the plan has not this at {position}"
            yield trial.fault(message, "position")
            continue
        last_attempt = attempts.get((model.block, model.position))
        if last_attempt is not None and last_attempt.attempt == model.attempt:
            message = f"trials {last_attempt.number} and {model.number} are both at {position}"
            yield trial.fault(message, "attempt")
        elif model.attempt != (last_attempt.attempt + 1 if last_attempt else 1):
            message = f"attempt {model.attempt} at {position} has none before it"
            yield trial.fault(message, "attempt")
        elif last_attempt and not last_attempt.worth_repeating:
            message = f"trial {last_attempt.number} needed no other attempt at {position}"
            yield trial.fault(message, "attempt")
        attempts[model.block, model.position] = model


def _alike(trials: Sequence[Parsed[Trial]], finds: Mapping[str, RateSearch]) -> Iterator[FileFault]:
    """Each trial of a case has the same request and load; in a search the rate may differ."""
    first: dict[tuple[str, str, int, str], Trial] = {}
    for trial in trials:
        model = trial.model
        case = model.case
        for name in ("request", "load"):
            if (value := getattr(model, name)) is None:
                continue
            other = first.setdefault((case.scenario, case.digest, case.arm, name), model)
            then = getattr(other, name)
            if isinstance(value, Load) and isinstance(then, Load) and case.scenario in finds:
                update = {"rate": then.rate, "options_digest": then.options_digest}
                value = value.model_copy(update=update)
            if value != then:
                yield trial.fault(f"is another than in trial {other.number} of the case", name)


def _sought(trials: Sequence[Parsed[Trial]], header: Header) -> Iterator[FileFault]:
    """Trials of a search say what they gave to it, and no others do."""
    for trial in trials:
        find, sought = header.searches.get(trial.model.case.scenario), trial.model.search_outcome
        if find is not None and sought is not None:
            for message, path in _searched(find, trial.model, smoke=header.smoke):
                yield trial.fault(message, "search_outcome", *path)
        elif find is not None or sought is not None:
            other = f"{HEADER} has no such search"
            message = "is missing: its scenario searches" if find else other
            yield trial.fault(message, "search_outcome")


def _searched(find: RateSearch, trial: Trial, *, smoke: bool) -> Iterator[Contradiction]:
    """Say what of a trial's part in its search cannot be; paths begin below `sought`."""
    sought = trial.search_outcome
    if sought is None:
        return
    if trial.load is None or trial.load.rate != sought.rate:
        yield "is another than the rate of its load", ("rate",)
    if not find.within(sought.rate):
        bounds = f"{exact(find.lowest)} to {exact(find.highest)}/s"
        yield f"{exact(sought.rate)}/s is not from {bounds}", ("rate",)
    outcomes_kept = [outcome.kept for outcome in sought.outcomes]
    unknown = None in outcomes_kept and False not in outcomes_kept
    if outcomes_kept and sought.passed is not (None if unknown else all(outcomes_kept)):
        yield "is not what its outcomes give", ("passed",)
    if sought.passed is not None and trial.measured and not trial.believed and not smoke:
        yield "a trial that is not believed says nothing", ("passed",)


def _started(
    created: datetime, trials: Sequence[Parsed[Trial]], sessions: Sequence[Parsed[Session]]
) -> Iterator[FileFault]:
    """Times go up with numbers; a clock that is set back shifts all that follows."""
    trials = [trial for trial in trials if trial.model.number == _first_of_joint(trial.model)]
    began = {session.model.first_trial: session.model.started for session in sessions}
    moments: list[tuple[datetime, Parsed[Trial] | None]] = [(created, None)]
    for trial in trials:
        if trial.model.number in began:
            moments.append((began[trial.model.number], None))
        moments.append((trial.model.started, trial))
    triples = zip(moments, moments[1:], moments[2:], strict=False)
    for (earlier, _), (started, timed), (later, _) in triples:
        if timed is None:
            continue
        if earlier <= later and not earlier <= started <= later:
            message = f"is not between what was before it, {earlier}, and after it, {later}"
            yield timed.fault(message, "started")
        elif started <= later and timed.model.seconds > (later - started + _CLOCK).total_seconds():
            took = exact(timed.model.seconds)
            message = f"{took} s, but the next one began before they were over"
            yield timed.fault(message, "seconds")


def _first_of_joint(trial: Trial) -> int:
    """Return the number of the first of those that took turns: they began and ended together."""
    return trial.number if trial.turns is None else min(trial.turns.trials)


def _jointly(trials: Sequence[Parsed[Trial]]) -> Iterator[FileFault]:
    """Trials that took turns say so of one another, with the same seed, rounds and block."""
    by_number = {trial.model.number: trial for trial in trials}
    for trial in trials:
        turns = trial.model.turns
        for number in () if turns is None else turns.trials:
            other = by_number.get(number)
            theirs = None if other is None else other.model.turns
            if turns is None or other is None:
                continue  # it was lost, which `verify` says
            if other.model.failure is not None and theirs is None:
                yield trial.fault(f"trial {number}, which took turns with it, failed", "turns")
            elif theirs is None or other.model.block != trial.model.block:
                yield trial.fault(f"trial {number} took no turns with it", "turns", "trials")
            elif any(getattr(theirs, name) != getattr(turns, name) for name in _JOINT):
                message = f"differ from those of trial {number}, which took turns with it"
                yield trial.fault(message, "turns")
