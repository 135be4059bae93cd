"""Searches for a rate: from the trials to the next rate, or to the highest rate that is kept."""

import math
from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import groupby, takewhile
from operator import attrgetter
from typing import NamedTuple

from benchforge.errors import InvalidFile
from benchforge.model.suite.search import GAP, RateSearch, SearchTrial
from benchforge.model.summary.capacity import Capacity, Phase
from benchforge.model.summary.verdict import Estimate
from benchforge.model.trial.trial import ATTEMPTS, Trial
from benchforge.model.values.case_name import CaseName
from benchforge.stats.timeseries.noise import Noise, noise_of
from benchforge.text.readable import exact

_STEP = 0.03


class Next(NamedTuple):
    """The next rate, and the phase of the search."""

    phase: Phase
    rate: float | None
    "Rate in requests per second; None when the search is over."


def next_rate(find: RateSearch, start: float, attempts: Sequence[SearchTrial]) -> Next:
    """Return the next rate of the search, from all attempts in their order; `start` is the first.

    The same attempts give the same rate, so that a search that was interrupted goes on. Raises
    ValueError for an attempt at another rate than the search asked for.
    """
    step = Next("bracket", start)
    passed: float | None = None
    failed: float | None = None
    stairs = 0
    for attempt in attempts:
        if step.rate is None or not math.isclose(attempt.rate, step.rate, rel_tol=1e-9):
            raise ValueError(f"{attempt.rate} was tried, {step.rate or 'nothing'} was asked for")
        if step.phase != "staircase":
            passed, failed = (attempt.rate, failed) if attempt.passed else (passed, attempt.rate)
            step = _closer(find, start, passed, failed)
            continue
        stairs += 1
        rate = attempt.rate * (1 + _STEP) if attempt.passed else attempt.rate / (1 + _STEP)
        rate = min(find.highest, max(find.lowest, rate))
        step = Next("staircase", rate) if stairs < find.steps else Next("done", None)
    return step


def _closer(find: RateSearch, start: float, passed: float | None, failed: float | None) -> Next:
    if failed is None and passed == find.highest:
        return Next("too high", None)
    if failed is None:
        return Next("bracket", min(find.highest, 2 * (passed or start)))
    if passed is None and failed == find.lowest:
        return Next("too low", None)
    if passed is None:
        return Next("bracket", max(find.lowest, failed / 2))
    middle = math.sqrt(passed * failed)
    return Next("bisect" if failed / passed > 1 + GAP else "staircase", middle)


SAFE = 0.95
"The chance of passing at the safe rate."
_LEVEL = 0.95

# Of the passage from passing to failing, on the log scale: what is usual, and how it varies.
_WIDTH = 0.025
_WIDTH_SD = 0.5
_WIDTHS = [(key / 2, _WIDTH * math.exp(_WIDTH_SD * key / 2)) for key in range(-6, 7)]
_BEYOND = 1.5  # the log of how far outside of all rates the middle is looked for
_COARSE = 0.05  # for each width the log likelihood is concave: no mode hides between two steps
_FINE = 160
_NEGLIGIBLE = 14.0  # below the best of a log posterior: less than a millionth
_HALVINGS = 40
_DIGITS = 6  # of ln rate: up and down 3 % gives the same rate but for rounding

_Counts = Sequence[tuple[float, int, int]]
_Point = tuple[float, float, float]  # ln of the middle, width, weight
IN_VAIN = 2
"Rounds in a row without an answer after which a search ends: more would have none, either."
IN_NOISE = 4
"The same, where the reason comes and goes."


def where(find: RateSearch, case: CaseName, trials: Sequence[Trial]) -> Next:
    """Return the next step of a search. Raises InvalidFile for trials at other rates."""
    try:
        start = find.first_rates.get(case.driver, find.lowest)
        step = next_rate(find, start, attempts_of(trials))
    except ValueError as error:
        hint = "its trials were changed, or one is missing: begin a new result"
        raise InvalidFile(f"{case.title}: {error}", hint) from None
    return Next("unanswered", None) if step.rate is not None and _in_vain(trials) else step


def following(find: RateSearch, case: CaseName, block: int, trials: Sequence[Trial]) -> Next:
    """Return what a case's search asks in a block, by the trials of earlier ones.

    Raises InvalidFile where these are of other rates than their search asked for.
    """
    return where(find, case, [each for each in trials if each.block < block and each.case == case])


def capacity_of(find: RateSearch, case: CaseName, trials: Sequence[Trial]) -> Capacity:
    """Return the rate that a case keeps, as far as its search knows. Raises as `where` does."""
    attempts = attempts_of(trials)
    next_step = where(find, case, trials)
    update = {
        "phase": next_step.phase,
        "highest_passed": max((each.rate for each in attempts if each.passed), default=None),
        "attempts": attempts,
        "message": _says(next_step, attempts, _ordered(trials)),
    }
    return sustained(attempts).model_copy(update=update)


