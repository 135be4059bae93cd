"""The command that decides open ratios sooner: the same servers in turns."""

import shlex
from collections.abc import Sequence

from benchforge.cli.measure.run.run_words import hides, run_words
from benchforge.errors import Unusable
from benchforge.model.files.result import Header
from benchforge.model.summary.summary import Comparison, Summary
from benchforge.model.trial.trial import Trial
from benchforge.parts.registry import Registry
from benchforge.suite.load import load
from benchforge.suite.scenarios.turns import KEY
from benchforge.suite.suite import Suite
from benchforge.text.readable import conjoined

_SLICE = "100ms"


def in_turns(
    summary: Summary, header: Header, trials: Sequence[Trial], suite: Suite, registry: Registry
) -> str:
    """Return the command, and what it is for; empty where nothing is open, or turns are not valid.

    What cannot take turns is known from the suite, which is read once more with the setting.
    """
    private = all(one.namespaces.get("network") == "private" for one in trials if one.measured)
    if summary.smoke or not private or hides(header, suite):
        return ""
    able: list[str] = []
    for label in dict.fromkeys(one.scenario for one in summary.comparisons if _open(one, suite)):
        if not _decided_on(label, suite) and _valid([*able, label], header, suite, registry):
            able.append(label)
    if not able:
        return ""
    words = run_words(suite, header.profile, _settings(able, header))
    only = " ".join(f"--only {shlex.quote(label)}" for label in able)
    return (
        f"to decide {conjoined(able)} sooner: benchforge {words} {only}\n"
        "  The servers then take turns: a ratio needs about a seventh of the time. There are no "
        "requests/s and no response times."
    )


def _open(comparison: Comparison, suite: Suite) -> bool:
    """Whether a pair is undecided in what turns tell, and more blocks would tell more of it."""
    top = next(iter(comparison.rankings), None)
    if top is None or top.ranking is None or not suite.metrics[top.metric].in_turns:
        return False
    few = top.blocks_needed is None or top.blocks_needed > top.blocks
    return few and not all(pair.differ for pair in top.ranking.pairs)


def _decided_on(label: str, suite: Suite) -> bool:
    """Whether the suite says whether the servers of a scenario take turns."""
    scenario = suite.scenarios.get(label)
    return (
        scenario is None or scenario.interleave is not None or KEY in suite.repeat.model_fields_set
    )


def _settings(labels: Sequence[str], header: Header) -> list[tuple[str, str]]:
    return [*header.settings.items(), *((f"scenarios.{one}.{KEY}", _SLICE) for one in labels)]


def _valid(labels: Sequence[str], header: Header, suite: Suite, registry: Registry) -> bool:
    settings = _settings(labels, header)
    try:
        load(suite.path, registry, profile=header.profile, settings=settings, only=labels)
    except Unusable:  # the file may have gone meanwhile
        return False
    return True
