"""Verdicts as sentences."""

from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import NamedTuple

from benchforge.model.suite.claim import Claim, ClaimInstance
from benchforge.model.summary.summary import Summary
from benchforge.model.summary.verdict import Estimate, Objection, Verdict
from benchforge.model.trial.reading import Load
from benchforge.model.values.case_name import CaseName
from benchforge.model.values.units import titled
from benchforge.stats.summary.line import left_to
from benchforge.stats.verdict.objections import Sides, one_sided
from benchforge.text.readable import (
    amount,
    amounts,
    blocks_that_tell,
    conjoined,
    counted,
    exact,
    figure,
    percent,
    times,
)


class VerdictContext(NamedTuple):
    """The claim, its instance, unit and remark of a sentence."""

    claim: Claim
    instance: ClaimInstance
    unit: str
    "Unit of the metric."
    remark: str


def sentence(verdict: Verdict, context: VerdictContext, summary: Summary, sides: Sides) -> str:
    """Return a verdict in one sentence: effect, interval, validity, publication and limits."""
    pieces = [
        _effect(verdict, context),
        *filter(None, (context.remark, verdict.why)),
        *_doubts(verdict),
        *_validity(verdict, context.instance),
        *_disturbed(verdict, sides),
        *_placebo(summary, sides),
        "" if verdict.estimate.value is None else published(context.claim, context.unit),
        ", ".join(verdict.limitations),
    ]
    return "; ".join(filter(None, pieces)) + "."


def limits(summary: Summary, sides: Sides) -> tuple[str, ...]:
    """Return the limits of a verdict: loads, conditions, machine and day."""
    loads = dict.fromkeys(_load(case.load) for case in sides.all)
    checks = [finding.check for case in sides.all for finding in case.findings]
    scenarios = {case.case.scenario for case in sides.all}
    several = len(scenarios) > 1
    return (
        " against ".join(loads),
        *(["in turns"] if any(case.in_turns for case in sides.all) else []),
        *(["co-located"] if any(check.topic == "co-located" for check in checks) else []),
        *(["not measured back to back: the sides are in different scenarios"] if several else []),
        *([] if summary.complete else ["not all that was planned is measured"]),
        "this machine",
        f"{summary.created:%Y-%m-%d}",
    )


def _load(load: Load | None) -> str:
    if load is None:
        return "the load is not known"
    if load.stages:
        return load.stages
    if load.rate is not None:
        return f"{exact(load.rate)} requests/s kept"
    if load.kind == "client":
        many = load.concurrency not in {None, 1}
        return f"a client, {load.concurrency} at once" if many else "one client"
    if load.connections is None:
        return "closed loop"
    return f"closed loop, {counted(load.connections, 'connection')}"


def _effect(verdict: Verdict, context: VerdictContext) -> str:
    a, b = _names(context.instance)
    metric = titled(context.claim.metric, context.claim.of)
    estimate, factor = verdict.estimate, context.claim.hypothesis.bound
    if estimate.value is None:
        return f"{metric} of {a}" + (f" and of {b}" if b else "")
    if verdict.sides:
        shares = (_share(side, name) for side, name in zip(verdict.sides, (a, b), strict=False))
        return f"{metric}: {', '.join(shares)}, by counts"
    if estimate.method == "paired t of log-ratios":
        return f"{a} has {times(estimate.value)}x the {metric} of {b}{_sure(verdict, '1')}"
    difference = amount(context.unit, estimate.value)
    sure, form = _sure(verdict, context.unit), context.claim.hypothesis.form
    if b:
        factor_text = f"{exact(factor)} times " if form == "ratio" and factor != 1 else ""
        return f"{metric} of {a} less {factor_text}that of {b} is {difference}{sure}"
    return f"{metric} of {a} is {difference}{sure}, within this session"


def _share(estimate: Estimate, name: str) -> str:
    if estimate.value is None or estimate.interval is None:
        return f"{name} unknown"
    low, high = estimate.interval
    requests = f"of {exact(estimate.n)} requests"
    if not estimate.value:
        return f"{name} 0 {requests} (below {percent(high)})"
    ends = f"{percent(low)}\N{EN DASH}{percent(high)}"
    return f"{name} {percent(estimate.value)} {requests} ({ends})"


