"""The authors' door: the only module of benchforge that a plugin imports."""

from benchforge.errors import BenchforgeError, OutputDamaged
from benchforge.hookspecs import hookimpl
from benchforge.model.answer import Request
from benchforge.model.bins import Kept, kept
from benchforge.model.capacity import Capacity
from benchforge.model.check import Check
from benchforge.model.claim import Asked, Claim, Question, Term
from benchforge.model.find import Attempt, Find, Objective, Outcome, Sought
from benchforge.model.histogram import Histogram
from benchforge.model.observation import Flow, Machine, Role, Usage
from benchforge.model.pivot import NAMES, Pivot, Place, Statistic, place, places
from benchforge.model.ranking import Ranked, Ranking
from benchforge.model.reading import Reading, Schedule, Series
from benchforge.model.sample import Sample
from benchforge.model.standing import Standing
from benchforge.model.summary import (
    CaseSummary,
    Comparison,
    DoubtedTrial,
    FailedTrial,
    Finding,
    Line,
    Placebo,
    Summary,
    TrialSample,
)
from benchforge.model.swept import Swept
from benchforge.model.times import doubted
from benchforge.model.titled import titled
from benchforge.model.trial import CaseName, Failure, Load, Started, Trial
from benchforge.model.units import Duration, Rate, Share, Size
from benchforge.model.verdict import Against, Estimate, Rejected, Verdict
from benchforge.model.window import WHOLE, Settled, Window
from benchforge.parts.command import Command, Finished, Need, Task
from benchforge.parts.fillable import Fillable
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
from benchforge.parts.probe import Accepts, Probe, RightAnswer, Succeeds
from benchforge.parts.site import Output, Site, Target, Tree
from benchforge.parts.wrong import WrongOption

__all__ = [
    "NAMES",
    "WHOLE",
    "Accepts",
    "Against",
    "Asked",
    "Attempt",
    "Backend",
    "BenchforgeError",
    "Capacity",
    "CaseName",
    "CaseSummary",
    "Check",
    "Claim",
    "Client",
    "Command",
    "Comparison",
    "DoubtedTrial",
    "Driver",
    "Duration",
    "Estimate",
    "FailedTrial",
    "Failure",
    "Fillable",
    "Find",
    "Finding",
    "Finished",
    "Flow",
    "Histogram",
    "Kept",
    "Line",
    "Load",
    "Loader",
    "Machine",
    "Metric",
    "Need",
    "Objective",
    "Outcome",
    "Output",
    "OutputDamaged",
    "Part",
    "Pivot",
    "Place",
    "Placebo",
    "Probe",
    "Question",
    "Ranked",
    "Ranking",
    "Rate",
    "Reading",
    "Rejected",
    "Reporter",
    "Request",
    "RightAnswer",
    "Role",
    "RunsPython",
    "Sample",
    "Schedule",
    "Series",
    "Server",
    "ServesCode",
    "Service",
    "Settled",
    "Share",
    "Site",
    "Size",
    "Sought",
    "Standing",
    "Started",
    "Statistic",
    "Succeeds",
    "Summary",
    "Swept",
    "Target",
    "Task",
    "Term",
    "Tree",
    "Trial",
    "TrialSample",
    "Usage",
    "Verdict",
    "Window",
    "WrongOption",
    "doubted",
    "hookimpl",
    "kept",
    "place",
    "places",
    "titled",
]
