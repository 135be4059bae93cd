"""What CI servers read: whole and well-formed, whatever is in the names and the sentences."""

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any, Literal

from benchforge_reporters.ci_reports import MOST_BYTES, answers, github, junit
from benchforge_reporters.html.report import Html
from benchforge_reporters.markdown import Markdown
from benchforge_reporters.terminal.report import Terminal
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made.shown import case, line, result, trial
from made.summaries import check

from benchforge.model.suite.claim import Claim, ClaimInstance, Hypothesis, Term
from benchforge.model.summary.rows import trial_values
from benchforge.model.summary.summary import DoubtedTrial, FailedTrial, Summary
from benchforge.model.summary.verdict import Estimate, Verdict
from benchforge.model.trial.trial import Failure
from benchforge.text import safe

State = Literal["holds", "fails", "inconclusive", "invalid"]
NAMES = st.one_of(
    st.text(max_size=12),
    st.sampled_from(["<b>&amp;", "a|b", "a\nb", "]]>", "`x`", "\0\x1b[31m", "\ufffe\ud7ff", "$1$"]),
)


RATED = case("one", line("throughput", "1/s", 1, 2, 3))


def numbers(summary: Summary) -> list[dict[str, Any]]:
    return [row._asdict() for row in trial_values(summary)]


def claim(label: str, says: str = "") -> Claim:
    term = Term(case=case("one").case)
    hypothesis = Hypothesis(text="p99 < 25ms", form="value", relation="<", bound=0.025)
    fields = {"label": label, "says": says, "metric": "p99", "hypothesis": hypothesis}
    return Claim.model_validate({**fields, "instances": (ClaimInstance(a=term),)})


def verdict(label: str, state: State, text: str = "") -> Verdict:
    estimate = Estimate(method="t of logs", level=0.95, n=5, value=0.03, low=0.028, high=0.033)
    actual = text or f"one: p99 {state}"
    return Verdict(claim=label, state=state, why=text, unit="s", estimate=estimate, sentence=actual)


def told(summary: Summary, *verdicts: Verdict, says: str = "") -> Summary:
    labels = dict.fromkeys(verdict.claim for verdict in verdicts)
    claims = tuple(claim(label, says) for label in labels)
    return summary.model_copy(update={"claims": claims, "verdicts": verdicts})


def elements(summary: Summary) -> list[tuple[str, str, str]]:
    """Return of each test its name, what came of it, and the sentence."""
    (suite,) = ET.fromstring(junit(summary))  # noqa: S314 - it is ours
    actual = [(item.get("name", ""), item[0].tag, item[0].text or "") for item in suite]
    counts = {"failure": "failures", "error": "errors", "skipped": "skipped"}
    for tag, name in counts.items():
        assert int(suite.get(name, "")) == sum(item[1] == tag for item in actual)
    assert int(suite.get("tests", "")) == len(actual)
    return actual


def test_each_state_of_a_claim_is_an_element_of_its_own() -> None:
    states: tuple[State, ...] = ("holds", "fails", "inconclusive", "invalid")
    verdicts = [verdict(state, state, "so it is") for state in states]
    summary = told(result(RATED), *verdicts)
    actual = {name.partition(":")[0]: (tag, text) for name, tag, text in elements(summary)}
    tags = ("system-out", "failure", "skipped", "error")
    for state, tag in zip(states, tags, strict=True):
        assert actual[state] == (tag, "so it is")
        assert f"| **{'passes' if state == 'holds' else state}** |" in github(summary, [])


def test_a_claim_that_nobody_answered_never_passes() -> None:
    request = result(RATED).model_copy(update={"claims": (claim("open"),)})
    assert [answer.outcome for answer in answers(request)] == ["invalid", "passes"]
    smoke = request.model_copy(update={"smoke": True})
    assert [answer.outcome for answer in answers(smoke)] == ["inconclusive", "passes"]
    assert "a smoke" in github(smoke, [])