def _sure(verdict: Verdict, unit: str) -> str:
    estimate = verdict.estimate
    blocks = counted(estimate.n, "block")
    if estimate.interval is None:
        return f" ({blocks}: {estimate.why})"
    ends = estimate.interval
    low, high = map(times, ends) if unit == "1" else amounts(unit, *ends)
    name = "adjusted p" if verdict.family_size > 1 else "p"
    p = verdict.p_adjusted
    sure = "" if p is None else f", {name} {_p(p)}"
    return f" ({percent(estimate.level)} CI {low}\N{EN DASH}{high}, {blocks}{sure})"


def _p(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"= {figure(p)}"  # noqa: PLR2004 - less is not to be told apart


def _doubts(verdict: Verdict) -> Iterator[str]:
    if verdict.fragile:
        yield "fragile: what no outlier can move says otherwise"
    if verdict.blocks_needed is not None:
        yield blocks_that_tell(verdict.blocks_needed, len(verdict.blocks))
    if verdict.rejected_blocks and verdict.state != "invalid":
        left_out = len(verdict.rejected_blocks)
        yield f"{counted(left_out, 'block')} left out"


def _validity(verdict: Verdict, instance: ClaimInstance) -> Iterator[str]:
    """Yield what one side alone did, then that the verdict is valid, and the warnings."""
    if verdict.state == "invalid":
        return
    (a, b), named = _names(instance), dict[str, None]()
    for objection in verdict.objections:
        if instance.b is not None and one_sided(objection):
            yield f"{a if objection.side == 'a' else b} alone: {_called(objection, 'warn')}"
        elif objection.check.topic != "co-located":
            named[_called(objection)] = None
    many = counted(len(named), "warning")
    yield f"valid with {many} ({', '.join(named)})" if named else "valid"


def _disturbed(verdict: Verdict, sides: Sides) -> Iterator[str]:
    """Yield what others left to each side, and the ratio had they left both as much."""
    if not verdict.disturbed or verdict.state == "invalid":
        return
    shares = []
    for side, case in zip("ab", sides.all, strict=False):
        free = left_to(case)
        share = fmean(free[block] for block in free if block in verdict.disturbed)
        shares.append(f"{percent(share)} to {side}")
    rest = conjoined(shares)
    level = verdict.undisturbed
    also = "" if level is None or level.value is None else f" ({times(level.value)}x if even)"
    blocks = f"{len(verdict.disturbed)} of {len(verdict.blocks)} blocks"
    yield f"disturbed in {blocks}: others left {rest} of the CPUs{also}; without them it may differ"


def _called(objection: Objection, warned: str = "") -> str:
    """Return a check by its name, and that it failed; a warning is called one where asked to."""
    status = "fail" if objection.check.status == "fail" else warned
    return " ".join(filter(None, (status, objection.check.id, objection.check.name)))


def _placebo(summary: Summary, sides: Sides) -> Iterator[str]:
    scenarios = {case.case.scenario for case in sides.all}
    for placebo in summary.placebos:
        ratio = placebo.ratio
        if placebo.case.scenario in scenarios and ratio.value is not None and ratio.interval:
            low, high = ratio.interval
            ends = f"{times(low)}\N{EN DASH}{times(high)}"
            yield f"placebo today {times(ratio.value)} ({ends})"


def published(claim: Claim, unit: str) -> str:
    """Return the published value of a claim in words; empty without one."""
    if claim.published is None:
        return ""
    if claim.hypothesis.form == "ratio":
        return f"published: {exact(claim.published)}x"
    return f"published: {amount(unit, claim.published)}"


def _names(instance: ClaimInstance) -> tuple[str, str]:
    """Return the names of the sides, by the axes in which their cases differ."""
    cases = [_coordinates(case) for case in instance.cases]
    axes = list(dict.fromkeys(axis for coordinates in cases for axis in coordinates))
    differ = [axis for axis in axes if len({of_case.get(axis) for of_case in cases}) > 1]
    differ = differ or ["server"]
    terms = [term.cases for term in (instance.a, instance.b) if term is not None]
    a, *b = (" less ".join(_named(case, differ) for case in of_term) for of_term in terms)
    return a, "".join(b)


def _named(case: CaseName, differ: Sequence[str]) -> str:
    coordinates = _coordinates(case)
    words = [
        coordinates[axis] if axis in _LABELS else f"{axis.rpartition('.')[2]}={coordinates[axis]}"
        for axis in differ
        if axis in coordinates
    ]
    return " ".join(words) or case.server


_LABELS = ("server", "driver", "scenario")


def _coordinates(case: CaseName) -> dict[str, str]:
    labels = {"server": case.server, "driver": case.driver, "scenario": case.scenario}
    return labels | {path: str(value) for path, value in case.vary.items()}
