"""What a run shows after each block: whoever stops at one is seldom misled."""

from io import StringIO
from random import Random
from typing import Any, cast

import pytest
from made.simulate import by_block, share, tolerance, two
from made.summaries import case, claim, comparison, summary

from benchforge.cli.console.progress import ProgressLine
from benchforge.model.suite.claim import Claim
from benchforge.model.summary.ranking import MetricRanking
from benchforge.stats.inference.holm import ranking
from benchforge.stats.inference.stopping import Stop
from benchforge.stats.verdict.interim import InterimAnswer, interim
from benchforge.stats.verdict.judge import judged
from benchforge.suite.plan import RunGraph

BLOCKS, TIMES = 8, 400
LOOKED_AT = Stop().while_it_runs


def shown(a: list[float], b: list[float], *claims: Claim) -> list[InterimAnswer]:
    return [*interim(judged(summary(case("a", a), case("b", b), claims=claims), LOOKED_AT))]


@pytest.mark.samples(1)
@pytest.mark.parametrize(
    ("holds", "truth", "wrong"),
    [("a > b", 1.0, "holds"), ("a < b", 1.0, "holds"), ("a >= 2 * b", 1.94, "holds")],
)
def test_an_early_stop_errs_in_one_of_twenty(holds: str, truth: float, wrong: str) -> None:
    request = claim(holds)

    def misled(draw: Random) -> bool:
        a, b = two(draw, BLOCKS, truth, outliers=0)
        return any(
            answer.state == wrong
            for n in range(3, BLOCKS + 1)
            for answer in shown(a[:n], b[:n], request)
        )

    assert share(TIMES, 1, misled) <= 0.05 + tolerance(0.05, TIMES)


def test_what_is_clear_is_answered_at_the_first_look_and_said_with_its_interval() -> None:
    a, b = [200.0, 204.0, 199.0], [100.0, 101.0, 100.5]
    (answer,) = shown(a, b, claim("a > b"))
    assert (answer.about, answer.state) == ("C", "holds")
    assert answer.estimate.interval == pytest.approx((1.909, 2.095), abs=0.001)
    (fails,) = shown(a, b, claim("a < b"))
    assert fails.state == "fails"
    (open_,) = shown(a, b, claim("a > 2 * b"))
    assert open_.state == "open"


def test_too_few_blocks_have_no_answer_and_a_comparison_without_claims_has_its_best_two() -> None:
    (answer,) = shown([2.0, 3.0], [1.0, 1.1], claim("a > b"))
    assert answer.estimate.why == "2 blocks have believed values, it takes 3"
    assert [*shown([2.0, 2.1, 2.0], [1.0, 1.1, 1.0])] == []  # made by hand: it has no ranking


def test_many_answers_are_one_line() -> None:
    (holds,) = shown([200.0, 204.0, 199.0], [100.0, 101.0, 100.5], claim("a > b"))
    ends = [holds] * 14 + [holds._replace(state="fails")] + [holds._replace(state="open")] * 5
    many = [end._replace(about=f"C{number}") for number, end in enumerate(ends, 1)]
    printed = StringIO()
    ProgressLine(cast("RunGraph", _Planned()), printed).answers(3, many)
    names = ", ".join(f"C{number}" for number in range(1, 13))
    line, remark = printed.getvalue().splitlines()
    assert "Ctrl-C ends the run" in remark
    assert line == (
        f"after 3 of 8 rounds, of 20 questions: 14 hold so far ({names}, and 2 more), "
        "1 fail (C15), 5 are undecided"
    )


class _Planned(list[int]):
    until, blocks = None, BLOCKS


def test_of_three_servers_the_best_is_compared_with_each_other() -> None:
    speeds = {"b": [100.0, 101.0, 100.5], "a": [200.0, 204.0, 199.0], "c": [50.0, 51.0, 50.2]}
    fields: dict[str, Any] = {"metric": "speed", "of": None, "unit": "1/s", "blocks": 3}
    order = ranking(by_block(speeds), stop=LOOKED_AT)
    ranked = MetricRanking(ranking=order, target=0.03, **fields)
    three = comparison((), *speeds).model_copy(update={"rankings": (ranked,)})
    bare = summary(*(case(*item) for item in speeds.items()), comparisons=(three,))
    shown_answers = [*interim(bare)]
    assert [answer.about for answer in shown_answers] == ["a / b", "a / c"]
    printed = StringIO()
    ProgressLine(cast("RunGraph", _Planned()), printed).answers(3, shown_answers)
    lines = printed.getvalue().splitlines()
    assert lines[0] == "after 3 of 8 rounds, of 2 questions: 2 differ so far (a / b, a / c)"
