"""How readiness is seen."""

from dataclasses import dataclass

from benchforge.parts.command import Command


@dataclass(frozen=True)
class RightAnswer:
    """Ready when the scenario's request is answered rightly on the port for HTTP."""


@dataclass(frozen=True)
class Succeeds:
    """Ready when a command exits with 0."""

    command: Command


Probe = RightAnswer | Succeeds