def attempts_of(trials: Sequence[Trial]) -> tuple[SearchTrial, ...]:
    """Return the trials of a case that its search rests on, at most one in a round, in order.

    Until a rate fails, a disturbed one that kept all counts, where no other attempt of its round
    does: its rate is a lower bound. Near the capacity it would not, since those that failed beside
    noise do not count either.
    """
    chosen: list[SearchTrial] = []
    failed = False
    for _, attempts in groupby(_ordered(trials), key=attrgetter("block")):
        tried = [(trial, sought) for trial in attempts if (sought := trial.search_outcome)]
        counts = [(trial, sought) for trial, sought in tried if sought.passed is not None]
        if not counts and not failed:
            counts = [(trial, sought) for trial, sought in tried if sought.at_least][-1:]
        for trial, sought in counts:
            failed = failed or sought.passed is False
            attempt = SearchTrial(
                trial=trial.number,
                round=trial.block,
                rate=sought.rate,
                passed=sought.passed is not False,
                why=sought.why,
                outcomes=sought.outcomes,
            )
            chosen.append(attempt)
    return tuple(chosen)


def _ordered(trials: Sequence[Trial]) -> list[Trial]:
    return sorted(trials, key=lambda trial: (trial.block, trial.attempt))


def _in_vain(trials: Sequence[Trial]) -> bool:
    """Whether IN_VAIN rounds in a row, up to the last one that is over, have no answer."""
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


def _says(next_step: Next, attempts: Sequence[SearchTrial], trials: Sequence[Trial]) -> str:
    outcomes = [trial.search_outcome for trial in trials]
    lost = [outcome.why for outcome in outcomes if outcome and outcome.passed is None]
    match next_step.phase:
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
    rate = "" if next_step.rate is None else f": {exact(next_step.rate)}/s would be next"
    return f"not finished{rate}"


def sustained(attempts: Sequence[SearchTrial]) -> Capacity:
    """Return the rate that is passed half of the time, its interval, and the safe rate.

    The chance of passing falls as a logistic function of ln rate. The middle has a flat prior, ln
    of the width is normal around ln 0.025 with deviation 0.5; the posterior is summed on a grid.
    Neither the order of the attempts nor how their rates were chosen changes it. There is no answer
    without both passes and failures.
    """
    estimate = partial(Estimate, method="posterior on a grid", level=_LEVEL, n=len(attempts))
    counts = _counted(attempts)
    passes = sum(passed for _, passed, _ in counts)
    if passes in {0, len(attempts)}:
        which = "passed" if passes else "failed"
        reason = f"every trial {which}" if attempts else "there was no trial"
        return Capacity(rate=estimate(why=reason), safe=None, width=None)
    points = _posterior(counts)
    tail = (1 - _LEVEL) / 2
    low, middle, high = (_quantile(points, q) for q in (tail, 1 / 2, 1 - tail))
    rate = estimate(value=math.exp(middle), low=math.exp(low), high=math.exp(high))
    width = sum(width * weight for _, width, weight in points)
    return Capacity(rate=rate, safe=math.exp(_safe(points)), width=width)


def _counted(attempts: Sequence[SearchTrial]) -> _Counts:
    """Return ln rate, passes and failures of each rate, the lowest first."""
    passes = Counter(round(math.log(each.rate), _DIGITS) for each in attempts if each.passed)
    tries = Counter(round(math.log(each.rate), _DIGITS) for each in attempts)
    return [(rate, passes[rate], tries[rate] - passes[rate]) for rate in sorted(tries)]


def _posterior(counts: _Counts) -> list[_Point]:
    """Return the points of the grid that hold nearly all weight; the weights sum to 1."""
    first, last = counts[0][0] - _BEYOND, counts[-1][0] + _BEYOND
    coarse = _grid(first, last, math.ceil((last - first) / _COARSE))
    near = [middle for middle, _, _ in _heavy(counts, coarse)]
    fine = _heavy(counts, _grid(min(near) - _COARSE, max(near) + _COARSE, _FINE))
    best = max(height for _, _, height in fine)
    points = [(middle, width, math.exp(height - best)) for middle, width, height in fine]
    total = sum(weight for _, _, weight in points)
    return [(middle, width, weight / total) for middle, width, weight in points]


def _heavy(counts: _Counts, middles: Sequence[float]) -> list[_Point]:
    """Return each point with its log posterior, without those that weigh nothing."""
    points = [
        (middle, width, -z * z / 2 + _log_likelihood(counts, middle, width))
        for middle in middles
        for z, width in _WIDTHS
    ]
    best = max(height for _, _, height in points)
    return [point for point in points if point[2] > best - _NEGLIGIBLE]


def _log_likelihood(counts: _Counts, middle: float, width: float) -> float:
    total = 0.0
    for rate, passed, failed in counts:
        z = (middle - rate) / width
        # ln of 1 / (1 + e^-z) and of 1 / (1 + e^z), without overflow.
        rest = math.log1p(math.exp(-abs(z)))
        total -= (passed + failed) * rest + (failed * z if z > 0 else -passed * z)
    return total


def _grid(first: float, last: float, steps: int) -> list[float]:
    return [first + (last - first) * key / steps for key in range(steps + 1)]


def _quantile(points: Sequence[_Point], share: float) -> float:
    """Return the middle below which the posterior has this share."""
    below = 0.0
    for middle, _, weight in sorted(points):
        below += weight
        if below >= share:
            return middle
    return max(middle for middle, _, _ in points)


def _safe(points: Sequence[_Point]) -> float:
    """Return ln of the highest rate whose chance of passing, over the posterior, is SAFE."""
    low, high = min(middle for middle, _, _ in points) - _BEYOND, max(points)[0]
    for _ in range(_HALVINGS):
        rate = (low + high) / 2
        passing = sum(
            weight / (1 + math.exp(min((rate - middle) / width, 700)))
            for middle, width, weight in points
        )
        low, high = (rate, high) if passing >= SAFE else (low, rate)
    return low
