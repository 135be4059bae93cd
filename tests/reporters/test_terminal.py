"""The terminal, from the summary and trials of a run that other programs disturbed.

`BENCHFORGE_REWRITE=1 pytest tests/reporters/test_terminal.py` writes the texts anew: read the
difference.
"""

import gzip
import json
import os
import re
from functools import cache
from pathlib import Path

import pytest
from benchforge_reporters.document.document import document
from benchforge_reporters.terminal.report import Terminal
from benchforge_reporters.terminal.why import Why

from benchforge.checks.limits import limits
from benchforge.checks.summary import with_comparison_verdicts
from benchforge.model.summary.summary import Summary
from benchforge.model.trial.trial import Trial

STORED = Path(__file__).parent / "stored"
MOST_LINES = 50


@cache
def stored() -> tuple[Summary, tuple[Trial, ...]]:
    result = json.loads(gzip.decompress((STORED / "disturbed.json.gz").read_bytes()))
    trials = tuple(Trial.model_validate_json(json.dumps(one)) for one in result["trials"])
    summary = Summary.model_validate_json(json.dumps(result["summary"]))
    return with_comparison_verdicts(summary, limits()), trials


def shown(width: int, *, colour: bool = False) -> str:
    return Terminal().text(*stored(), width, colour)


def compared(name: str, text: str) -> None:
    file = STORED / name
    if os.environ.get("BENCHFORGE_REWRITE"):
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [80, 120, 200])
def test_the_text_is_as_stored_and_fits(width: int) -> None:
    text = shown(width)
    compared(f"terminal-{width}.txt", text)
    assert max(map(len, text.splitlines())) <= width
    assert len(text.splitlines()) <= MOST_LINES


def test_why_tells_all_findings_of_each_cause() -> None:
    summary, trials = stored()
    text = Why().text(summary, trials, 120)
    compared("why-120.txt", text)
    for cause in summary.causes:
        for finding in cause.findings:
            check = finding.check
            unknown = f"  - {check.id} {check.name}".rstrip()  # in a list of their own
            assert f"{check.status} {check.id}" in text or unknown in text
            assert check.message.split(maxsplit=1)[0] in text


def test_colours_change_no_word_and_each_has_one_meaning() -> None:
    coloured = shown(100, colour=True)
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == shown(100)
    assert set(re.findall(r"\x1b\[([0-9;]*)m", coloured)) <= {
        *("0", "1", "2"),
        "1;31",
        "32",
        "33",
        "36",
    }


def test_an_invalid_cause_is_first_and_a_brief_text_is_brief() -> None:
    causes = document(*stored()).causes
    assert causes.shown[0].kind == "invalid"
    assert all(len(one.brief) <= 72 for one in causes.all)
    assert causes.findings == sum(one.cause.count for one in causes.all)


def test_disturbed_trials_have_a_sentence_below_the_answer_that_holds_all_the_same() -> None:
    (pool, *_) = document(*stored()).answers
    assert pool.state == "differs"
    assert pool.sentences[0].startswith("The ratios rest on")
