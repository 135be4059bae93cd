"""A finding on this machine: its state, its effect, and what to do."""

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "warn", "missing", "unknown"]


@dataclass(frozen=True)
class MachineFinding:
    """The state of a subject; `unknown` is never a pass."""

    state: State
    subject: str
    says: str
    "State of the machine, and its effect on a measurement."
    do: str = ""
    "Advice in a few words."


def ok(subject: str, says: str) -> MachineFinding:
    """Return a finding that is as it should be."""
    return MachineFinding("ok", subject, says)


def warn(subject: str, says: str, do: str = "") -> MachineFinding:
    """Return a finding that makes measurements less certain."""
    return MachineFinding("warn", subject, says, do)


def unknown(subject: str, says: str, do: str = "") -> MachineFinding:
    """Return that nothing tells the state of a subject."""
    return MachineFinding("unknown", subject, says, do)
