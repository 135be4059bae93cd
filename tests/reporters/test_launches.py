"""The scatter between launches, and the load of a launch that needs the least time."""

import math
import random

import pytest
from benchforge_reporters.document.next_step import LaunchScatter, _groups, _scatter
from benchforge_reporters.document.next_step import launches as said
from hypothesis import given
from hypothesis import strategies as st
from made import plain, summaries
from made.turns import turns
from present import present

from benchforge.model.trial.trial import Trial

ROUNDS = 20
SHARES, SECONDS = st.floats(1e-6, 1), st.floats(0.1, 10)


def launched(count: int, between: float, within: float, seed: int = 1) -> list[Trial]:
    """Return launches of two equal servers whose log-rates scatter by these deviations."""
    rng, trials = random.Random(seed), []
    for block in range(1, count + 1):
        numbers = 2 * block - 1, 2 * block
        for number, server in zip(numbers, ("one", "other"), strict=True):
            level = rng.gauss(0, between / math.sqrt(2))
            logs = [level + rng.gauss(0, within) for _ in range(ROUNDS)]
            took = turns(*[round(1e6 * math.exp(log)) for log in logs], trials=numbers)
            case, named = plain.named(server), {"number": number, "block": block, "turns": took}
            trials.append(plain.trial(case=case, reading=plain.reading(), **named, seconds=8))
    return trials


def launches(trials: list[Trial]) -> str:
    return said(plain.summary(profile="claims"), trials)


@pytest.mark.parametrize(
    ("between", "within", "share"), [(0.05, 0.05, 0.91), (0.0, 0.05, 0.0), (0.01, 0.0447, 0.33)]
)
def test_the_share_between_launches_is_that_of_the_simulation(
    between: float, within: float, share: float
) -> None:
    (group,) = _groups(launched(400, between, within))
    actual, low, high = present(_scatter(group)).shares
    assert actual == pytest.approx(share, abs=0.12)
    assert low <= share <= high


def test_of_eight_launches_a_share_of_nothing_may_be_half() -> None:
    """Recorded: eight launches of ten pairs of rounds, which explain more than there is."""
    actual, low, high = LaunchScatter(8, 0.00861**2, 0.01041**2, 2, 2, 10).shares
    assert (actual, low) == (0, 0)
    assert high == pytest.approx(0.555, abs=0.01)


@pytest.mark.parametrize(("count", "share"), [(4, "53 %"), (8, "31 %"), (9, "")])
def test_what_few_blocks_cannot_show_is_said_with_its_figure(count: int, share: str) -> None:
    sides = [summaries.case(name, [1.0] * count) for name in "ab"]
    compared = summaries.comparison((), "a", "b")
    text = said(summaries.summary(*sides, comparisons=(compared,)), [])
    assert text.startswith(f"{count} blocks cannot show a mode, ") == bool(share)
    assert text.endswith(f"up to {share} of launches may still be (95 %)." if share else "")


def test_few_launches_say_nothing() -> None:
    assert launches(launched(4, 0.05, 0.05)) == launches([]) == ""


STARTS = "comes from the starts of the servers: for the same intervals, benchforge run SUITE"
SETS = "--profile claims --set scenarios.hello.each"


@pytest.mark.parametrize(
    ("count", "between", "within", "says"),
    [
        (60, 0.001, 0.1, f"{STARTS} {SETS}=8s --only hello needs about "),
        (60, 0.1, 0.01, f"(100 % to 100 %, 90 %) of the scatter of ratios {STARTS} {SETS}=500ms "),
        # No longer one than that with which the fewest launches are enough.
        (8, 0.001, 0.1, f"{STARTS} {SETS}=4s "),
    ],
)
def test_noise_within_launches_asks_for_a_longer_load_and_between_them_for_a_shorter(
    count: int, between: float, within: float, says: str
) -> None:
    assert says in launches(launched(count, between, within))


def test_a_good_load_is_said_to_be_one() -> None:
    # 2 s of load, 2 s to start: best where the variance between is that within, as it is here.
    text = launches(launched(400, 0.02, 0.02 * math.sqrt(ROUNDS / 2)))
    assert text.endswith(" comes from the starts of the servers")


@given(st.integers(5, 40), SHARES, SHARES, SECONDS, SECONDS)
def test_no_other_load_needs_less_time(
    count: int, of_launches: float, within: float, load_s: float, start_s: float
) -> None:
    scatter = LaunchScatter(count, of_launches, within, load_s, start_s, 10)
    best = scatter.saved(scatter.best_s)
    assert best >= -1e-9
    for factor in (0.25, 0.5, 0.9, 1.1, 2, 4):
        assert scatter.saved(factor * load_s) <= best + 1e-9