def test_a_case_without_a_trial_is_an_error_that_says_why() -> None:
    failure = Failure(stage="start", message="it <died> & more")
    failed = FailedTrial(trial=1, block=1, attempt=1, failure=failure)
    summary = result(case("one", failed=[failed], trials=0), case("two", trials=0))
    (_, item, reason), (_, two, none) = elements(summary)
    assert (item, two) == ("error", "error")
    assert "start: it <died> & more" in reason
    assert "none of 3 planned" in none


def doubt(id_: str, **more: Any) -> DoubtedTrial:
    checks = (check(id_, "apparatus", **more),)
    return DoubtedTrial(trial=2, block=2, attempt=1, checks=checks, used=True)


def test_a_doubted_value_is_marked() -> None:
    noisy = RATED.model_copy(update={"doubted": (doubt("N1", transient=True),), "believed": 2})
    summary = result(noisy, case("old", line("throughput", "1/s", 1, 2, 3)))
    believed = {(row["server"], row["trial"]): row["believed"] for row in numbers(summary)}
    assert believed["one", 1] is True
    assert believed["one", 2] is False
    assert believed["old", 2] is None  # nobody looked


def test_doubted_response_times_are_marked() -> None:
    late = doubt("L4", invalidates="latency")
    item = case("one", *RATED.metrics, line("latency", "s", 1, 2, 3, label="p50"))
    summary = result(item.model_copy(update={"latency_doubted": (late,), "believed": 3}))
    believed = {(row["metric"], row["trial"]): row["believed"] for row in numbers(summary)}
    assert believed["throughput", 2] is True
    assert believed["latency", 1] is True
    assert believed["latency", 2] is False


def test_what_is_unknown_is_null_with_its_reason() -> None:
    (row, *_) = numbers(result(case("one", line("p99", "s", 1.0, text="too few"))))
    assert (row["value"], row["why"]) == (None, "too few")


def test_a_summary_for_github_is_never_too_long() -> None:
    names = [f"server-{number}-{'x' * 100}" for number in range(2000)]
    text = github(result(*(case(name, *RATED.metrics) for name in names)), [])
    assert len(text.encode()) <= MOST_BYTES
    assert "Cut here" in text


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(name=NAMES, says=NAMES, server=NAMES)
def test_whatever_names_and_sentences_are_it_is_well_formed(
    name: str, says: str, server: str
) -> None:
    failed = FailedTrial(trial=4, block=1, attempt=1, failure=Failure(stage="start", message=says))
    item = case(server, line(name, "1/s", 1, 2, 3), vary={"servers.x": name}, failed=[failed])
    summary = told(result(item, title=says), verdict(name, "fails", says), says=says)
    (_, _, sentence), *_ = elements(summary)
    assert safe.line(says or "p99 fails") in sentence
    rows = json.loads(json.dumps(list(numbers(summary)), allow_nan=False))
    assert {(row["server"], row["metric"]) for row in rows} == {(server, name)}
    text = github(summary, [trial()])
    blocks = re.split(r"\n\n+", text)
    for table in (block.splitlines() for block in blocks if block.startswith("| ")):
        bars = {len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) for row in table if row[:1] == "|"}
        assert len(bars) == 1, table
    (fence,) = re.findall(r"(?m)^(`{3,})text$", text)
    earlier, _, rest = text.partition(f"{fence}text\n")
    partition, _, later = rest.partition(f"\n{fence}\n")
    assert fence not in partition
    assert not re.search(r"(?<!\\)<(?!/?details>|/?summary>|br>)", earlier + later)


def test_the_first_lines_of_a_report_say_what_its_intervals_are_about(tmp_path: Path) -> None:
    bare = result(RATED)
    says = "Intervals and verdicts are about this machine on this day: another machine may differ."
    for summary, entries in ((told(bare, verdict("C", "holds")), True), (bare, False)):
        Markdown().report(summary, (), tmp_path)
        Html().report(summary, (), tmp_path)
        pages = [(tmp_path / name).read_text() for name in ("report.md", "report.html")]
        for text in (*pages, Terminal().text(summary, ())):
            partition, _, _ = text.partition("throughput")
            assert (says in partition) is entries
