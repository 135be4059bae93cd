"""Answers for CI servers: junit.xml, and github.md for a job's page, of 1 MiB at most."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC
from pathlib import Path
from typing import ClassVar, Final, Literal

from benchforge.plugin import (
    CaseSummary,
    Claim,
    Comparison,
    ComparisonVerdict,
    Reporter,
    Summary,
    Trial,
    Verdict,
    readable,
    safe,
)
from benchforge.plugin.drawing import Element, JunitSuite, JunitTest, junit_xml
from benchforge_reporters.terminal.report import Terminal
from benchforge_reporters.text import words
from benchforge_reporters.text.words import heading

FILE: Final = "junit.xml"
Came = Literal["passes", "fails", "invalid", "inconclusive"]
SMOKE: Final = "a smoke asks no claim: its numbers mean nothing"
_ELEMENTS: dict[str, Element] = {"fails": "failure", "invalid": "error", "inconclusive": "skipped"}
_CAME: Final[dict[str, Came]] = {"decided": "passes", "undecided": "inconclusive"}
GITHUB_FILE: Final = "github.md"
# Of 1024 KiB that a step may have; several results may share a step.
MOST_BYTES: Final = 250_000
_MOST_SHOWN: Final = MOST_BYTES // 2
_COLUMNS: Final = 100  # of a code block on a job's page
_CUT: Final = "\n\n**Cut here: a step's summary takes no more. report.md has all of it.**\n"


class Junit(Reporter):
    """Each claim and each case as a test in junit.xml, for CI servers."""

    name: ClassVar[str] = "junit"

    def report(self, summary: Summary, trials: Sequence[Trial], folder: Path) -> Sequence[Path]:
        """Write junit.xml."""
        (folder / FILE).write_bytes(junit(summary))
        return (folder / FILE,)


def junit(summary: Summary) -> bytes:
    """Return the document, in UTF-8."""
    tests = [replace(test, group=f"{summary.name}.{test.group}") for test in answers(summary)]
    # Strict readers take neither a fraction of a second nor a zone.
    when = {"timestamp": f"{summary.created.astimezone(UTC):%Y-%m-%dT%H:%M:%S}"}
    return junit_xml("benchforge", [JunitSuite(heading(summary), tests, attributes=when)])


def answers(summary: Summary) -> Iterator[JunitTest]:
    """Yield the answer to each claim, comparison and case, which needs a believable number."""
    by_label: dict[str, list[Verdict]] = {}
    for verdict in summary.verdicts:
        by_label.setdefault(verdict.claim, []).append(verdict)
    for claim in summary.claims:
        if claim.label not in by_label:
            reason = SMOKE if summary.smoke else "nothing in the summary answers it"
            came: Came = "inconclusive" if summary.smoke else "invalid"
            yield _test("claims", _title(claim, None), came, reason)
        for verdict in by_label.get(claim.label, ()):
            came = "passes" if verdict.state == "holds" else verdict.state
            yield _test("claims", _title(claim, verdict), came, safe.line(verdict.sentence))
    for comparison in summary.comparisons:
        if len(comparison.cases) > 1 and comparison.verdict is not None:
            yield _of_comparison(comparison, comparison.verdict)
    for case in summary.cases:
        yield _of_case(case, smoke=summary.smoke)


def _of_comparison(comparison: Comparison, verdict: ComparisonVerdict) -> JunitTest:
    names = readable.conjoined([case.within for case in comparison.cases])
    says = safe.line(": ".join(filter(None, (verdict.state, "; ".join(verdict.reasons)))))
    name = safe.line(f"comparison of {names}")
    return _test(comparison.scenario, name, _CAME.get(verdict.state, "invalid"), says)


def _title(claim: Claim, verdict: Verdict | None) -> str:
    axes = [] if verdict is None else [f"{name}={item}" for name, item in verdict.at.items()]
    says = claim.says or f"{claim.metric} of {claim.hypothesis.text}"
    return safe.line(f"{claim.label}: {says}" + (f" ({', '.join(axes)})" if axes else ""))


def _of_case(case: CaseSummary, *, smoke: bool) -> JunitTest:
    scenario, name = case.case.scenario, safe.line(case.case.title)
    counts = f"{case.trials} of {case.planned} planned measurements"
    if smoke and case.answered(smoke=True):
        return _test(scenario, name, "passes", f"a smoke: it works, and no number counts; {counts}")
    if not case.answered(smoke=False):
        return _test(scenario, name, "invalid", f"no believable number: {_why(case)}")
    if case.believed is not None and case.believed < case.trials:
        says = f"believed are {case.believed} of {case.trials} trials: {_why(case)}"
        return _test(scenario, name, "passes" if case.believed else "inconclusive", says)
    return _test(scenario, name, "passes", counts)


def _why(case: CaseSummary) -> str:
    """Return why a case has fewer believable trials than planned: each kind of reason once."""
    failures = [trial.failure for trial in case.failed]
    reasons = {each.message: f"{each.stage}: {each.message}" for each in failures}
    for check in (check for trial in case.doubted for check in trial.checks):
        reasons.setdefault(check.id, f"{check.id} {check.name}: {check.message}")
    return safe.line("; ".join(reasons.values())) or f"none of {case.planned} planned has a trial"


def _test(group: str, name: str, came: Came, says: str) -> JunitTest:
    return JunitTest(group, name, says, _ELEMENTS.get(came, ""), came)


class GitHub(Reporter):
    """A summary for GitHub's job page: github.md, within its size limit."""

    name: ClassVar[str] = "github"
    appended_to: ClassVar[str] = "GITHUB_STEP_SUMMARY"

    def report(self, summary: Summary, trials: Sequence[Trial], folder: Path) -> Sequence[Path]:
        """Write github.md."""
        (folder / GITHUB_FILE).write_text(github(summary, trials), encoding="utf-8")
        return (folder / GITHUB_FILE,)


def github(summary: Summary, trials: Sequence[Trial]) -> str:
    """Return the Markdown, at most MOST_BYTES of it, ended between two blocks."""
    text, size = "", len(_CUT.encode())
    for block in _blocks(summary, trials):
        size += len(block.encode()) + 1
        if size > MOST_BYTES:
            return text + _CUT
        text += f"{block}\n"
    return text


def _blocks(summary: Summary, trials: Sequence[Trial]) -> Iterator[str]:
    """Yield blocks that stand by themselves: what the terminal shows, then what did not pass."""
    yield f"## {safe.markdown(words.heading(summary))}\n"
    yield from (f"**{safe.markdown(alarm)}**\n" for alarm in words.alarms(summary))
    report = Terminal().text(summary, trials, _COLUMNS)
    begin = report.encode()[:_MOST_SHOWN].decode(errors="ignore")
    yield safe.fenced(report if begin == report else begin.rpartition("\n")[0], "text")
    if begin != report:
        yield _CUT.strip()
    yield from _unlike_passed(summary)
    made = "\n".join(f"- {safe.markdown(': '.join(row))}" for row in words.made(summary, trials))
    yield f"<details><summary>How it was measured</summary>\n\n{made}\n\n</details>\n"


def _unlike_passed(summary: Summary) -> Iterator[str]:
    """Yield the claims, and of the cases those that did not pass."""
    rows = [test for test in answers(summary) if test.group == "claims" or test.outcome != "passes"]
    cells = [(safe.markdown(row.name), row.outcome, safe.markdown(row.text)) for row in rows]
    lines = [f"| {name} | **{outcome}** | {text} |" for name, outcome, text in cells]
    if lines:
        yield "\n".join(["| test | outcome | reason |", "| --- | --- | --- |", *lines])
        yield ""
