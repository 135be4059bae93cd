"""The plugin API: a plugin imports this module and its rooms, and nothing else of benchforge.

Its names are a promise: `tests/plugins/test_plugin_names.py` lists them. Each comment below is the
heading of a group on the reference page that is drawn from this module.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from benchforge.errors import BenchforgeError, OutputDamaged
from benchforge.model.suite.claim import Claim
from benchforge.model.suite.pivot import AXIS_NAMES, Pivot, Place, Statistic, place, places
from benchforge.model.suite.search import ObjectiveOutcome, SearchTrial
from benchforge.model.trial.answers.answer import Request
from benchforge.model.trial.histogram import Histogram
from benchforge.model.trial.reading import (
    Bodies,
    Load,
    Reading,
    SampledBody,
    Schedule,
    Series,
    StageReading,
)
from benchforge.model.trial.sample import Sample
from benchforge.model.trial.window import Window, after_cut
from benchforge.model.values.bounds import bounded
from benchforge.model.values.case_name import Role, server_names
from benchforge.model.values.units import RATE, Duration, Measurand, Rate, Share, Size, titled
from benchforge.parts.command import Command, Finished, Need, Task
from benchforge.parts.content import text_of
from benchforge.parts.fillable import Fillable, WrongOption
from benchforge.parts.hookspecs import hookimpl
from benchforge.parts.part import (
    Backend,
    Client,
    Driver,
    Loader,
    Metric,
    Part,
    Reporter,
    RunsPython,
    Server,
    ServesCode,
    Service,
)
from benchforge.parts.reader import Fact, Reader, Row, Source
from benchforge.parts.site import Accepts, Output, Probe, RightAnswer, Site, Succeeds, Target
from benchforge.text import door, readable, safe

if TYPE_CHECKING:  # only a run and its reports need them, and they take an eighth of `check`
    from benchforge.model.summary.capacity import Capacity, ConcurrencySweep
    from benchforge.model.summary.cause import Cause, FoldedFinding
    from benchforge.model.summary.doubts import doubted
    from benchforge.model.summary.ranking import MetricRanking, Ranking
    from benchforge.model.summary.rows import TrialValue, trial_values
    from benchforge.model.summary.summary import (
        CaseSummary,
        Comparison,
        FailedTrial,
        MetricSummary,
        Summary,
        TrialSample,
    )
    from benchforge.model.summary.verdict import (
        CLOSE,
        ComparisonState,
        ComparisonVerdict,
        Estimate,
        Verdict,
    )
    from benchforge.model.trial.check import Check
    from benchforge.model.trial.observation import Usage
    from benchforge.model.trial.trial import StartedProcess, Trial, exposed

# Hooks: functions that benchforge calls.
__all__ = ["hookimpl"]
# Parts: base classes of parts.
__all__ += ["Backend", "Client", "Loader", "Metric", "Part", "Reader", "Reporter", "Server"]
# Common bases: what parts of several kinds have in common.
__all__ += ["Driver", "RunsPython", "ServesCode", "Service"]
# Options: types of options, and the error for a wrong one.
__all__ += ["Duration", "Fillable", "Rate", "Share", "Size", "WrongOption"]
# Starting: commands and tasks, and the place where they run.
__all__ += ["Command", "Finished", "Need", "Site", "Task", "text_of"]
# Probes: conditions under which a service is ready.
__all__ += ["Accepts", "Probe", "RightAnswer", "Succeeds"]
# Loading: the input of load tools and clients, and errors of their output.
__all__ += ["BenchforgeError", "Load", "Output", "OutputDamaged", "Request", "Target", "bounded"]
# Readings: the numbers that load tools and clients return.
__all__ += ["Bodies", "Histogram", "Reading", "SampledBody", "Schedule", "Series", "StageReading"]
# Auditing: the input of readers, and what they yield.
__all__ += ["Fact", "Row", "Source"]
# Metrics: the input of metrics, and what they yield.
__all__ += ["RATE", "Measurand", "Role", "Sample", "Trial", "Usage", "Window", "after_cut"]
# Summaries: the content of a result, for reporters.
__all__ += ["CaseSummary", "MetricSummary", "StartedProcess", "Summary", "TrialSample"]
# Comparisons: cases that are compared, and their order.
__all__ += ["Comparison", "ComparisonState", "ComparisonVerdict", "MetricRanking", "Ranking"]
# Verdicts: estimates with intervals, and answers to claims.
__all__ += ["CLOSE", "Claim", "Estimate", "Verdict"]
# Findings: trials that failed, checks that did not pass, and what they concern.
__all__ += ["Cause", "Check", "FailedTrial", "FoldedFinding", "doubted", "exposed"]
# Capacities: throughput at rising concurrency, and searches for a rate.
__all__ += ["Capacity", "ConcurrencySweep", "ObjectiveOutcome", "SearchTrial"]
# Rows: values of trials as flat rows, and names for people.
__all__ += ["TrialValue", "server_names", "titled", "trial_values"]
# Tables: the layout of a suite's table.
__all__ += ["AXIS_NAMES", "Pivot", "Place", "Statistic", "place", "places"]
# Text and files: numbers as people read them; safe handling of untrusted text and folders.
__all__ += ["door", "readable", "safe"]

_LATE = (
    *("trial.check", "trial.observation", "trial.trial", "summary.summary", "summary.verdict"),
    *("summary.ranking", "summary.capacity", "summary.cause", "summary.doubts", "summary.rows"),
)


def __getattr__(name: str) -> object:
    """Return a name of a trial or a summary, imported when a plugin first imports it."""
    modules = _LATE if name in __all__ else ()
    for module in modules:
        content = vars(import_module(f"benchforge.model.{module}"))
        if name in content:
            return content[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
