"""Kinds and stages in reports: what a claim is about, and why a number of a part is unknown."""

from typing import Any

import pytest
from benchforge_reporters.document.claims import claim_lines
from made import plain, summaries
from made.summaries import name

from benchforge.model.suite.claim import ClaimInstance, Term
from benchforge.model.summary.summary import Summary
from benchforge.model.trial.sample import Sample
from benchforge.stats.verdict.judge import judged

FEW = "only 40 responses: p99 needs 1000"


def _with_parts(server: str, **parts: Any) -> Any:
    return summaries.case(server, [100.0, 101.0, 99.0, 100.5]).model_copy(update=parts)


def _result(a: Any, b: Any | None) -> Summary:
    unknown = Sample(metric="speed", unit="requests/s", value=None, why=FEW)
    line = plain.line(
        "speed", "requests/s", samples=plain.samples(dict.fromkeys(range(1, 5), unknown)), why=FEW
    )
    rare, often = (line,), summaries.case("x", [50.0, 51.0, 49.0, 50.5]).metrics
    cases = [
        _with_parts("shop", kinds={"list": often, "rare": rare}, stages=(often, rare)),
        _with_parts("other", kinds={"list": often, "rare": rare}),
    ]
    instance = ClaimInstance(a=Term(case=a), b=None if b is None else Term(case=b))
    claim = summaries.claim("a < 100" if b is None else "a > b", instances=(instance,))
    return judged(summaries.summary(*cases, claims=[claim]))


@pytest.mark.parametrize(
    ("a", "b", "says"),
    [
        (name("shop"), name("other"), "shop > other (all kinds)"),
        (name("shop").of_kind("list"), name("other").of_kind("list"), "shop > other (list)"),
        (name("shop").of_kind("list"), name("shop").of_kind("rare"), "list > rare"),
        (name("shop").of_kind("list"), name("shop"), "list > all kinds"),
        (name("shop").of_stage(2), name("shop").of_stage(1), "stage 2 > stage 1"),
        (name("shop").of_kind("list"), name("other").of_kind("rare"), "shop list > other rare"),
        (name("shop").of_stage(1), None, "shop < 100 (stage 1)"),
        (name("shop"), None, "shop < 100 (all kinds)"),
    ],
)
def test_a_claim_names_the_kind_or_stage_that_it_is_about(a: Any, b: Any, says: str) -> None:
    (line,) = claim_lines(_result(a, b))
    assert line.hypothesis == says


def test_a_claim_about_a_rare_kind_says_how_many_responses_it_lacks() -> None:
    (line,) = claim_lines(_result(name("shop").of_kind("rare"), None))
    assert line.state == "invalid"
    assert line.remark.startswith(f"rare, in 4 of 4 trials of shop: {FEW}; a longer load, ")
    (line,) = claim_lines(_result(name("shop").of_kind("list"), None))
    assert FEW not in line.remark
