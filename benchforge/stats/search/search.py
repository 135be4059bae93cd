"""Where a search stands: from its trials to the rate that is asked next, or to what it found."""

from collections.abc import Iterator, Sequence
from itertools import groupby, takewhile
from operator import attrgetter

from benchforge.errors import InvalidFile
from benchforge.model.suite.search import RateSearch, SearchTrial
from benchforge.model.summary.capacity import Capacity
from benchforge.model.trial.trial import ATTEMPTS, Trial
from benchforge.model.values.case_name import CaseName
from benchforge.stats.search import next_rate as capacity
from benchforge.stats.search.next_rate import Next, Search, next_rate
from benchforge.stats.search.posterior import sustained
from benchforge.stats.timeseries.noise import Noise, noise_of
from benchforge.text.readable import exact

IN_VAIN = 2
"After so many rounds in a row whose trials say nothing, a search ends: more would not either."
IN_NOISE = 4
"The same, where they say nothing for a reason that comes and goes."


def search_of(find: RateSearch, driver: str) -> Search:
    """Return where the cases of a driver, named by its label, search."""
    return Search(find.first_rates.get(driver, find.lowest), find.lowest, find.highest, find.steps)


def attempts_of(trials: Sequence[Trial]) -> tuple[SearchTrial, ...]:
    """Return the trials of a case that its search rests on, in the order of the rounds."""
    return tuple(_attempts(_ordered(trials)))


def where(find: RateSearch, case: CaseName, trials: Sequence[Trial]) -> Next:
    """Return what the search of a case asks next, from all of its trials so far.

    Raises InvalidFile for trials at other rates than it asked for.
    """
    tried = [capacity.RateTrial(attempt.rate, attempt.passed) for attempt in attempts_of(trials)]
    try:
        step = next_rate(search_of(find, case.driver), tried)
    except ValueError as error:
        hint = "its trials were changed, or one is missing: begin a new result"
        raise InvalidFile(f"{case.title}: {error}", hint) from None
    return Next("unanswered", None) if step.rate is not None and _in_vain(trials) else step


def capacity_of(find: RateSearch, case: CaseName, trials: Sequence[Trial]) -> Capacity:
    """Return what the search of a case found so far.

    Raises InvalidFile for trials at other rates than it asked for.
    """
    attempts = attempts_of(trials)
    now = where(find, case, trials)
    passed = [attempt.rate for attempt in attempts if attempt.passed]
    estimated = sustained(
        [capacity.RateTrial(attempt.rate, attempt.passed) for attempt in attempts]
    )
    return estimated.model_copy(
        update={
            "phase": now.phase,
            "highest_passed": max(passed, default=None),
            "attempts": attempts,
            "message": _says(now, attempts, _ordered(trials)),
        }
    )


def _attempts(trials: Sequence[Trial]) -> Iterator[SearchTrial]:
    """Yield the trials that count, at most one in a round.

    Until a rate fails, a disturbed one that kept all counts, where no other attempt of its round
    does: its rate is a lower bound. Near the capacity it would not, since those that failed beside
    noise do not count either.
    """
    failed = False
    for _, attempts in groupby(trials, key=attrgetter("block")):
        of_round = [(one, one.search_outcome) for one in attempts if one.search_outcome is not None]
        counts = [(one, sought) for one, sought in of_round if sought.passed is not None]
        if not counts and not failed:
            counts = [(one, sought) for one, sought in of_round if sought.at_least][-1:]
        for trial, sought in counts:
            failed = failed or sought.passed is False
            yield SearchTrial(
                trial=trial.number,
                round=trial.block,
                rate=sought.rate,
                passed=sought.passed is not False,
                why=sought.why,
                outcomes=sought.outcomes,
            )


def _ordered(trials: Sequence[Trial]) -> list[Trial]:
    return sorted(trials, key=lambda trial: (trial.block, trial.attempt))


def _answers(trial: Trial) -> bool:
    return trial.search_outcome is not None and trial.search_outcome.passed is not None


def _in_vain(trials: Sequence[Trial]) -> bool:
    """Whether so many rounds in a row, up to the last that is not tried again, say nothing."""
    last = {trial.block: trial for trial in _ordered(trials)}
    newest = max(last, default=0)
    noise = noise_of(trials)
    ended = [trial for block, trial in last.items() if block < newest or _is_last(trial, noise)]
    rounds = {attempt.round for attempt in attempts_of(trials)}
    silent = list(takewhile(lambda trial: trial.block not in rounds, reversed(ended)))
    return len(silent) >= (IN_NOISE if silent and silent[0].worth_repeating else IN_VAIN)


def _is_last(trial: Trial, noise: Noise) -> bool:
    """Whether a trial of the newest round is not tried again."""
    return not trial.worth_repeating or trial.attempt >= ATTEMPTS or noise.ends(trial)


def _says(now: Next, attempts: Sequence[SearchTrial], trials: Sequence[Trial]) -> str:
    lost = [
        one.search_outcome.why
        for one in trials
        if one.search_outcome is not None and not _answers(one)
    ]
    match now.phase:
        case "too high":
            return f"every trial passed up to {exact(attempts[-1].rate)}/s: at least that"
        case "too low":
            return f"the lowest rate, {exact(attempts[-1].rate)}/s, fails: {attempts[-1].why}"
        case "unanswered":
            rates = [attempt.rate for attempt in attempts if attempt.passed]
            least = f"at least {exact(max(rates))}/s: " if rates else ""
            return f"{least}trials that say nothing of the server: {lost[-1]}"
        case "done":
            return "all of its trials were made"
    rate = "" if now.rate is None else f": {exact(now.rate)}/s would be next"
    return f"not finished{rate}"
