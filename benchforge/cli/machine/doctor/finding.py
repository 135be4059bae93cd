"""A finding on this machine: its state, its effect, and what to do."""

from dataclasses import dataclass
from functools import partial
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


ok, warn = partial(MachineFinding, "ok"), partial(MachineFinding, "warn")
unknown = partial(MachineFinding, "unknown")


def judged(subject: str, wrong: bool, good: str, says: str, do: str = "") -> MachineFinding:
    """Return a warning with its effect and advice if something is wrong, else what is good."""
    return warn(subject, says, do) if wrong else ok(subject, good)
