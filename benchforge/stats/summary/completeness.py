"""Completeness of a result: the measurements of its plan, and whole blocks."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import islice

from benchforge.model.files.result import Header
from benchforge.model.summary.verdict import StopDecision
from benchforge.model.trial.trial import ATTEMPTS, Trial
from benchforge.model.values.case_name import CaseName, Identity, identity
from benchforge.stats.search.search import where
from benchforge.stats.timeseries.noise import Noise


def missing(header: Header, trials: Sequence[Trial], decision: StopDecision | None) -> int:
    """Return the largest number of missing measurements; `decision` is that of `precise`.

    Raises InvalidFile where trials are at other rates than their search asked for.
    """
    over_at_last = _ended(header, trials)
    measured = _measured(header, trials)
    last = max((trial.block for trial in trials), default=0)
    over = decision is not None and decision.stop and last <= decision.blocks
    wanted = (planned for planned in header.plan if not over or planned.block <= last)
    return sum(
        (planned.block, identity(planned.case)) not in measured
        and identity(planned.case) not in over_at_last
        for planned in wanted
    )


def _ended(header: Header, trials: Sequence[Trial]) -> set[Identity]:
    """Return the cases whose search for a rate is over, so that they need no more trials."""
    return {
        identity(case)
        for case in header.cases
        if (find := header.searches.get(case.scenario))
        and where(find, case, [trial for trial in trials if trial.case == case]).rate is None
    }


def done(header: Header, trials: Sequence[Trial]) -> int:
    """Return how many measurements are there, with all the attempts that they need."""
    return len(_measured(header, trials))


def lost(header: Header, attempts: Sequence[Trial]) -> bool:
    """Whether a place of the plan has no measurement, through no fault of its server.

    A later session measures it; but not with `until` or a search, where later places replace it.
    """
    return (
        header.until is None
        and bool(attempts)
        and attempts[-1].case.scenario not in header.searches
        and attempts[-1].worth_repeating
        and not any(trial.measured for trial in attempts)
    )


def given_up(trials: Sequence[Trial], case: CaseName) -> bool:
    """Whether the last three trials of a case ended alike, by the load tool; digits aside."""
    failures = (trial.failure for trial in reversed(trials) if trial.case == case)
    latest = islice(failures, ATTEMPTS)
    ends = [failure.message for failure in latest if failure and failure.stage == "read"]
    return len(ends) == ATTEMPTS and len({re.sub(r"\d+", "", message) for message in ends}) == 1


def whole(header: Header, trials: Sequence[Trial]) -> int:
    """Return the number of complete blocks, from the first."""
    settled = Counter(block for block, _ in _settled(trials, header.latencies))
    planned = Counter(planned_trial.block for planned_trial in header.plan)
    blocks = 0
    while planned[blocks + 1] and settled[blocks + 1] == planned[blocks + 1]:
        blocks += 1
    return blocks


def needs_no_more(
    attempts: Sequence[Trial], noise: Noise, once: Collection[str] = frozenset()
) -> bool:
    """Whether a case needs no further attempt in a block: only what comes and goes gets one.

    `noise` is that up to the last attempt; scenarios that are measured `once` get none. A later
    session gives a lost place as many attempts again.
    """
    if not attempts:
        return False
    last = attempts[-1]
    if last.case.scenario in once:
        return True
    return not last.worth_repeating or len(attempts) % ATTEMPTS == 0 or noise.ends(last)


def settled_places(
    trials: Sequence[Trial], once: Collection[str] = frozenset()
) -> set[tuple[int, int]]:
    """Return the places of the plan, block and position, that need no more attempt."""
    settled = _settled(trials, once).values()
    return {(attempts[0].block, attempts[0].position) for attempts in settled}


def _settled(
    trials: Sequence[Trial], once: Collection[str]
) -> dict[tuple[int, Identity], list[Trial]]:
    """Return the attempts of each block and case that needs no more."""
    by_place: dict[tuple[int, Identity], list[Trial]] = {}
    settled: dict[tuple[int, Identity], bool] = {}
    noise = Noise()
    for trial in sorted(trials, key=lambda trial: trial.number):
        key = trial.block, identity(trial.case)
        attempts = by_place.setdefault(key, [])
        attempts.append(trial)
        noise = noise.after(trial)
        settled[key] = needs_no_more(attempts, noise, once)
    return {key: attempts for key, attempts in by_place.items() if settled[key]}


def _measured(header: Header, trials: Sequence[Trial]) -> set[tuple[int, Identity]]:
    """Return the blocks and cases that no later session measures again."""
    settled = _settled(trials, header.latencies).items()
    return {key for key, attempts in settled if not lost(header, attempts)}
