"""One thing that was looked at on this machine: how it is, what that means, what to do."""

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "warn", "missing", "unknown"]


@dataclass(frozen=True)
class MachineFinding:
    """What was found of a subject; `unknown` is what nobody told, never a pass."""

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
    """Return a finding that makes what is measured less certain."""
    return MachineFinding("warn", subject, says, do)


def unknown(subject: str, says: str, do: str = "") -> MachineFinding:
    """Return a finding of what nobody tells."""
    return MachineFinding("unknown", subject, says, do)
