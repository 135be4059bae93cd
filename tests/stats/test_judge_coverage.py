"""How often verdicts are wrong, on runs whose truth is known, through all of the judge.

Model B of `simulate`: drift from block to block, noise, and one trial in twenty at 20 % less. Seeds
are fixed; what chance may add is three binomial standard deviations.
"""

import math
from itertools import permutations
from random import Random

import pytest
from made.simulate import blocks, share, tolerance, two
from made.summaries import case, claim, name, summary

from benchforge.model.suite.claim import ClaimInstance, Term
from benchforge.stats.verdict.judge import judge

FALSE = 0.06
TIMES = 1000


def at_most(share_: float, times: int) -> bool:
    return share_ <= FALSE + tolerance(FALSE, times)


# With these truths of a / b nothing but "inconclusive" and the other answer is right.
@pytest.mark.parametrize(
    ("holds", "truth", "wrong"),
    [
        ("a > b", 1.0, "holds"),
        ("a < b", 1.0, "holds"),
        ("a > b", 1.03, "fails"),
        ("a < b", 1 / 1.03, "fails"),
        ("a >= b", 1 / 1.03, "holds"),
        ("a >= 2 * b", 2.0 / 1.03, "holds"),
        ("a > 2 * b", 2.0, "holds"),
        ("a == b +- 3%", 1.03, "holds"),
        ("a == b +- 3%", 1.03, "fails"),
        ("a - b < 20/s", 1.02, "holds"),
        ("a - b < 20/s", 1.02, "fails"),
    ],
)
@pytest.mark.parametrize("n", [3, 8])
def test_a_verdict_is_seldom_wrong(holds: str, truth: float, wrong: str, n: int) -> None:
    # A difference of rates drifts as they do: it is asked where that is little beside the noise.
    told = claim(holds)

    def is_wrong(draw: Random) -> bool:
        a, b = two(draw, n, truth)
        if told.hypothesis.form == "difference":
            a = [20 + one + 1000 * draw.gauss(0, 0.02) for one in b]
        return judge(summary(case("a", a), case("b", b)), [told])[0].state == wrong

    found = share(TIMES, n, is_wrong)
    assert at_most(found, TIMES), found


@pytest.mark.parametrize("wrong", ["holds", "fails"])
def test_a_value_is_seldom_wrong_within_its_session(wrong: str) -> None:
    told = claim("a < 1k/s", b=None)

    def is_wrong(draw: Random) -> bool:
        values = [1000 * math.exp(draw.gauss(0, 0.02)) for _ in range(8)]
        return judge(summary(case("a", values)), [told])[0].state == wrong

    assert at_most(share(TIMES, 8, is_wrong), TIMES)


@pytest.mark.parametrize(("k", "times"), [(4, 400), (8, 150)])
def test_a_family_of_equal_servers_is_seldom_told_apart(k: int, times: int) -> None:
    servers = [f"s{number}" for number in range(k)]
    claims = [
        claim(
            "a > b",
            label=f"{a}-{b}",
            instances=(ClaimInstance(a=Term(case=name(a)), b=Term(case=name(b))),),
        )
        for a, b in permutations(servers, 2)
    ]

    def one_holds(draw: Random) -> bool:
        table = blocks(draw, 8, [1.0] * k)
        cases = [case(label, values) for label, values in zip(servers, table, strict=True)]
        return any(one.state == "holds" for one in judge(summary(*cases), claims))

    found = share(times, k, one_holds)
    assert at_most(found, times), found


def test_what_differs_is_found() -> None:
    """The other side of it: a judge that never answers is never wrong."""
    told = [claim("a > b"), claim("a == b +- 10%", label="E"), claim("a < b", label="N")]

    def all_found(draw: Random) -> bool:
        a, b = two(draw, 10, 1.06, noise=0.01, outliers=0)
        states = [one.state for one in judge(summary(case("a", a), case("b", b)), told)]
        return states == ["holds", "holds", "fails"]

    assert share(300, 1, all_found) > 0.9
