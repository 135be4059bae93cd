"""A gate's outcome in words and as files: for a terminal, Markdown, JUnit's XML, a badge."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from benchforge.cli.console.named_file import write_file
from benchforge.cli.measure.gate.outcome import GatedPair, Outcome
from benchforge.cli.measure.gate.screen import answer, ends_of
from benchforge.cli.measure.gate.verdict import STATES, SpeedVerdict
from benchforge.errors import CannotKeep, Unusable
from benchforge.report.junit_xml import JunitSuite, JunitTest, junit_xml
from benchforge.text import safe
from benchforge.text.readable import change, counted, percent

_OLDER = "; its width is that of the older results: use --base, or keep more of them"


def lines(outcome: Outcome) -> Iterator[str]:
    """Yield all that a gate says, a line for each pair and note: the answer first."""
    yield safe.word(answer(outcome))
    for question in outcome.questions:
        state = question.verdict.state
        sign = "~" if question.waiver is not None and state != "broken" else STATES[state].sign
        yield f"  {sign} {safe.word(question.title)}: {verdict_text(question, outcome.limit)}"
        yield from (f"    {safe.word(text)}" for text in question.changed)
    for note in outcome.notes:
        yield f"  · {safe.word(note)}"


def verdict_text(question: GatedPair, limit: float) -> str:
    """Return a verdict in words, with its interval, and its waiver."""
    verdict = question.verdict
    text = _worded(verdict, limit)
    if interval := measured(verdict):
        text += f": speed by {question.metric} {interval}"
    if verdict.why:
        text += f": {safe.word(verdict.why)}"
    if verdict.state == "undecided":
        text += "" if verdict.why else ": the interval is too wide"
        text += "; measure for longer with --time" if verdict.counts == "block" else _OLDER
    return f"{text} {safe.word(question.waived)}".rstrip()


def measured(verdict: SpeedVerdict) -> str:
    """Return by how much head is faster, with the interval; empty where it is unknown."""
    match [change(end - 1) for end in ends_of(verdict)]:
        case [value, low, high]:
            return f"{value} ({low} to {high}, {counted(verdict.blocks, verdict.counts)})"
    return ""


def markdown(outcome: Outcome) -> str:
    """Return a comment for a pull request."""
    rows = [
        f"| {safe.markdown(item.title)} | {_state(item, outcome.limit)} "
        f"| {measured(item.verdict)}, by {safe.markdown(item.metric)} |"
        for item in outcome.questions
    ]
    parts = [f"### benchforge gate\n\n**{safe.markdown(answer(outcome))}**\n"]
    if rows:
        head = "| scenario · server · load | verdict | change of speed |\n|---|---|---|\n"
        parts.append(head + "\n".join(rows) + "\n")
    changed = (f"{pair.title}: {text}" for pair in outcome.questions for text in pair.changed)
    notes = [f"- {safe.markdown(note)}" for note in (*changed, *outcome.notes)]
    if outcome.questions:
        hold = f"- Intervals hold for all rows together at {percent(outcome.level)}."
        notes.append(f"{hold} They are about this machine in this run.")
    parts.append("\n".join(notes) + "\n" if notes else "")
    return "\n".join(filter(None, parts))


def _state(question: GatedPair, limit: float) -> str:
    verdict = question.verdict
    reason = f": {verdict.why}" if verdict.why else ""
    text = f"{STATES[verdict.state].sign} {_worded(verdict, limit)}{reason} {question.waived}"
    return safe.markdown(text.rstrip())


def _worded(verdict: SpeedVerdict, limit: float) -> str:
    return verdict.state + f" by more than {percent(limit)}" * (verdict.state == "not slower")


def badge_text(outcome: Outcome) -> tuple[str, str]:
    """Return the text of a badge and its colour."""
    if outcome.state == "not slower":
        return f"not slower by {percent(outcome.limit)}", "#2e7d32"
    return outcome.state, "#c62828" if outcome.state in {"slower", "broken"} else "#9a6700"


STEP_SUMMARY: Final = "GITHUB_STEP_SUMMARY"
STEP_OUTPUT: Final = "GITHUB_OUTPUT"
_LABEL: Final = "benchforge gate"
_LETTER = 6.6  # pixels of a letter of 11 pixels, on average
_SVG: Final = """<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img" \
aria-label="{label}: {text}">
<title>{label}: {text}</title>
<rect width="{left}" height="20" fill="#555"/>
<rect x="{left}" width="{right}" height="20" fill="{colour}"/>
<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
<text x="{left_middle}" y="14">{label}</text>
<text x="{right_middle}" y="14">{text}</text>
</g>
</svg>
"""


def check_badge(badge: Path | None) -> None:
    """Raise Unusable for a badge of another kind."""
    if badge is not None and badge.suffix not in {".svg", ".json"}:
        raise Unusable(f"--badge {badge}: neither .svg nor .json", "end it with .svg or .json")


def write(
    outcome: Outcome, *, comment: Path | None, junit_xml: Path | None, badge: Path | None
) -> None:
    """Write the files that were named, and append to those of a step of GitHub's actions."""
    if comment is not None:
        write_file(comment, markdown(outcome))
    if junit_xml is not None:
        write_file(junit_xml, junit(outcome))
    if badge is not None:
        write_file(badge, badge_json(outcome) if badge.suffix == ".json" else badge_svg(outcome))
    for variable, text in ((STEP_SUMMARY, markdown), (STEP_OUTPUT, outputs)):
        if named := os.environ.get(variable):
            try:
                with Path(named).open("a", encoding="utf-8") as file:
                    file.write(f"{text(outcome)}\n")
            except OSError as error:
                raise CannotKeep(f"{variable}: {named}: {error.strerror}") from error


def outputs(outcome: Outcome) -> str:
    """Return the outputs of a step: the verdict, and of its pairs the slowest one's ratio."""
    verdicts = [pair.verdict for pair in outcome.questions if pair.verdict.state == outcome.state]
    with_interval = (row for row in verdicts if measured(row))
    row = min(with_interval, key=lambda verdict: verdict.value or 0.0, default=None)
    ratio = f"{row.value:.4f}" if row else ""
    interval = f"{row.low:.4f} to {row.high:.4f}" if row else ""
    page = f"{outcome.result}/report.html" if outcome.result else ""
    return f"verdict={outcome.state}\nratio={ratio}\ninterval={interval}\npage={page}"


def junit(outcome: Outcome) -> str:
    """Return each verdict as a test: slower fails, and no answer is an error."""
    tests = []
    for question in outcome.questions:
        state = question.verdict.state
        element = STATES[state].element
        if element and question.passes:
            element = "skipped"
        says = verdict_text(question, outcome.limit)
        tests.append(JunitTest("benchforge.gate", question.title, says, element, state))
    return junit_xml(_LABEL, [JunitSuite(_LABEL, tests)]).decode()


def badge_json(outcome: Outcome) -> str:
    """Return a badge for an endpoint of shields.io."""
    text, colour = badge_text(outcome)
    endpoint = {"schemaVersion": 1, "label": _LABEL, "message": text, "color": colour}
    return f"{json.dumps(endpoint)}\n"


def badge_svg(outcome: Outcome) -> str:
    """Return the badge as a picture."""
    text, colour = badge_text(outcome)
    label_width, right = (round(len(text_) * _LETTER) + 12 for text_ in (_LABEL, text))
    return _SVG.format(
        width=label_width + right,
        left=label_width,
        right=right,
        left_middle=label_width / 2,
        right_middle=label_width + right / 2,
        label=safe.html(_LABEL),
        text=safe.html(text),
        colour=colour,
    )
