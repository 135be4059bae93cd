"""The names of `benchforge.plugin` are a promise to everybody who writes a plugin."""

import re
from pathlib import Path

from benchforge import plugin

NAMES = """
AXIS_NAMES CLOSE RATE Accepts Backend BenchforgeError Bodies Capacity CaseSummary Cause Check
Claim Client Command Comparison ComparisonState ComparisonVerdict ConcurrencySweep Driver
Duration Estimate Fact FailedTrial Fillable Finished FoldedFinding Histogram Load Loader
Measurand Metric MetricRanking MetricSummary Need ObjectiveOutcome Output OutputDamaged Part
Pivot Place Probe Ranking Rate Reader Reading Reporter Request RightAnswer Role Row RunsPython
Sample SampledBody Schedule SearchTrial Series Server ServesCode Service Share Site Size Source
StageReading StartedProcess Statistic Succeeds Summary Target Task Trial TrialSample Usage
Verdict Window WrongOption after_cut bounded door doubted exposed hookimpl place places
readable safe server_names text_of titled
"""

WHAT_TO_DO = """
Plugins of others import these names.
- To add a name: add it to a group in benchforge/plugin/__init__.py and to NAMES here. Say so in
  CHANGELOG.md under "Added".
- To remove or rename a name: raise the minor version in pyproject.toml (from 1.0 on, the major).
  Say in CHANGELOG.md under "Changed" what to write instead. Change the built-in parts and the
  templates of `benchforge plugins new`.
- If a field of a result's files changes too, raise FORMAT in benchforge/model/files/file.py.
"""


def test_the_names_that_plugins_import_are_the_promised_ones() -> None:
    missing = sorted(set(NAMES.split()) - set(plugin.__all__))
    more = sorted(set(plugin.__all__) - set(NAMES.split()))
    assert not missing, f"gone: {', '.join(missing)}.\n{WHAT_TO_DO}"
    assert not more, f"new: {', '.join(more)}.\n{WHAT_TO_DO}"
    assert len(plugin.__all__) == len(set(plugin.__all__))
    assert all(hasattr(plugin, name) for name in plugin.__all__)


def test_each_group_of_names_has_a_heading() -> None:
    text = Path(plugin.__file__).read_text(encoding="utf-8")
    groups = re.findall(r"^(.*)\n__all__ \+?= \[", text, re.MULTILINE)
    assert groups
    assert all(re.fullmatch(r"# [A-Z][a-z ]+: .+\.", heading) for heading in groups), groups
