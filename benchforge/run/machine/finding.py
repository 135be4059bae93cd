"""One thing that was looked at on this machine: how it is, what that means, what to do."""

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "warn", "missing", "unknown"]


@dataclass(frozen=True)
class Finding:
    """What was found of a subject; `unknown` is what nobody told, never a pass."""

    state: State
    subject: str
    says: str
    "How it is, and what that means for what is measured."
    do: str = ""
    "What to do, in a few words."


def ok(subject: str, says: str) -> Finding:
    """Return a finding that is as it should be."""
    return Finding("ok", subject, says)


def warn(subject: str, says: str, do: str = "") -> Finding:
    """Return a finding that makes what is measured less certain."""
    return Finding("warn", subject, says, do)


def unknown(subject: str, says: str, do: str = "") -> Finding:
    """Return a finding of what nobody tells."""
    return Finding("unknown", subject, says, do)
