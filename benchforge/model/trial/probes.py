"""What a server answered when it was asked one by one, on each side of the load."""

from typing import Literal

from pydantic import Field, NonNegativeInt

from benchforge.model.answer import Answer
from benchforge.model.frozen import Frozen


class Alike(Frozen):
    """Answers of the same status, content type and body."""

    answer: Answer
    "The first of them."
    before: NonNegativeInt
    "How many there were before the load."
    after: NonNegativeInt
    "How many there were after it."


class Probes(Frozen):
    """The scenario's request, asked one by one, each time on a connection of its own.

    Connections are kept alive, or said to be closed, as it was asked of the load tool.
    """

    before: NonNegativeInt
    "How many were answered before the load."
    after: NonNegativeInt
    "How many were answered after it."
    kinds: NonNegativeInt
    "How many answers there were of which no two are alike."
    alike: tuple[Alike, ...]
    "The most frequent of those, eight at most."
    wrong: dict[str, NonNegativeInt] = Field(default_factory=dict)
    "What was wrong with how many, eight reasons at most: by what the scenario expects."
    unanswered: dict[str, NonNegativeInt] = Field(default_factory=dict)
    "Why how many were not answered."
    debug: tuple[str, ...] | None = None
    """What the answer to a path that nobody serves shows of a development mode, after the load;
    None where there was none, and in a result of an older benchforge."""


class Listener(Frozen):
    """Who listens where the server was asked."""

    address: str
    "The root that was asked, such as http://127.0.0.1:40001."
    ours: bool | None
    "Whether it is a process of the server that was started, before the load and after it."
    why: str = ""
    "Why that is not known."


class Complaint(Frozen):
    """A line of a process that ran out of something."""

    label: str
    "Of the process, as its files beside the trial are named."
    of: Literal["descriptors", "ports"]
    "What it had none of any more."
    line: str
    "The first such line, cut to 200 characters."
