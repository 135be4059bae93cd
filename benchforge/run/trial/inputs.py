"""Inputs and outcome of one trial."""

import math
from dataclasses import dataclass
from pathlib import Path

from benchforge.model.trial.trial import Trial
from benchforge.parts.part import Driver
from benchforge.run.http.request import Like
from benchforge.suite.plan import Measurement


@dataclass(frozen=True)
class TrialInputs:
    """What one trial measures, and where its files go."""

    step: Measurement
    folder: Path
    number: int
    attempt: int = 1
    like: Like | None = None
    "Answer that its own must equal; None where it may be any that is right."
    spare_s: float = math.inf
    "Longest wait for quiet, in seconds."
    divided: tuple[Driver, int, int] | None = None
    "The whole load, place and number of places, where the driver is one of several load tools."
    at_once: int = 1
    "Trials that start together: a service may take that many times as long."


@dataclass(frozen=True)
class MeasuredTrial:
    """A trial, ready to be written, and the body that its server answered."""

    trial: Trial
    body: bytes | None
