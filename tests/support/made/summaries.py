"""Summaries made by hand: cases with a value a block, for what judges and shows them."""

from collections.abc import Mapping, Sequence
from typing import Any

from made import plain
from pydantic import JsonValue

from benchforge.checks.limits import limits
from benchforge.model.suite.claim import Claim, ClaimInstance, Term
from benchforge.model.summary import summary as model
from benchforge.model.trial.check import Check
from benchforge.model.trial.reading import Load
from benchforge.model.trial.sample import Sample
from benchforge.model.trial.trial import Failure
from benchforge.model.values.case_name import CaseName
from benchforge.suite.claims.read import question

Value = float | Sample | None
"Of a block: a number, unknown, or a sample of its own."


def name(server: str, scenario: str = "hello", **vary: JsonValue) -> CaseName:
    return plain.named(server, scenario=scenario, driver="pace", vary=vary)


def case(
    server: str,
    values: Sequence[Value],
    *,
    metric: str = "speed",
    unit: str = "requests/s",
    use: str = "throughput",
    label: str | None = None,
    scenario: str = "hello",
    doubted: Mapping[int, str] | None = None,
    disturbed: Mapping[int, float] | None = None,
    failed: Mapping[int, Failure] | None = None,
    findings: Sequence[Check] = (),
    **more: Any,
) -> model.CaseSummary:
    """Return a case whose blocks have these values, from 1; a failed block has no sample.

    Of what others disturbed it is given what share of the CPUs they left.
    """
    broken = failed or {}
    samples = {
        block: _sample(value, metric, unit, label)
        for block, value in enumerate(values, 1)
        if block not in broken
    }
    line = plain.line(
        metric, unit, use=use, of=label, samples=plain.samples(samples), why="made by hand"
    )
    attempts = max(1, len(values))
    doubts = [_doubt(block, check(id_, "apparatus")) for block, id_ in (doubted or {}).items()]
    doubts += [
        _doubt(block, check("N1", "apparatus", value=1 - rest), disturbed=True)
        for block, rest in (disturbed or {}).items()
    ]
    return plain.case(
        name(server, scenario),
        line,
        trials=len(samples),
        planned=len(values),
        failed=tuple(
            model.FailedTrial(trial=block, block=block, attempt=1, failure=reason)
            for block, reason in broken.items()
        ),
        findings=tuple(
            model.CaseFinding(check=item, trials=1, attempts=attempts) for item in findings
        ),
        doubted=tuple(doubts),
        load=Load(connections=16),
        **more,
    )


def _doubt(block: int, doubt: Check, *, disturbed: bool = False) -> model.DoubtedTrial:
    return model.DoubtedTrial(
        trial=block, block=block, attempt=1, checks=(doubt,), used=True, disturbed=disturbed
    )


def _sample(value: Value, metric: str, unit: str, label: str | None) -> Sample:
    if isinstance(value, Sample):
        return value
    text = "" if value is not None else "the tool lost count"
    return Sample(metric=metric, unit=unit, value=value, of=label, why=text)


def check(id_: str, about: Any, status: Any = "fail", **more: Any) -> Check:
    by_id = limits().by_id
    limit = by_id.get(f"{id_}.{more.get('component')}") or by_id.get(id_)
    options = {"scope": "trial", "name": id_.lower(), "message": f"{id_} says so", **more}
    topic = limit.topic if limit else ""
    return Check(id=id_, subject=about, status=status, topic=topic, **options)


def claim(
    holds: str,
    a: str = "a",
    b: str | None = "b",
    *,
    label: str = "C",
    unit: str = "requests/s",
    scenario: str = "hello",
    margin: float = 0.03,
    **more: Any,
) -> Claim:
    other = None if b is None else Term(case=name(b, scenario))
    return Claim(
        label=label,
        metric=more.pop("metric", "speed"),
        hypothesis=question(holds, unit),
        margin=margin,
        instances=more.pop("instances", (ClaimInstance(a=Term(case=name(a, scenario)), b=other),)),
        **more,
    )


def summary(*cases: model.CaseSummary, claims: Sequence[Claim] = (), **more: Any) -> model.Summary:
    return plain.summary(*cases, claims=tuple(claims), **more)


def comparison(checks: Sequence[Check], *servers: str) -> model.Comparison:
    names = tuple(map(name, servers))
    return model.Comparison(
        scenario="hello", driver="pace", vary={}, cases=names, checks=tuple(checks)
    )
