"""What a search and its trials must be to one another."""

from collections.abc import Iterator, Sequence

from benchforge.model.capacity import Capacity
from benchforge.model.find import Find
from benchforge.model.meaning.said import Said
from benchforge.model.trial import Trial


def searched(find: Find, trial: Trial, *, smoke: bool) -> Iterator[Said]:
    """Say what of a trial's part in its search cannot be; paths begin below `sought`."""
    sought = trial.sought
    if sought is None:
        return
    if trial.load is None or trial.load.rate != sought.rate:
        yield "is another than the rate of its load", ("rate",)
    if not find.within(sought.rate):
        yield f"{sought.rate:g}/s is not from {find.lowest:g} to {find.highest:g}/s", ("rate",)
    kept = [one.kept for one in sought.outcomes]
    if kept and sought.passed is not (None if None in kept and False not in kept else all(kept)):
        yield "is not what its outcomes give", ("passed",)
    if sought.passed is not None and trial.measured and not trial.believed and not smoke:
        yield "a trial that is not believed says nothing", ("passed",)


def capacity(told: Capacity | None, trials: Sequence[Trial]) -> Iterator[Said]:
    """Say what of a search's end is not what its trials give; paths begin below `capacity`."""
    if told is None:
        return
    there = {
        one.number: one.sought
        for one in trials
        if one.sought is not None and one.sought.passed is not None
    }
    if there.keys() != {one.trial for one in told.attempts}:
        yield "are not the trials of the case that say something", ("attempts",)
    for number, one in enumerate(told.attempts):
        sought = there.get(one.trial)
        if sought is not None and (one.rate, one.passed) != (sought.rate, sought.passed):
            yield f"trial {one.trial} says otherwise", ("attempts", number)
    passed = [one.rate for one in told.attempts if one.passed]
    if told.at_least != max(passed, default=None):
        yield "is not the highest rate that was passed", ("at_least",)
    if (0 < len(passed) < len(told.attempts)) != (told.rate.value is not None):
        yield "a rate stands between trials that passed and trials that did not", ("rate", "value")
