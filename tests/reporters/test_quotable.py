"""What may be quoted: never all of it beside an invalid cause, and levels never where noise was."""

import pytest
from benchforge_reporters.document.document import document
from benchforge_reporters.document.quotable import Quotable
from hypothesis import given
from hypothesis import strategies as st
from made import plain
from made.shown import line

from benchforge.model.summary.cause import Cause, FoldedFinding
from benchforge.model.summary.metric_ranking import MetricRanking
from benchforge.model.summary.ranking import Pair, RankedServer, Ranking
from benchforge.model.summary.summary import Comparison, DoubtedTrial, Summary
from benchforge.model.summary.verdict import Estimate
from benchforge.model.trial.check import Check

NAMES = ("north", "south")


def check(id_: str, **fields: object) -> Check:
    plain_fields = {"scope": "trial", "subject": "apparatus", "status": "fail", "message": "it was"}
    return Check.model_validate({"id": id_, **plain_fields, **fields})


NOISE = check("N1", topic="others", value=0.3)
ERRORS = check("E1", subject="behaviour")
UNLIKE = check("K1", scope="comparison", subject="behaviour", status="warn", topic="alike")


def summary(*causes: Check, audience: str = "invalid", disturbed: bool = False) -> Summary:
    """Return a summary of two servers that differ, with causes, and disturbed trials or none."""
    ratio = Estimate(
        method="paired t of log-ratios", level=0.95, n=8, value=1.8, low=1.7, high=1.9, why=""
    )
    pair = {"first": "north", "second": "south", "ratio": ratio, "simultaneous": ratio}
    ranking = Ranking(
        level=0.95,
        better="higher",
        order=tuple(
            RankedServer(server=name, value=ratio, letters=letter, best=place, worst=place)
            for place, (name, letter) in enumerate(zip(NAMES, "ab", strict=True), 1)
        ),
        pairs=(Pair.model_validate({**pair, "p_holm": 0.001, "differ": True}),),
    )
    rate = line("throughput", "requests/s", 90.0, 100.0, 110.0)
    rate = rate.model_copy(update={"measurand": "responses per second"})
    doubts = DoubtedTrial(trial=1, block=1, attempt=1, checks=(NOISE,), used=True, disturbed=True)
    cases = [plain.case(plain.named(name), rate) for name in NAMES]
    if disturbed:
        cases[0] = cases[0].model_copy(update={"doubted": (doubts,)})
    fields = {"metric": "throughput", "of": None, "unit": "requests/s", "blocks": 8, "target": 0.03}
    comparison = Comparison(
        scenario=cases[0].case.scenario,
        driver=cases[0].case.driver,
        vary={},
        cases=tuple(case.case for case in cases),
        checks=tuple(one for one in causes if one.scope == "comparison"),
        rankings=(MetricRanking.model_validate({**fields, "ranking": ranking, "why": ""}),),
    )
    made = tuple(
        Cause.model_validate(
            {
                "id": one.id,
                "audience": audience,
                "state": "open",
                "count": 1,
                "findings": (
                    FoldedFinding(check=one, count=1, scenario=comparison.scenario, trials=(1,)),
                ),
            }
        )
        for one in causes
    )
    update = {"comparisons": (comparison,), "causes": made}
    return plain.summary(*cases).model_copy(update=update)


def quoted(of: Summary) -> Quotable:
    return document(of, ()).quotable


@pytest.mark.parametrize(
    ("result", "state", "sentence"),
    [
        (summary(), "good", "Yes."),
        (summary(NOISE, audience="limits"), "good", "Yes, with the reservation below."),
        (summary(NOISE, disturbed=True), "limits", "Comparison: yes. Requests/s and times: no."),
        (summary(ERRORS), "bad", "Comparison: no. Requests/s and times: no."),
        (
            summary(UNLIKE, audience="limits"),
            "limits",
            "Comparison: no, not alike. Requests/s and times: yes.",
        ),
        (
            summary().model_copy(update={"smoke": True}),
            "bad",
            "No: this was a smoke run.",
        ),
    ],
)
def test_each_part_is_said(result: Summary, state: str, sentence: str) -> None:
    assert quoted(result) == Quotable(state, sentence)  # type: ignore[arg-type]


def three(*causes: Check) -> Summary:
    """Return a summary in which a third server surely serves less, and two are undecided."""
    of_two = summary(*causes)
    (comparison,) = of_two.comparisons
    (ranked,) = comparison.rankings
    assert ranked.ranking is not None
    (pair,) = ranked.ranking.pairs
    close = Estimate(
        method="paired t of log-ratios", level=0.95, n=8, value=1.1, low=0.8, high=1.5, why=""
    )
    undecided = {"ratio": close, "simultaneous": close, "p_holm": 0.4, "differ": False}
    order = ranked.ranking.order
    tied = [one.model_copy(update={"letters": "a", "best": 1, "worst": 2}) for one in order]
    last = order[0].model_copy(update={"server": "west", "letters": "b", "best": 3, "worst": 3})
    pairs = (
        pair.model_copy(update=undecided),
        *(pair.model_copy(update={"first": name, "second": "west"}) for name in NAMES),
    )
    ranking = ranked.ranking.model_copy(update={"order": (*tied, last), "pairs": pairs})
    cases = (*of_two.cases, plain.case(plain.named("west"), *of_two.cases[0].metrics))
    rankings = (ranked.model_copy(update={"ranking": ranking}),)
    names = tuple(case.case for case in cases)
    compared = comparison.model_copy(update={"cases": names, "rankings": rankings})
    return of_two.model_copy(update={"cases": cases, "comparisons": (compared,)})


def test_the_decided_pairs_of_an_undecided_comparison_are_named() -> None:
    sentence = quoted(three()).sentence
    assert sentence.startswith("Comparison: only of north and south with west; the others are")
    unlike = document(three(UNLIKE), ())
    assert unlike.quotable.sentence.startswith("Comparison: no")
    assert any(one.startswith("Do not quote the diff") for one in unlike.answers[0].sentences)


@given(
    st.lists(st.sampled_from([NOISE, ERRORS, UNLIKE]), unique_by=lambda one: one.id),
    st.sampled_from(["invalid", "limits", "setup", "expert"]),
    st.booleans(),
)
def test_what_is_invalid_or_disturbed_is_never_quoted_whole(
    causes: list[Check], audience: str, disturbed: bool
) -> None:
    shown = quoted(summary(*causes, audience=audience, disturbed=disturbed))
    invalid = audience == "invalid" and causes
    if invalid or disturbed or UNLIKE in causes:
        assert not shown.sentence.startswith("Yes")
        assert shown.state != "good"
    if invalid or disturbed:
        assert "times: yes" not in shown.sentence
    if UNLIKE in causes or (audience == "invalid" and ERRORS in causes):
        assert "Comparison: no" in shown.sentence
    if not causes and not disturbed:
        assert shown.sentence == "Yes."
