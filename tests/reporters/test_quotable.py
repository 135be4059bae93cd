"""One verdict: each screen, file and exit code says what the rule says of a comparison."""

import json
import math
import re
import tempfile
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from benchforge_reporters.ci_reports import github, junit
from benchforge_reporters.document.causes import caveats
from benchforge_reporters.document.document import document
from benchforge_reporters.html.report import Html
from benchforge_reporters.markdown import Markdown
from benchforge_reporters.terminal.first_screen import MOST_LINES, FirstScreen
from benchforge_reporters.terminal.report import Terminal
from hypothesis import given
from hypothesis import strategies as st
from made import plain, summaries
from made.simulate import by_block
from made.summaries import check
from present import present

from benchforge.checks.causes import with_causes
from benchforge.checks.limits import limits
from benchforge.checks.summary import with_comparison_verdicts
from benchforge.cli.console.reported import EXIT_CODES, Shown, exit_code
from benchforge.model.summary.summary import CaseSummary, Comparison, Summary
from benchforge.model.summary.verdict import ComparisonState, ComparisonVerdict
from benchforge.model.trial.check import Check
from benchforge.model.trial.trial import Failure
from benchforge.report.answer.headline import headline
from benchforge.report.answer.quote import Quoted, quote
from benchforge.stats.inference.holm import ranking
from benchforge.stats.summary.line import with_typical
from benchforge.stats.summary.metric_ranking import standings
from benchforge.stats.verdict import comparison as rule
from benchforge.stats.verdict.judge import judged

BLOCKS = 8
WRONG = Failure(stage="ask", message="south: GET /: expected status 200, got 500", broken=True)
LATE = Failure(stage="drive", message="the load tool did not end", subject="apparatus")
TRIAL_CHECKS = [
    *(check(id_, "behaviour", "fail", value=0.5) for id_ in ("E1", "E3", "E6", "E7")),
    *(check(id_, "behaviour", "warn", value=0.5) for id_ in ("E1", "E6", "E7")),
    check("D1", "behaviour", "fail"),
    check("E6", "behaviour", "unknown"),
    check("L5", "apparatus", "warn"),
]
COMPARISON_CHECKS = [
    check("K1", "behaviour", "warn", scope="comparison"),
    check("E3", "behaviour", "fail", scope="comparison"),
    check("E5", "apparatus", "fail", scope="comparison"),
    check("E4", "behaviour", "warn", scope="comparison"),
    check("I2", "apparatus", "fail", scope="comparison", transient=True),
    check("E6", "behaviour", "unknown", scope="comparison", component="south"),
]

UNKNOWN = ComparisonVerdict(state="undecided", reasons=("unknown",))
UNLIKE, SAMPLED, DEBUG = COMPARISON_CHECKS[0], TRIAL_CHECKS[3], TRIAL_CHECKS[7]
UNSEEN = COMPARISON_CHECKS[-1]
NOT_KNOWN = "Whether south answered the load rightly is not"


def ranked(cases: list[CaseSummary], checks: list[Check]) -> Comparison:
    rankings = standings(cases, ["speed"], range(1, BLOCKS + 1))
    compared = summaries.comparison(checks, *(case.case.server for case in cases))
    return compared.model_copy(update={"rankings": rankings})


def summary_of(
    ratio: float,
    trial_checks: list[Check],
    comparison_checks: list[Check],
    failures: dict[int, Failure],
    *,
    turns: bool = False,
    smoke: bool = False,
    published: float | None = None,
) -> Summary:
    """Return the summary of two servers, the second with findings and failed trials."""
    speeds = [100.0 + (block * 7) % 5 for block in range(BLOCKS)]
    south = [speed + 2 * (speed % 3) for speed in speeds]
    more: dict[str, Any] = {"failed": failures, "findings": trial_checks, "in_turns": turns}
    north = summaries.case("north", [ratio * speed for speed in speeds], in_turns=turns)
    cases = [north, summaries.case("south", south, **more)]
    compared = ranked(cases, comparison_checks)
    claims = [summaries.claim("a > b", a="north", b="south", published=published)]
    made = summaries.summary(*cases, claims=claims, comparisons=(compared,), smoke=smoke)
    compared_by = with_comparison_verdicts(made, limits())
    verdicts = judged(compared_by, is_grave=lambda item: item.id == "D1")
    trial = plain.trial(case=summaries.name("south"), checks=tuple(trial_checks))
    return with_causes(verdicts, (trial,), limits())


