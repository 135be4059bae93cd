"""What trials must be to one another, to the plan and to the clock."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchforge.model.file import Fault, Parsed
from benchforge.model.find import Find
from benchforge.model.folder import HEADER
from benchforge.model.meaning.plan import identity, named
from benchforge.model.meaning.search import searched
from benchforge.model.result import Header, Planned
from benchforge.model.sitting import Sitting
from benchforge.model.trial import Load, Trial

_CLOCK = timedelta(minutes=1)
"What a clock may be set back within a trial without our saying so."


def order(
    header: Parsed[Header], trials: Sequence[Parsed[Trial]], sittings: Sequence[Parsed[Sitting]]
) -> Iterator[Fault]:
    """Say which trials stand where the plan, other trials or time have no place for them."""
    ordered = sorted(trials, key=lambda trial: trial.model.number)
    yield from _folders(ordered)
    yield from _places(header.model, ordered)
    yield from _alike(ordered, header.model.finds)
    yield from _sought(ordered, header.model)
    yield from _started(header.model.created, ordered, sittings)


def _folders(trials: Sequence[Parsed[Trial]]) -> Iterator[Fault]:
    first: dict[int, Path] = {}
    for trial in trials:
        number, name = trial.model.number, trial.file.parent.name
        if number in first:
            yield trial.fault(f"{number} is already the number of {first[number]}", "number")
        elif name.isdecimal() and int(name) != number:
            yield trial.fault(f"{number} is not the name of its folder, {name}", "number")
        first.setdefault(number, trial.file)


def _places(header: Header, trials: Sequence[Parsed[Trial]]) -> Iterator[Fault]:
    planned: Mapping[tuple[int, int], Planned] = {
        (one.block, one.position): one for one in header.plan
    }
    cases = {identity(case) for case in header.cases}
    attempts: dict[tuple[int, int], Trial] = {}
    for trial in trials:
        told = trial.model
        if identity(told.case) not in cases:
            yield trial.fault(f"{named(told.case)} is not in the plan of {HEADER}", "case")
            continue
        place = f"block {told.block}, position {told.position}"
        one = planned.get((told.block, told.position))
        if one is None or (one.case, one.seed) != (told.case, told.seed):
            yield trial.fault(f"trial {told.number}: the plan has not this at {place}", "position")
            continue
        before = attempts.get((told.block, told.position))
        if before is not None and before.attempt == told.attempt:
            said = f"trials {before.number} and {told.number} are both at {place}"
            yield trial.fault(said, "attempt")
        elif told.attempt != (before.attempt + 1 if before else 1):
            yield trial.fault(f"attempt {told.attempt} at {place} has none before it", "attempt")
        elif before and not before.again:
            said = f"trial {before.number} needed no other attempt at {place}"
            yield trial.fault(said, "attempt")
        attempts[told.block, told.position] = told


def _alike(trials: Sequence[Parsed[Trial]], finds: Mapping[str, Find]) -> Iterator[Fault]:
    """A case is one thing: each of its trials asks the same, with the same load.

    Those of a search differ in the rate, and in what random arrivals begin with.
    """
    first: dict[tuple[str, str, int], Trial] = {}
    for trial in trials:
        told = trial.model
        other = first.setdefault((told.case.scenario, told.case.digest, told.case.arm), told)
        for name in ("request", "load"):
            then, now = getattr(other, name), getattr(told, name)
            if isinstance(now, Load) and isinstance(then, Load) and told.case.scenario in finds:
                now = now.model_copy(update={"rate": then.rate, "stream": then.stream})
            if now != then:
                yield trial.fault(f"is another than in trial {other.number} of the case", name)


def _sought(trials: Sequence[Parsed[Trial]], header: Header) -> Iterator[Fault]:
    """Trials of a search say what they gave to it, and no others do."""
    for trial in trials:
        find, sought = header.finds.get(trial.model.case.scenario), trial.model.sought
        if find is not None and sought is not None:
            for message, path in searched(find, trial.model, smoke=header.smoke):
                yield trial.fault(message, "sought", *path)
        elif find is not None or sought is not None:
            said = "is missing: its scenario searches" if find else f"{HEADER} has no such search"
            yield trial.fault(said, "sought")


def _started(
    created: datetime, trials: Sequence[Parsed[Trial]], sittings: Sequence[Parsed[Sitting]]
) -> Iterator[Fault]:
    """Times go up with numbers.

    A clock that is set back shifts all that follows, and is no fault; a time that stands out is.
    """
    began = {one.model.first_trial: one.model.began for one in sittings}
    moments: list[tuple[datetime, Parsed[Trial] | None]] = [(_aware(created), None)]
    for trial in trials:
        if trial.model.number in began:
            moments.append((_aware(began[trial.model.number]), None))
        moments.append((_aware(trial.model.started), trial))
    for (before, _), (started, one), (after, _) in zip(
        moments, moments[1:], moments[2:], strict=False
    ):
        if one is None:
            continue
        if before <= after and not before <= started <= after:
            said = f"is not between what was before it, {before}, and after it, {after}"
            yield one.fault(said, "started")
        elif started <= after and one.model.seconds > (after - started + _CLOCK).total_seconds():
            said = f"{one.model.seconds:g} s, but the next one began before they were over"
            yield one.fault(said, "seconds")


def _aware(moment: datetime) -> datetime:
    """A file of somebody else may tell no time zone."""
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
