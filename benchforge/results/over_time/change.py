"""A new result against what older ones predict.

Comparing today's trials with one stored session raises a false alarm in 67 % of cases, because a
session has an effect of its own.
"""

import math
from collections.abc import Sequence
from typing import Final, Literal

from benchforge.model.summary.verdict import Change, Estimate
from benchforge.stats.inference.interval import Basis, by_t, check, deviation, equal, mean
from benchforge.text.readable import counted

PAST = 5
"Sessions that a prediction takes."

_METHOD: Final = "prediction by t of logs"


def predicted(
    past: Sequence[tuple[float, float]],
    new: tuple[float, float],
    *,
    better: Literal["higher", "lower"] = "higher",
    least: float = 0.03,
    level: float = 0.95,
) -> Change:
    """Return the change against what past sessions predict of a new one.

    Each session is its metric and that of one reference server: only their ratio is compared. Fewer
    than 5 past sessions are no model. The caller compares sessions of one environment. Raises
    ValueError for values that are not finite, a level outside 0..1 and a negative `least`.
    """
    check([value for session in (*past, new) for value in session], level)
    n = len(past)
    if reason := _no_model(past, new):
        return _change(Estimate(method=_METHOD, level=level, n=n, why=reason), better, least)
    past_logs = [math.log(value) - math.log(reference) for value, reference in past]
    sd = deviation(past_logs)
    if sd == 0:
        return _change(Estimate(method=_METHOD, level=level, n=n, why=equal(n)), better, least)
    effect = math.log(new[0]) - math.log(new[1]) - mean(past_logs)
    error = sd * math.sqrt(1 + 1 / n)
    return _change(by_t(effect, error, Basis(_METHOD, level, n, n - 1, sd)), better, least)


def _no_model(past: Sequence[tuple[float, float]], new: tuple[float, float]) -> str:
    """Why nothing is predicted; empty when it can be tried."""
    if (n := len(past)) < PAST:
        return f"{counted(n, 'past session')}: a prediction takes {PAST}"
    if any(value <= 0 for session in (*past, new) for value in session):
        return "a value is not above 0: it has no ratio to the reference"
    return ""


def _change(change: Estimate, better: str, least: float) -> Change:
    """Return what a ratio says. Raises ValueError for a `least` that is negative."""
    if not 0 <= least < math.inf:
        raise ValueError(f"the least change is 0 or more, not {least}")
    if change.low is None or change.high is None or change.value is None:
        return Change(state="no model", change=change, least=least)
    small = abs(math.log(change.value)) <= math.log1p(least)
    if small or change.low <= 1 <= change.high:
        return Change(state="not shown", change=change, least=least)
    improved = (change.value > 1) == (better == "higher")
    return Change(state="better" if improved else "worse", change=change, least=least)
