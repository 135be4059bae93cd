"""A new result against older ones: case by case, and what the older ones predict."""

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from benchforge.model.summary.summary import CaseSummary, Summary
from benchforge.model.summary.verdict import Change, Estimate
from benchforge.model.values.case_name import CaseName
from benchforge.results.over_time.levels import (
    BROKEN,
    LEVEL,
    NO_TRIAL,
    Key,
    LevelKey,
    by_key,
    level,
    lines,
    to_reference,
    together,
)
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
) -> Change:
    """Return the change against what past sessions predict of a new one.

    Each session is its metric and that of one reference server: only their ratio is compared. Fewer
    than 5 past sessions are no model. The caller compares sessions of one environment. Raises
    ValueError for values that are not finite, and a negative `least`.
    """
    check([value for session in (*past, new) for value in session], LEVEL)
    if not 0 <= least < math.inf:
        raise ValueError(f"the least change is 0 or more, not {least}")
    if (n := len(past)) < PAST:
        return _unpredicted(n, f"{counted(n, 'past session')}: a prediction takes {PAST}", least)
    if any(value <= 0 for session in (*past, new) for value in session):
        reason = "a value is not above 0: it has no ratio to the reference"
        return _unpredicted(n, reason, least)
    past_logs = [math.log(value) - math.log(reference) for value, reference in past]
    if (sd := deviation(past_logs)) == 0:
        return _unpredicted(n, equal(n), least)
    effect = math.log(new[0]) - math.log(new[1]) - mean(past_logs)
    error = sd * math.sqrt(1 + 1 / n)
    change = by_t(effect, error, Basis(_METHOD, LEVEL, n, sd))
    if change.low is None or change.high is None or change.value is None:
        return Change(state="no model", change=change, least=least)
    small = abs(math.log(change.value)) <= math.log1p(least)
    if small or change.low <= 1 <= change.high:
        return Change(state="not shown", change=change, least=least)
    improved = (change.value > 1) == (better == "higher")
    return Change(state="better" if improved else "worse", change=change, least=least)


NO_REFERENCE: Final = "no reference server was named"
IS_REFERENCE: Final = "it is the reference"
Answer = Literal["worse", "better", "not shown", "no model", "not believed", "broken"]


@dataclass(frozen=True)
class MetricChange:
    """One metric of one case in the new result and in the older ones."""

    case: CaseName
    measure: LevelKey
    old: Estimate
    "Old value; the mean of several older results."
    new: Estimate
    change: Change
    "New over old, each over the reference."

    @property
    def ratio(self) -> float | None:
        """New over old as they were measured, with the machine's good and bad days."""
        if not self.old.value or self.new.value is None:
            return None
        ratio = self.new.value / self.old.value
        return ratio if math.isfinite(ratio) else None

    @property
    def silent(self) -> str:
        """Why there is nothing to see: 0 in all, or known in none; empty where there is."""
        values = self.old.value, self.new.value
        if values == (0, 0):
            return "0"
        unknown = values == (None, None) and self.answer not in {"not believed", "broken"}
        return self.new.why if unknown else ""

    @property
    def is_reference(self) -> bool:
        """Whether it is of the server that the others are held against."""
        return self.change.change.why == IS_REFERENCE

    @property
    def believed(self) -> bool:
        """Whether both sides have a number, which only believed trials give."""
        return self.old.value is not None and self.new.value is not None

    @property
    def answer(self) -> Answer:
        """The verdict; broken and doubted cases have no other."""
        if self.new.why.startswith(f"{BROKEN}: "):
            return "broken"
        return "not believed" if self.new.why.startswith(NO_TRIAL) else self.change.state


def compared(
    new: Summary,
    past: Sequence[Summary],
    reference: str | None,
    least: float,
    metrics: Collection[str] = (),
) -> Iterator[MetricChange]:
    """Yield what all results have in common, in the order of the new one.

    `past` is in order of time. `least` is the smallest share of change; `metrics` are labels, none
    for all.
    """
    new_cases, theirs = by_key(new), [by_key(summary) for summary in past]
    for key, case in new_cases.items():
        with_case = [cases for cases in theirs if key in cases]
        for measure, line in lines(case).items():
            if metrics and measure.metric not in metrics:
                continue
            having = [cases for cases in with_case if measure in lines(cases[key])]
            if not having:
                continue
            levels = [level(cases[key], lines(cases[key])[measure]) for cases in having]
            change = _of_case(key, measure, new_cases, having, reference, least)
            yield MetricChange(case.case, measure, together(levels), level(case, line), change)


def _of_case(
    key: Key,
    measure: LevelKey,
    new_cases: dict[Key, CaseSummary],
    past: Sequence[dict[Key, CaseSummary]],
    reference: str | None,
    least: float,
) -> Change:
    if reference is None:
        return _unpredicted(len(past), NO_REFERENCE, least)
    if new_cases[key].case.server == reference:
        return _unpredicted(len(past), IS_REFERENCE, least)
    newest = to_reference(new_cases[key], measure, new_cases, reference)
    if newest.value is None:
        return _unpredicted(len(past), newest.why, least)
    estimates = [to_reference(cases[key], measure, cases, reference) for cases in past]
    # 1 stands for the reference: each is a ratio to it already.
    ratios = [(estimate.value, 1.0) for estimate in estimates if estimate.value is not None]
    better: Literal["higher", "lower"] = "higher" if measure.better == "higher" else "lower"
    change = predicted(ratios, (newest.value, 1.0), better=better, least=least)
    if change.state == "no model" and len(ratios) < min(PAST, len(past)):
        reason = next(estimate.why for estimate in estimates if estimate.value is None)
        return _unpredicted(len(ratios), f"{change.change.why}; others: {reason}", least)
    return change


def _unpredicted(past: int, reason: str, least: float) -> Change:
    none = Estimate(method=_METHOD, level=LEVEL, n=past, why=reason)
    return Change(state="no model", change=none, least=least)
