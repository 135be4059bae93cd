"""Where a search stands: from its trials to the rate that is asked next, or to what it found."""

from collections.abc import Iterator, Sequence
from itertools import takewhile

from benchforge.errors import InvalidFile
from benchforge.model.capacity import Capacity
from benchforge.model.find import Attempt, Find
from benchforge.model.trial import ATTEMPTS, CaseName, Trial
from benchforge.stats import capacity
from benchforge.stats.capacity import Next, Search, next_rate
from benchforge.stats.sustained import sustained

IN_VAIN = 2
"After so many rounds in a row whose trials say nothing, a search ends: more would not either."
IN_NOISE = 4
"The same, where they say nothing for a reason that comes and goes."


def search_of(find: Find, driver: str) -> Search:
    """Return where the cases of a driver, named by its label, search."""
    start = find.starts.get(driver, find.lowest)
    return Search(start, find.lowest, find.highest, find.steps)


def attempts_of(trials: Sequence[Trial]) -> tuple[Attempt, ...]:
    """Return the trials of a case that its search rests on, in the order of the rounds."""
    return tuple(_attempts(_ordered(trials)))


def where(find: Find, case: CaseName, trials: Sequence[Trial]) -> Next:
    """Return what the search of a case asks next, from all of its trials so far.

    Raises InvalidFile for trials at other rates than it asked for.
    """
    tried = [capacity.Attempt(one.rate, one.passed) for one in attempts_of(trials)]
    try:
        found = next_rate(search_of(find, case.driver), tried)
    except ValueError as error:
        hint = "its trials were changed, or one is missing: begin a new result"
        raise InvalidFile(f"{case.title}: {error}", hint) from None
    return Next("unanswered", None) if found.rate is not None and _in_vain(trials) else found


def found(find: Find, case: CaseName, trials: Sequence[Trial]) -> Capacity:
    """Return what the search of a case found so far.

    Raises InvalidFile for trials at other rates than it asked for.
    """
    attempts = attempts_of(trials)
    now = where(find, case, trials)
    passed = [one.rate for one in attempts if one.passed]
    told = sustained([capacity.Attempt(one.rate, one.passed) for one in attempts])
    return told.model_copy(
        update={
            "phase": now.phase,
            "at_least": max(passed, default=None),
            "attempts": attempts,
            "says": _says(now, attempts, _ordered(trials)),
        }
    )


def _attempts(trials: Sequence[Trial]) -> Iterator[Attempt]:
    for trial in trials:
        sought = trial.sought
        if sought is not None and sought.passed is not None:
            yield Attempt(
                trial=trial.number,
                round=trial.block,
                rate=sought.rate,
                passed=sought.passed,
                why=sought.why,
                outcomes=sought.outcomes,
            )


def _ordered(trials: Sequence[Trial]) -> list[Trial]:
    return sorted(trials, key=lambda trial: (trial.block, trial.attempt))


def _answers(trial: Trial) -> bool:
    return trial.sought is not None and trial.sought.passed is not None


def _in_vain(trials: Sequence[Trial]) -> bool:
    """Whether so many rounds in a row, up to the last that is not tried again, say nothing."""
    last = {trial.block: trial for trial in _ordered(trials)}
    ended = [one for one in last.values() if not one.again or one.attempt >= ATTEMPTS]
    silent = list(takewhile(lambda one: not _answers(one), reversed(ended)))
    return len(silent) >= (IN_NOISE if silent and silent[0].again else IN_VAIN)


def _says(now: Next, attempts: Sequence[Attempt], trials: Sequence[Trial]) -> str:
    lost = [one.sought.why for one in trials if one.sought is not None and not _answers(one)]
    match now.phase:
        case "too high":
            return f"every trial passed up to {attempts[-1].rate:,.6g}/s: at least that"
        case "too low":
            return f"the lowest rate, {attempts[-1].rate:,.6g}/s, fails: {attempts[-1].why}"
        case "unanswered":
            return f"trials that say nothing of the server: {lost[-1]}"
        case "done":
            return "all of its trials were made"
    rate = "" if now.rate is None else f": {now.rate:,.6g}/s would be next"
    return f"not finished{rate}"
