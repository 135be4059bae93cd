"""One value for each case and metric of a result: what results are compared by."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from pydantic import JsonValue

from benchforge.model.summary.doubts import doubted
from benchforge.model.summary.summary import CaseSummary, MetricSummary, Summary
from benchforge.model.summary.verdict import Estimate
from benchforge.model.values.case_name import CaseName, shared
from benchforge.model.values.units import titled
from benchforge.stats.inference.hodges_lehmann import ratio
from benchforge.stats.inference.interval import typical
from benchforge.stats.verdict.comparison import wrong_answers
from benchforge.text.readable import exact

Key = tuple[str, str, str, str, int]
"Scenario, server, driver, what varies, arm: what makes a case of two results the same one."

LEVEL = 0.95
BROKEN = "broken"
NO_TRIAL = "no trial of it is to be believed"
NO_TIMES = "no trial's response times are to be believed"


def identity(case: CaseName, measure: "LevelKey") -> dict[str, JsonValue]:
    """Return the case and the metric of numbers that are compared, as programs read them."""
    names = ("metric", "of", "unit", "better")
    number = {name: getattr(measure, name) for name in names}
    return {"case": case.model_dump(mode="json"), "title": case.title, **number}


def key(case: CaseName) -> Key:
    """Return what identifies a case in other results; its digest does not belong to it."""
    vary = json.dumps(case.vary, sort_keys=True)
    return case.scenario, case.server, case.driver, vary, case.arm


@dataclass(frozen=True)
class LevelKey:
    """A metric of a case, or a part of one."""

    metric: str
    of: str | None
    unit: str
    better: str
    use: str

    @property
    def title(self) -> str:
        """For a person, without its unit."""
        return titled(self.metric, self.of)


def by_key(summary: Summary) -> dict[Key, CaseSummary]:
    """Return the cases of a result by what they are found by."""
    return {key(case.case): case for case in summary.cases}


def lines(case: CaseSummary) -> dict[LevelKey, MetricSummary]:
    """Return the lines of a case by what they measure."""
    names = ("metric", "of", "unit", "better", "use")
    return {LevelKey(*(getattr(line, key) for key in names)): line for line in case.metrics}


def level(case: CaseSummary, line: MetricSummary) -> Estimate:
    """Return the geometric mean of the believed trials, with the interval within the session.

    Without a value it says why. If one is not above 0, the arithmetic mean, without interval.
    """
    values, reason = _values(case, line)
    return _none(reason) if reason else _typical(list(values.values()))


def to_reference(
    case: CaseSummary, measure: LevelKey, cases: Mapping[Key, CaseSummary], label: str
) -> Estimate:
    """Return a case's value over that of the server of this label beside it, paired by block."""
    reference = reference_of(case.case, label, cases)
    if reference is None:
        return _none(f"{label} was not measured beside it, once")
    if (theirs := lines(reference).get(measure)) is None:
        return _none("the reference has no such number")
    values, reason = _values(case, lines(case)[measure])
    other, why_other = _values(reference, theirs)
    if reason or why_other:
        return _none(reason or f"the reference: {why_other}")
    blocks = sorted(values.keys() & other.keys())
    if not blocks:
        return _none("no block has both it and the reference")
    return ratio([values[block] for block in blocks], [other[block] for block in blocks])


def reference_of(
    case: CaseName, label: str, cases: Mapping[Key, CaseSummary]
) -> CaseSummary | None:
    """Return what a server of this label did where a case is compared; None if not once."""
    group = case.scenario, case.driver, shared(case)
    matches = [
        other
        for other in cases.values()
        if (other.case.server, other.case.arm) == (label, 1)
        and (other.case.scenario, other.case.driver, shared(other.case)) == group
    ]
    return matches[0] if len(matches) == 1 else None


def together(past: Sequence[Estimate]) -> Estimate:
    """Return several sessions as one value, with the interval of their mean; of one, its own."""
    measured = [session for session in past if session.value is not None]
    if not measured:
        return past[-1] if past else _none("no older result has it")
    if len(measured) == 1:
        return measured[0]
    return _typical([session.value for session in measured if session.value is not None])


def _values(case: CaseSummary, line: MetricSummary) -> tuple[dict[int, float], str]:
    """Return the believed values by block, or why there are none that can be taken."""
    if wrong := next(wrong_answers(case, line), ""):
        return {}, f"{BROKEN}: {wrong}"
    if not line.samples:
        return {}, line.why or "no trial has a value"
    left_out = doubted(case, line)
    samples = [each for each in line.samples if each.trial not in left_out]
    if not samples:
        return {}, f"{NO_TIMES if case.believed else NO_TRIAL}{_failed(case, left_out)}"
    if unknown := [each.sample.why for each in samples if each.sample.value is None]:
        return {}, unknown[0]
    if any(each.sample.lower_bound for each in samples):
        return {}, "a value is only a lower bound"
    return {each.block: each.sample.value for each in samples if each.sample.value is not None}, ""


def _failed(case: CaseSummary, trials: Collection[int]) -> str:
    """Name the checks that failed, as `: N1 foreign-cpu`: who reads it can look them up."""
    doubts = [doubt for doubt in (*case.doubted, *case.latency_doubted) if doubt.trial in trials]
    names = dict.fromkeys(name for doubt in doubts for name in doubt.failed)
    return f": {', '.join(names)}" if names else ""


def _typical(values: Sequence[float]) -> Estimate:
    if all(value > 0 for value in values):
        return typical(values)
    reason = f"a value is {exact(min(values))}: its logarithm has no interval, and no ratio"
    try:
        value = fmean(values)
    except OverflowError:
        return _none("the values are beyond all that can be measured")
    return Estimate(method="t of values", level=LEVEL, n=len(values), value=value, why=reason)


def _none(reason: str) -> Estimate:
    return Estimate(method="t of logs", level=LEVEL, n=0, why=reason)
