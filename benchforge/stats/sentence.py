"""All of a verdict in one sentence, for a person."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from benchforge.model.claim import Asked, Claim, Term
from benchforge.model.summary import Summary
from benchforge.model.titled import titled
from benchforge.model.trial import CaseName, Load
from benchforge.model.verdict import Against, Estimate, Verdict
from benchforge.stats.against import Sides, one_sided
from benchforge.stats.amounts import amount, amounts, number, percent

_CO_LOCATED = "P1"
_SHARES = ("Clopper-Pearson", "rule of three")


class Told(NamedTuple):
    """What a sentence is made of, beside the verdict."""

    claim: Claim
    asked: Asked
    unit: str
    "Of the metric."
    remark: str


def sentence(verdict: Verdict, told: Told, summary: Summary, sides: Sides) -> str:
    """Return what was found, how sure, whether it is valid, what was published, and of what."""
    pieces = [
        _found(verdict, told),
        *filter(None, (told.remark, verdict.why)),
        *_doubts(verdict),
        *_validity(verdict, told.asked),
        *_placebo(summary, sides),
        *_published(verdict, told),
        ", ".join(verdict.limits),
    ]
    return "; ".join(filter(None, pieces)) + "."


def limits(summary: Summary, sides: Sides) -> tuple[str, ...]:
    """Return what a verdict is about and does not go beyond."""
    loads = dict.fromkeys(_load(one.load) for one in sides.all)
    found = [one.check for case in sides.all for one in case.findings]
    scenarios = {one.case.scenario for one in sides.all}
    several = len(scenarios) > 1
    return (
        " against ".join(loads),
        *(["co-located"] if any(one.id == _CO_LOCATED for one in found) else []),
        *(["not measured back to back: the sides are in different scenarios"] if several else []),
        *([] if summary.complete else ["not all that was planned is measured"]),
        "this machine",
        f"{summary.created:%Y-%m-%d}",
    )


def _load(load: Load | None) -> str:
    if load is None:
        return "the load is not known"
    if load.rate is not None:
        return f"{number(load.rate)} requests/s kept"
    if load.kind == "client":
        return "one client" if load.at_once in {None, 1} else f"a client, {load.at_once} at once"
    if load.connections is None:
        return "closed loop"
    return f"closed loop, {load.connections} connection{'s' if load.connections > 1 else ''}"


def _found(verdict: Verdict, told: Told) -> str:
    """Return the effect, with its interval where it has one."""
    a, b = _names(told.asked)
    metric = titled(told.claim.metric, told.claim.of)
    found, factor = verdict.estimate, told.claim.question.bound
    if found.value is None:
        return f"{metric} of {a}" + (f" and of {b}" if b else "")
    if verdict.sides:
        shares = (_share(one, name) for one, name in zip(verdict.sides, (a, b), strict=False))
        return f"{metric}: {', '.join(shares)}, by counts"
    if found.method == "paired t of log-ratios":
        return f"{a} has {number(found.value)}x the {metric} of {b}{_sure(verdict, '1')}"
    shown = amount(told.unit, found.value)
    sure, form = _sure(verdict, told.unit), told.claim.question.form
    if b:
        times = f"{number(factor)} times " if form == "ratio" and factor != 1 else ""
        return f"{metric} of {a} less {times}that of {b} is {shown}{sure}"
    return f"{metric} of {a} is {shown}{sure}, within this session"


def _share(one: Estimate, name: str) -> str:
    if one.value is None or one.interval is None:
        return f"{name} unknown"
    low, high = one.interval
    of = f"of {one.n:,} requests"
    if not one.value:
        return f"{name} 0 {of} (below {percent(high)})"
    return f"{name} {percent(one.value)} {of} ({percent(low)}\N{EN DASH}{percent(high)})"


def _sure(verdict: Verdict, unit: str) -> str:
    found = verdict.estimate
    blocks = f"{found.n} block{'s' if found.n > 1 else ''}"
    if found.interval is None:
        return f" ({blocks}: {found.why})"
    low, high = amounts(unit, *found.interval)
    holm = "Holm p" if verdict.family > 1 else "p"
    p = verdict.p_adjusted
    sure = "" if p is None else f", {holm} {_p(p)}"
    return f" ({100 * found.level:g} % CI {low}\N{EN DASH}{high}, {blocks}{sure})"


def _p(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"= {p:.2g}"  # noqa: PLR2004 - less is not to be told apart


def _doubts(verdict: Verdict) -> Iterator[str]:
    if verdict.fragile:
        yield "fragile: what no outlier can move says otherwise"
    if verdict.needs is not None:
        yield f"about {verdict.needs:,} blocks would tell"
    if verdict.rejected and verdict.state != "invalid":
        left_out = len(verdict.rejected)
        yield f"{left_out} block{'s' if left_out > 1 else ''} left out"


def _validity(verdict: Verdict, asked: Asked) -> Iterator[str]:
    """Say what one side alone did, then that it is valid, and what speaks against it beside."""
    if verdict.state == "invalid":
        return
    a, b = _names(asked)
    alone = [one for one in verdict.against if one_sided(one)] if asked.b is not None else []
    for one in alone:
        yield f"{a if one.side == 'a' else b} alone: {_called(one, 'warn')}"
    rest = [one for one in verdict.against if one not in alone and one.check.id != _CO_LOCATED]
    named = list(dict.fromkeys(_called(one) for one in rest))
    many = f"{len(named)} warning{'s' if len(named) > 1 else ''}"
    yield f"valid with {many} ({', '.join(named)})" if named else "valid"


def _called(one: Against, warned: str = "") -> str:
    """Return a check by its name, and that it failed; a warning is called one where asked to."""
    status = "fail" if one.check.status == "fail" else warned
    return " ".join(filter(None, (status, one.check.id, one.check.name)))


def _placebo(summary: Summary, sides: Sides) -> Iterator[str]:
    scenarios = {one.case.scenario for one in sides.all}
    for one in summary.placebos:
        if one.of.scenario in scenarios and one.ratio.value is not None and one.ratio.interval:
            low, high = one.ratio.interval
            ends = f"{number(low)}\N{EN DASH}{number(high)}"
            yield f"placebo today {number(one.ratio.value)} ({ends})"


def _published(verdict: Verdict, told: Told) -> Iterator[str]:
    if (said := published(told.claim, told.unit)) and verdict.estimate.value is not None:
        yield said


def published(claim: Claim, unit: str) -> str:
    """Return what a source says; empty where it is not known."""
    if claim.published is None:
        return ""
    if claim.question.form == "ratio":
        return f"published: {number(claim.published)}x"
    return f"published: {amount(unit, claim.published)}"


def _names(asked: Asked) -> tuple[str, str]:
    """Return what to call the sides: by what tells their cases apart."""
    cases = [_coordinates(one) for one in asked.cases]
    axes = list(dict.fromkeys(axis for one in cases for axis in one))
    differ = [axis for axis in axes if len({one.get(axis) for one in cases}) > 1] or ["server"]
    return _term(asked.a, differ), "" if asked.b is None else _term(asked.b, differ)


def _term(term: Term, differ: Sequence[str]) -> str:
    return " less ".join(_named(one, differ) for one in term.cases)


def _named(case: CaseName, differ: Sequence[str]) -> str:
    told = _coordinates(case)
    words = [
        told[axis] if axis in _LABELS else f"{axis.rpartition('.')[2]}={told[axis]}"
        for axis in differ
        if axis in told
    ]
    return " ".join(words) or case.server


_LABELS = ("server", "driver", "scenario")


def _coordinates(case: CaseName) -> dict[str, str]:
    labels = {"server": case.server, "driver": case.driver, "scenario": case.scenario}
    return labels | {path: str(value) for path, value in case.vary.items()}
