"""The table [gate]: what `benchforge gate` lets pass, and why."""

from datetime import date

from pydantic import Field

from benchforge.model.values.frozen import Frozen


class Waiver(Frozen):
    """An element of `gate.allow`: a scenario that may be slower."""

    scenario: str
    "Label of the scenario."
    server: str | None = None
    "Label of the server. Default: all servers of the scenario."
    reason: str = Field(min_length=1)
    "Reason, which the output of `benchforge gate` shows."
    until: date | None = None
    "Last day of the waiver, such as 2027-01-31. Default: no end."


class Gate(Frozen):
    """The table [gate]."""

    allow: tuple[Waiver, ...] = ()
    "Waivers: scenarios that may be slower, each with a reason. Only `benchforge gate` reads them."