SUMMARIES = st.builds(
    summary_of,
    st.sampled_from([1.0, 1.02, 1.05, 1.6]),
    st.lists(
        st.sampled_from(TRIAL_CHECKS), max_size=2, unique_by=lambda item: (item.id, item.status)
    ),
    st.lists(st.sampled_from(COMPARISON_CHECKS), max_size=2, unique_by=lambda item: item.id),
    st.dictionaries(st.integers(1, BLOCKS), st.sampled_from([WRONG, LATE]), max_size=BLOCKS),
    turns=st.booleans(),
    smoke=st.sampled_from([False, False, False, True]),
    published=st.sampled_from([None, 1.5]),
)
FIRST: dict[ComparisonState, tuple[str, ...]] = {
    "decided": ("north ", "south "),
    "undecided": ("Undecided: ",),
    "not comparable": ("Not comparable: ", "No answer: "),
    "broken": ("No answer: ",),
}
SIGNS: dict[ComparisonState, str] = {"decided": "✔≈", "undecided": "?"}
SIGNS |= {"not comparable": "!", "broken": "✕"}


@given(SUMMARIES)
def test_each_form_and_the_exit_code_say_what_the_verdict_says(summary: Summary) -> None:
    verdict, claim = present(summary.comparisons[0].verdict), [*summary.verdicts, None][0]
    state = verdict.state
    code = exit_code(summary, Shown())
    if EXIT_CODES[state]:
        assert code == EXIT_CODES[state]
    if claim is not None and state in {"broken", "not comparable"}:
        assert claim.state == "invalid" or (claim.unlike and state == "not comparable")
        assert state != "broken" or claim.state == "invalid"
    text = Terminal().text(summary, (), 100)
    output = document(summary, ())
    stored = json.loads(summary.model_dump_json())["comparisons"][0]["verdict"]
    assert (stored["state"], stored["ratio"]) == (state, verdict.ratio)
    if summary.smoke:
        assert not output.answers
        assert "SMOKE" in text
        return
    (answer,) = output.answers
    sign = next(line[0] for line in text.splitlines() if line[2:].startswith("hello"))
    assert sign in SIGNS[state]
    assert answer.state in {state, *(("differs", "same") if state == "decided" else ())}
    quoted = output.quotable.sentence
    assert ("✔ C" in text) <= (state in {"decided", "undecided"})
    assert (output.quotable.state == "bad") <= (not verdict.ratio and not verdict.rates)
    assert ("Ratio: yes" in quoted) == (verdict.ratio and state == "decided")
    assert ("Requests/s: yes" in quoted) <= verdict.rates
    came = "error" if EXIT_CODES[state] else "skipped" if state == "undecided" else "testcase"
    assert came.encode() in junit(summary)
    assert ("**invalid**" in github(summary, ())) >= bool(EXIT_CODES[state])
    observed = UNSEEN not in summary.comparisons[0].checks
    assert ("south answered the load rightly is not known" in quoted) <= (not observed)
    assert observed or output.quotable.state != "good"
    assert observed or any(item.id == "E6" and item.kind == "limits" for item in output.causes.all)
    with tempfile.TemporaryDirectory() as folder:
        Markdown().report(summary, (), Path(folder))
        assert f"({answer.state})" in (Path(folder) / "report.md").read_text()
        Html().report(summary, (), Path(folder))
        card = 'class="card better"' in (Path(folder) / "report.html").read_text()
        assert card == (answer.state == "differs")


