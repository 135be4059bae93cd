"""How readiness is seen."""

from dataclasses import dataclass
from pathlib import Path

from benchforge.parts.command import Command


@dataclass(frozen=True)
class RightAnswer:
    """Ready when the scenario's request gets a right answer on the port for HTTP."""


@dataclass(frozen=True)
class Succeeds:
    """Ready when a command exits with 0."""

    command: Command


@dataclass(frozen=True)
class Accepts:
    """Ready when a connection is accepted: at a port, by its name, or at a unix socket."""

    at: str | Path = "http"


Probe = RightAnswer | Succeeds | Accepts
