"""What a server answered when it was asked one by one, on each side of the load."""

from typing import Literal

from pydantic import Field, NonNegativeInt

from benchforge.model.trial.answer import Answer
from benchforge.model.values.frozen import Frozen


class EqualAnswers(Frozen):
    """Answers of the same status, content type and body."""

    answer: Answer
    "The first of them."
    before: NonNegativeInt
    "How many there were before the load."
    after: NonNegativeInt
    "How many there were after it."


class Sizes(Frozen):
    """How long right answers were, in bytes."""

    shortest_body: NonNegativeInt
    "Of all answers."
    longest_body: NonNegativeInt
    "Of all answers."
    shortest_head: NonNegativeInt
    "All that is no body: first line, headers, and what frames chunks."
    longest_head: NonNegativeInt
    "As `shortest_head`."


class Probes(Frozen):
    """The scenario's request, asked one by one, each time on a connection of its own.

    Connections are kept alive, or said to be closed, as it was asked of the load tool.
    """

    before: NonNegativeInt
    "How many were answered before the load."
    after: NonNegativeInt
    "How many were answered after it."
    distinct: NonNegativeInt
    "Number of distinct answers: by status, content type and body."
    most_frequent: tuple[EqualAnswers, ...]
    "The most frequent distinct answers, eight at most."
    sizes: Sizes | None = None
    "Of all right answers; None without one."
    version: Literal["", "HTTP/1.0", "HTTP/1.1"] = ""
    "In which version of HTTP they were asked: that of the load tool, if it is one of these."
    wrong: dict[str, NonNegativeInt] = Field(default_factory=dict)
    "What was wrong with how many, eight reasons at most: by what the scenario expects."
    unanswered: dict[str, NonNegativeInt] = Field(default_factory=dict)
    "Why how many were not answered."
    debug: tuple[str, ...] | None = None
    """What the answer to a path that nobody serves shows of a development mode, after the load;
    None where there was none."""


class Listener(Frozen):
    """Who listens where the server was asked."""

    address: str
    "The root that was asked, such as http://127.0.0.1:40001."
    is_server: bool | None
    "Whether it is a process of the server that was started, before the load and after it."
    why: str = ""
    "Why that is not known."


class Exhaustion(Frozen):
    """A line of a process that ran out of something."""

    label: str
    "Of the process, as its files beside the trial are named."
    resource: Literal["descriptors", "ports"]
    "The resource that it ran out of."
    line: str
    "The first such line, cut to 200 characters."