@given(SUMMARIES)
def test_no_caveat_that_limits_is_left_out_of_the_first_screen(summary: Summary) -> None:
    verdict, output = present(summary.comparisons[0].verdict), document(summary, ())
    screen = FirstScreen().text(summary, (), 80)
    assert len(screen.splitlines()) <= MOST_LINES
    words = " ".join(screen.split())
    assert not output.answers or output.quotable.sentence in words
    bound = re.search(r"Stop here if (.*?) does not matter", words)
    assert bound is None or re.fullmatch(r"[\d.,]+( %|×)", bound[1])
    assert "an error of 0 %" not in words
    limiting = {item.id for item in output.causes.all if item.kind in {"invalid", "limits"}}
    listed = caveats(output.causes, summary)
    assert {item.text.id for item in listed} == limiting
    shown_ids = {check.check.id for item in listed for check in item.text.cause.findings}
    assert {*re.findall(r"\(([A-Z]\d+)\)$", " ".join(verdict.reasons))} <= shown_ids
    if summary.smoke:
        lost = any(case.failed and not case.trials for case in summary.cases)
        broken = lost or verdict.state == "broken"
        assert screen.startswith("No answer: " if broken else "Smoke run: all works")
        return
    state = verdict.state
    assert screen.startswith(FIRST[state])
    assert ("Ratio: yes" in screen) <= (verdict.ratio and state == "decided")
    if state not in {"broken", "not comparable"} and listed:
        assert f"({listed[0].text.id})" in screen


@given(st.sampled_from([1.0, 1.02, 1.3, 1.6]), st.floats(0, 1))
def test_what_may_move_a_ratio_widens_its_interval_before_it_decides(
    ratio: float, size: float
) -> None:
    summary = summary_of(ratio, [], [], {})
    (compared,) = summary.comparisons
    moves = rule.Moves({"D3": size}, size)
    verdict = rule.verdict_on(rule.evidence_of(compared, summary, rule.never, moves))
    unmoved = compared.verdict or UNKNOWN
    assert verdict.sizes == {"D3": size}
    assert {*verdict.pairs} <= {*unmoved.pairs}
    if unmoved.state == "decided" and unmoved.pairs:
        order = present(present(summary.standing(compared)).ranking)
        low, high = order.pair(*unmoved.pairs[0]).ratio.interval or (1.0, 1.0)
        apart = max(low, 1 / high) > 1 + size
        assert (verdict.state == "decided") == apart
        assert bool(verdict.pairs) == apart
        decided = compared.model_copy(update={"verdict": verdict})
        head = headline(decided, summary)
        text = quote([Quoted("asked", decided, head)], summary)
        half = present(present(head.ratio).high) / present(present(head.ratio).value) - 1
        assert ("Ratio: yes" in text) == apart
        assert ("Ratio: yes, with its caveat." in text) == (apart and size > half)


REASONS = st.lists(st.sampled_from(["one", "two"]), max_size=2).map(tuple)


@given(
    st.builds(
        rule.ComparisonEvidence,
        smoke=st.booleans(),
        several=st.booleans(),
        wrong=REASONS,
        missing=REASONS,
        unlike=REASONS,
        grave=REASONS,
        spoiled=REASONS,
        undecided=st.sampled_from(["", "too few blocks"]),
        pairs=st.sampled_from([(), (("a", "b"),)]),
        believed=st.booleans(),
        timed=st.booleans(),
        in_turns=st.booleans(),
        sizes=st.dictionaries(st.sampled_from(["N1", "D3"]), st.floats(0, 1)),
    )
)
def test_nothing_of_what_is_broken_may_be_quoted_and_no_ratio_of_what_is_unlike(
    evidence: rule.ComparisonEvidence,
) -> None:
    verdict = rule.verdict_on(evidence)
    if evidence.smoke or evidence.wrong:
        assert not any((verdict.ratio, verdict.rates, verdict.times, verdict.pairs))
    if evidence.wrong and not evidence.smoke:
        assert verdict.state == "broken"
    if evidence.missing or evidence.unlike or evidence.grave or evidence.spoiled:
        assert not verdict.ratio
        assert verdict.state != "decided" or not (evidence.several or evidence.missing)
    if evidence.grave or evidence.spoiled or evidence.missing or evidence.in_turns:
        assert not verdict.rates
    assert verdict.times <= verdict.rates
    assert bool(verdict.reasons) == (verdict.state != "decided")


