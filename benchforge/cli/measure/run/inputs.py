"""What a run of the command line goes by: what was asked for, and what was made of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from benchforge.cli.console.options import Lock
from benchforge.cli.console.reported import Shown
from benchforge.model.files.result import Header
from benchforge.parts.registry import Registry
from benchforge.run.execute import StopLimits
from benchforge.run.trial.context import TrialContext
from benchforge.suite.plan import RunGraph
from benchforge.suite.suite import Suite


@dataclass(frozen=True)
class RunOptions:
    """What the command line asks for."""

    registry: Registry
    profile: str | None = None
    settings: Sequence[tuple[str, str]] = ()
    only: Sequence[str] = ()
    limits: StopLimits = field(default_factory=StopLimits)
    shown: Shown = field(default_factory=Shown)
    lock: Lock = None
    resumable: bool = True
    "False if the measured suite is in no file, so that --resume could not read it."


@dataclass(frozen=True)
class PreparedRun:
    """A suite that can be measured: its plan, and programs and interpreters that are there."""

    suite: Suite
    graph: RunGraph
    context: TrialContext
    header: Header
    "The header of a result that begins now."
