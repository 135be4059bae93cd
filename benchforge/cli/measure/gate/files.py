"""The files of a gate: a comment, JUnit's XML, a badge, and the summary of GitHub's job page."""

import json
import os
from pathlib import Path
from typing import Final

from benchforge.cli.console.named_file import write_file
from benchforge.cli.measure.gate.outcome import Outcome
from benchforge.cli.measure.gate.text import badge_text, markdown, verdict_text
from benchforge.errors import CannotKeep, Unusable
from benchforge.report.junit_xml import Element, JunitSuite, JunitTest, junit_xml
from benchforge.text import safe

STEP_SUMMARY: Final = "GITHUB_STEP_SUMMARY"
_LABEL: Final = "benchforge gate"
_ELEMENTS: Final[dict[str, Element]] = {
    "broken": "failure",
    "slower": "failure",
    "invalid": "error",
    "undecided": "error",
}
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
    """Write the files that were named, and append to GitHub's summary where there is one."""
    if comment is not None:
        write_file(comment, markdown(outcome))
    if junit_xml is not None:
        write_file(junit_xml, junit(outcome))
    if badge is not None:
        write_file(badge, badge_json(outcome) if badge.suffix == ".json" else badge_svg(outcome))
    if summary := os.environ.get(STEP_SUMMARY):
        try:
            with Path(summary).open("a", encoding="utf-8") as file:
                file.write(f"{markdown(outcome)}\n")
        except OSError as error:
            raise CannotKeep(f"{STEP_SUMMARY}: {summary}: {error.strerror}") from error


def junit(outcome: Outcome) -> str:
    """Return each verdict as a test: slower fails, and no answer is an error."""
    tests = []
    for question in outcome.questions:
        state = question.verdict.state
        element: Element = _ELEMENTS.get(state, "")
        if element and question.passes:
            element = "skipped"
        says = verdict_text(question, outcome.limit)
        tests.append(JunitTest("benchforge.gate", question.title, says, element, state))
    return junit_xml(_LABEL, [JunitSuite(_LABEL, tests)]).decode()


def badge_json(outcome: Outcome) -> str:
    """Return what shields.io reads from an endpoint."""
    text, colour = badge_text(outcome)
    endpoint = {"schemaVersion": 1, "label": _LABEL, "message": text, "color": colour}
    return f"{json.dumps(endpoint)}\n"


def badge_svg(outcome: Outcome) -> str:
    """Return the badge as a picture."""
    text, colour = badge_text(outcome)
    left, right = (round(len(one) * _LETTER) + 12 for one in (_LABEL, text))
    return _SVG.format(
        width=left + right,
        left=left,
        right=right,
        left_middle=left / 2,
        right_middle=left + right / 2,
        label=safe.html(_LABEL),
        text=safe.html(text),
        colour=colour,
    )