@pytest.mark.parametrize(
    ("trial_checks", "comparison_checks", "failures", "sentence"),
    [
        ([], [], {}, "Ratio: yes. Requests/s: yes."),
        ([], [UNLIKE], {}, "Ratio: no. Requests/s: yes."),
        (*([], [UNSEEN], {}), f"Ratio: yes. Requests/s: yes. {NOT_KNOWN}"),
        ([TRIAL_CHECKS[8]], [], {}, "Ratio: yes. Requests/s: yes."),
        ([TRIAL_CHECKS[7]], [], {}, "No."),
        ([SAMPLED], [], {}, "No."),
        ([], [], {3: WRONG}, "No."),
        ([], [], dict.fromkeys(range(1, 9), LATE), "No."),
    ],
)
def test_each_part_is_said(
    trial_checks: list[Check],
    comparison_checks: list[Check],
    failures: dict[int, Failure],
    sentence: str,
) -> None:
    made = summary_of(1.6, trial_checks, comparison_checks, failures)
    assert document(made, ()).quotable.sentence.startswith(sentence)


def test_a_published_claim_is_answered_although_its_sides_are_unlike() -> None:
    for published, state in ((None, "invalid"), (1.5, "holds")):
        made = summary_of(1.6, [], [UNLIKE], {}, published=published)
        assert made.verdicts[0].state == state
        assert made.verdicts[0].unlike == ("K1",)
        assert document(made, ()).claims[0].state != "holds"
    made = summary_of(1.6, [SAMPLED], [], {}, published=1.5)
    verdict = made.verdicts[0]
    assert (verdict.state, verdict.why) == ("invalid", "broken: south: E7 says so")


def three(*, complete: bool = True) -> Summary:
    """Return a summary of three servers, of which a claim tells two apart, and all pairs do not."""
    noise = [math.exp(0.1 * ((5 * block) % 7 - 3)) for block in range(BLOCKS)]
    speeds = {
        "north": [112.0 * item for item in noise],
        "south": [100.0 * item for item in reversed(noise)],
        "west": [20.0 * item for item in noise],
    }
    cases = [summaries.case(name, values) for name, values in speeds.items()]
    claims = [summaries.claim("a > 0.8 * b", a="north", b="south", margin=0.001)]
    compared = (ranked(cases, []),)
    made = summaries.summary(*cases, claims=claims, comparisons=compared, complete=complete)
    return judged(with_comparison_verdicts(made, limits()))


def test_a_claim_that_decides_what_all_pairs_leave_open_says_which_family_it_is_of() -> None:
    summary = three()
    assert (summary.comparisons[0].verdict or UNKNOWN).state == "undecided"
    (line,) = document(summary, ()).claims
    assert line.state == "holds"
    assert "by this claim alone: among all pairs of servers it is undecided" in line.remark


def test_a_run_that_ended_early_and_is_decided_has_no_alarm() -> None:
    decided = summary_of(1.6, [], [], {}).model_copy(update={"complete": False})
    assert not any("NOT COMPLETE" in alarm for alarm in document(decided, ()).alarms)
    broken = summary_of(1.6, [SAMPLED], [], {}).model_copy(update={"complete": False})
    for summary in (three(complete=False), broken):
        assert any("NOT COMPLETE" in alarm for alarm in document(summary, ()).alarms)


@given(st.lists(st.floats(1, 1e6), min_size=3, max_size=9))
def test_a_table_shows_the_value_that_ratios_are_made_of(values: list[float]) -> None:
    (of_ratio,) = [server.value for server in ranking(by_block({"north": values})).order]
    assert level_of(summaries.case("north", values)) == pytest.approx(of_ratio.value)
    disturbed = summaries.case("north", values, disturbed={1: 0.5}, doubted={2: "L1"})
    counted = [value for block, value in enumerate(values, 1) if block != 2]
    assert level_of(disturbed) == pytest.approx(math.exp(fmean(map(math.log, counted))))


def level_of(case: CaseSummary) -> float | None:
    known_values = [line.model_copy(update={"median": 1.0, "why": ""}) for line in case.metrics]
    return with_typical(known_values, case)[0].level
