"""The command that decides what is open, how long it takes, and how long the run took."""

from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from benchforge_reporters.document.answers import ComparisonAnswer
from benchforge_reporters.document.claims import claim_lines
from benchforge_reporters.document.next_step import next_step, seconds_of
from benchforge_reporters.html.report import Html
from made import plain, summaries
from made.plain import NOON
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
