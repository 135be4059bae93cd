"""The command that decides what is open, how long it takes, and the scatter between launches."""

import math
import random
from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from benchforge_reporters.document.answers import ComparisonAnswer
from benchforge_reporters.document.claims import claim_lines
from benchforge_reporters.document.next_step import (
    LaunchScatter,
    _groups,
    _scatter,
    launches,
    next_step,
    seconds_of,
)
from benchforge_reporters.html.report import Html
from hypothesis import given
from hypothesis import strategies as st
from made import plain, summaries
from made.plain import NOON
from made.turns import turns
from present import present

from benchforge.model.summary.summary import Summary
from benchforge.model.summary.verdict import ComparisonVerdict
from benchforge.model.trial.session import Session
from benchforge.model.trial.trial import Trial
from benchforge.stats.verdict.judge import judged

NOISE = summaries.check("N1", "apparatus", value=0.5)
CLEAR, UNCLEAR = [150.0, 151.0, 149.0, 150.5], [101.0, 104.0, 97.0, 102.0]
OTHER = [100.0, 101.0, 99.0, 100.5]
SCENARIOS = {"far": CLEAR, "near": UNCLEAR}


def result(**more: Any) -> Summary:
    """Return a result of two scenarios, of which `near` has a ratio near 1."""
    cases = [
        summaries.case(server, subject, scenario=scenario)
        for scenario, first in SCENARIOS.items()
        for server, subject in (("a", first), ("b", OTHER))
    ]
    claims = [summaries.claim("a > b", scenario=value, label=value.upper()) for value in SCENARIOS]
    return judged(summaries.summary(*cases, claims=claims, **more))


def trials(seconds: float = 5) -> list[Trial]:
    """Return four blocks of both scenarios, one trial after the other."""
    return [
        plain.trial(
            case=summaries.name(server, scenario),
            number=number + 1,
            block=block,
            started=NOON + timedelta(seconds=seconds * number),
            seconds=seconds,
            reading=plain.reading(),
        )
        for number, (block, scenario, server) in enumerate(product((1, 2, 3, 4), SCENARIOS, "ab"))
    ]


def said(summary: Summary) -> str:
    return next_step([], claim_lines(summary), summary, trials())


def test_the_page_of_a_result_names_the_file_of_its_suite(tmp_path: Path) -> None:
    Html().report(result(suite_file="duel-8abf01cd.toml"), trials(), tmp_path)
    page = (tmp_path / "report.html").read_text()
    assert "benchforge run duel-8abf01cd.toml --set repeat.seed=7" in page
    assert "run SUITE" not in page


def test_only_the_open_scenario_is_measured_again() -> None:
    far, near = claim_lines(result())
    assert (far.state, near.state) == ("holds", "inconclusive")
    blocks = present(near.verdict.blocks_needed)
    assert blocks > 4
    goal, _, command = said(result(profile=None)).partition(": ")
    assert goal == "To decide"
    words, _, lasts = command.partition(", about ")
    assert words == f"benchforge run SUITE --set scenarios.near.blocks={blocks} --only near"
    assert lasts == f"{blocks * 10 // 60} min" + (f" {blocks * 10 % 60} s" if blocks % 6 else "")


UNDECIDED = ComparisonVerdict(state="undecided", reasons=("why",))


def test_the_command_has_the_profile_of_the_run() -> None:
    assert "benchforge run SUITE --profile 'two words' --set " in said(result(profile="two words"))


def test_scenarios_that_are_all_open_get_blocks_together() -> None:
    open_answers = [
        ComparisonAnswer(item, item, "undecided", "", (), undecided=True, verdict=UNDECIDED)
        for item in ("far", "near")
    ]
    goal = "To make the intervals half as wide: benchforge run SUITE"
    text = next_step(open_answers, [], result(), trials())
    assert text == f"{goal} --set repeat.blocks=16, about 5 min 20 s"
    text = next_step(open_answers[:1], [], result(), trials())
    assert "--set scenarios.far.blocks=16 --only far, about 2 min 40 s" in text


def test_a_scenario_alone_is_named_since_it_may_have_blocks_of_its_own() -> None:
    cases = [summaries.case(*item, scenario="near") for item in (("a", UNCLEAR), ("b", OTHER))]
    near = summaries.summary(*cases, claims=[summaries.claim("a > b", scenario="near")])
    assert " --set scenarios.near.blocks=" in said(judged(near))


def test_a_bridge_is_no_scenario_of_the_suite() -> None:
    cases = [
        summaries.case(server, values, scenario=scenario, in_turns=scenario == "near")
        for scenario in ("near", "near-alone")
        for server, values in (("a", UNCLEAR), ("b", OTHER))
    ]
    claims = [summaries.claim("a > b", scenario=n, label=n) for n in ("near", "near-alone")]
    summary = judged(summaries.summary(*cases, claims=claims))
    words = said(summary).partition("SUITE ")[2].partition(", about")[0].split()
    options = ["--set", "scenarios.near.blocks", "--only", "near"]
    assert [word.partition("=")[0] for word in words] == options


def test_where_noise_met_all_trials_it_says_what_to_do() -> None:
    answer = ComparisonAnswer("s", "s", "undecided", "", (), undecided=False, verdict=UNDECIDED)
    noisy = plain.trial(reading=plain.reading(), checks=(NOISE,))
    assert noisy.disturbed
    says = next_step([answer], [], result(), [noisy, noisy])
    assert says.startswith("Noise met every trial: stop other programs, or take a quieter machine")
    assert "--set repeat.blocks=8" in says
    quiet = plain.trial(reading=plain.reading(), checks=())
    assert next_step([answer], [], result(), [noisy, quiet]) == ""
    assert next_step([], [], result(), [noisy]) == ""


@pytest.mark.parametrize(("first_trial", "seconds"), [(None, 3680.0), (3, 80.0)])
def test_the_time_between_two_sessions_does_not_count(
    first_trial: int | None, seconds: float
) -> None:
    starts = (0, 20, 3640, 3660)
    subject = [
        plain.trial(number=number, started=NOON + timedelta(seconds=start))
        for number, start in enumerate(starts, 1)
    ]
    fields = {"number": 2, "started": NOON, "benchforge": "0", "versions": {}, "facts": {}}
    session = Session.model_validate(fields | {"first_trial": first_trial or 1})
    later = () if first_trial is None else (session,)
    assert seconds_of(subject, result(sessions=later)) == seconds


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


def launch_text(trials: list[Trial]) -> str:
    return launches(plain.summary(profile="claims"), trials)


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
    text = launches(summaries.summary(*sides, comparisons=(compared,)), [])
    assert text.startswith(f"{count} blocks cannot show a mode, ") == bool(share)
    assert text.endswith(f"up to {share} of launches may still be (95 %)." if share else "")


def test_few_launches_say_nothing() -> None:
    assert launch_text(launched(4, 0.05, 0.05)) == launch_text([]) == ""


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
    assert says in launch_text(launched(count, between, within))


def test_a_good_load_is_said_to_be_one() -> None:
    # 2 s of load, 2 s to start: best where the variance between is that within, as it is here.
    text = launch_text(launched(400, 0.02, 0.02 * math.sqrt(ROUNDS / 2)))
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
