"""Texts that are stored below tests/reporters/stored/screens, to compare what is printed with.

With BENCHFORGE_REWRITE=1 tests write them anew: read the difference. Of JSON the order of keys does
not count; of a page its visible words are stored, a line for each piece of text.
"""

import gzip
import json
import os
import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

from browser import Headless

from benchforge.checks.limits import limits
from benchforge.checks.summary import with_comparison_verdicts
from benchforge.model.summary.summary import Summary
from benchforge.model.trial.trial import Trial

STORED = Path(__file__).parents[1] / "reporters/stored"
RECORDED = ("faster", "undecided", "same", "unlike", "broken", "start", "disturbed")
"Results of real runs, one of each state of a verdict; the last has several comparisons."


@cache
def recorded(name: str) -> tuple[Summary, tuple[Trial, ...]]:
    """Return the summary of a recorded result, with the verdicts of today, and its trials."""
    content = json.loads(gzip.decompress((STORED / f"{name}.json.gz").read_bytes()))
    trials = tuple(Trial.model_validate_json(json.dumps(item)) for item in content["trials"])
    summary = Summary.model_validate_json(json.dumps(content["summary"]))
    return with_comparison_verdicts(summary, limits(), trials), trials


def compared(name: str, text: str) -> None:
    file = STORED / "screens" / name
    if file.suffix == ".json":
        text = json.dumps(json.loads(text), indent=1, sort_keys=True)
    if os.environ.get("BENCHFORGE_REWRITE"):
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


def compared_page(name: str, page: Path) -> None:
    """Compare the words of a page, which loads nothing and fits narrow and wide windows."""
    parser = _Words()
    parser.feed(page.read_text(encoding="utf-8"))
    compared(name, "\n".join(parser.lines) + "\n")
    with Headless() as headless:
        for width in (400, 1400):
            with headless.visit(page, width) as visit:
                assert (visit.messages, visit.sideways()) == ([], 0)
                assert visit.requests == [page.as_uri()]


class _Words(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.hidden = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.hidden = tag in {"style", "script"}
        label = dict(attrs).get("aria-label")
        self.lines += [f"({label})"] if tag == "svg" and label else []

    def handle_endtag(self, tag: str) -> None:
        self.hidden = False

    def handle_data(self, data: str) -> None:
        text = re.sub(r"\s+", " ", data).strip()
        self.lines += [text] if text and not self.hidden else []
