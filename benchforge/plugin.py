"""The authors' door: the only module of benchforge that a plugin imports."""

from benchforge.errors import BenchforgeError, OutputDamaged
from benchforge.hookspecs import hookimpl
from benchforge.model.answer import Request
from benchforge.model.histogram import Histogram
from benchforge.model.observation import Role, Usage
from benchforge.model.reading import Reading
from benchforge.model.sample import Sample
from benchforge.model.summary import CaseSummary, Line, Summary
from benchforge.model.trial import Trial
from benchforge.model.units import Duration, Rate, Size
from benchforge.parts.command import Command, Finished, Need, Task
from benchforge.parts.part import (
    Backend,
    Client,
    Driver,
    Loader,
    Metric,
    Part,
    Reporter,
    Server,
    Service,
)
from benchforge.parts.probe import Probe, RightAnswer, Succeeds
from benchforge.parts.site import Output, Site, Target

__all__ = [
    "Backend",
    "BenchforgeError",
    "CaseSummary",
    "Client",
    "Command",
    "Driver",
    "Duration",
    "Finished",
    "Histogram",
    "Line",
    "Loader",
    "Metric",
    "Need",
    "Output",
    "OutputDamaged",
    "Part",
    "Probe",
    "Rate",
    "Reading",
    "Reporter",
    "Request",
    "RightAnswer",
    "Role",
    "Sample",
    "Server",
    "Service",
    "Site",
    "Size",
    "Succeeds",
    "Summary",
    "Target",
    "Task",
    "Trial",
    "Usage",
    "hookimpl",
]
