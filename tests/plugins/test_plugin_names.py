"""The names of `benchforge.plugin` and its rooms are a promise to all who write a plugin."""

import re
from pathlib import Path
from types import ModuleType

import pytest

from benchforge import plugin
from benchforge.plugin import databases, drawing, load_tools

DATABASES = "DataBackend Dataset TcpBackend URI hba last_word password_of verifier"
LOAD_TOOLS = """
Amount BAD Count Printing Program Seconds Timed ToolJson WholeSeconds agree counted ended_well
growing headers lasted line numbers only_get optional parsing require
"""
DRAWING = """
COLOURS COURSE_HEIGHT Chart ChartAxis ChartRow Element Headline JunitSuite JunitTest LIMIT Quoted
RatioAxis chart_file colours_of course_drawing difference drawing_file grid headline in_rounds
interval_bar interval_text junit_xml mark numbers pair_ratio poster quote ratio_ticks rendered short
stretched svg tick_texts titled
"""
ROOT = Path(__file__).parents[2]
NAMES = """
AXIS_NAMES CLOSE RATE Accepts Backend BenchforgeError Bodies Capacity CaseSummary Cause Check
Claim Client Command Comparison ComparisonState ComparisonVerdict ConcurrencySweep Driver
Duration Estimate Fact FailedTrial Fillable Finished FoldedFinding Histogram Load Loader
Measurand Metric MetricRanking MetricSummary Need ObjectiveOutcome Output OutputDamaged Part
Pivot Place Probe Ranking Rate Reader Reading Reporter Request RightAnswer Role Row RunsPython
Sample SampledBody Schedule SearchTrial Series Server ServesCode Service Share Site Size Source
StageReading StartedProcess Statistic Succeeds Summary Target Task Trial TrialSample TrialValue
Usage Verdict Window WrongOption after_cut bounded door doubted exposed hookimpl place places
readable safe server_names text_of titled trial_values
"""

WHAT_TO_DO = """
Plugins of others import these names.
- To add a name: add it to a group in benchforge/plugin/ and to its list here. Say so in
  CHANGELOG.md under "Added".
- To remove or rename a name: raise the minor version in pyproject.toml (from 1.0 on, the major).
  Say in CHANGELOG.md under "Changed" what to write instead. Change the built-in parts and the
  templates of `benchforge plugins new`.
- If a field of a result's files changes too, raise FORMAT in benchforge/model/files/file.py.
"""


ROOMS = [(plugin, NAMES), (databases, DATABASES), (load_tools, LOAD_TOOLS), (drawing, DRAWING)]


@pytest.mark.parametrize(("room", "names"), ROOMS)
def test_the_names_that_plugins_import_are_the_promised_ones(room: ModuleType, names: str) -> None:
    missing = sorted(set(names.split()) - set(room.__all__))
    more = sorted(set(room.__all__) - set(names.split()))
    assert not missing, f"gone: {', '.join(missing)}.\n{WHAT_TO_DO}"
    assert not more, f"new: {', '.join(more)}.\n{WHAT_TO_DO}"
    assert len(room.__all__) == len(set(room.__all__))
    assert all(hasattr(room, name) for name in room.__all__)


@pytest.mark.parametrize("room", [room for room, _ in ROOMS])
def test_each_group_of_names_has_a_heading_in_the_reference(room: ModuleType) -> None:
    text = Path(str(room.__file__)).read_text(encoding="utf-8")
    groups = re.findall(r"^(.*)\n__all__ \+?= \[", text, re.MULTILINE)
    assert groups
    assert all(re.fullmatch(r"# [A-Z][a-z ]+: .+\.", heading) for heading in groups), groups
    page = (ROOT / "docs/reference/plugin.md").read_text(encoding="utf-8")
    assert all(f"`{name}" in page or f"### {name}\n" in page for name in room.__all__)
