"""What a server answered when it was asked one by one, on each side of the load."""

from typing import Literal

from pydantic import Field, NonNegativeInt

from benchforge.model.trial.answers.answer import Answer
from benchforge.model.values.frozen import Frozen


class EqualAnswers(Frozen):
    """Answers of the same status, content type and body."""

    answer: Answer
    "First of the answers."
    before: NonNegativeInt
    "Number of such answers before the load."
    after: NonNegativeInt
    "Number of such answers after the load."


class Sizes(Frozen):
    """Sizes of right answers, in bytes."""

    shortest_body: NonNegativeInt
    "Shortest body in bytes."
    longest_body: NonNegativeInt
    "Longest body in bytes."
    shortest_head: NonNegativeInt
    "Shortest head in bytes: first line, headers, and the framing of chunks."
    longest_head: NonNegativeInt
    "Longest head in bytes."


class Probes(Frozen):
    """Single requests of the scenario, in the load's version of HTTP.

    Over HTTP/1 each has a connection of its own, and keeps it alive or closes it, as the load tool
    does. Over HTTP/2 those of one side share a connection.
    """

    before: NonNegativeInt
    "Number of answers before the load."
    after: NonNegativeInt
    "Number of answers after the load."
    distinct: NonNegativeInt
    "Number of distinct answers, by status, content type and body."
    most_frequent: tuple[EqualAnswers, ...]
    "Most frequent distinct answers, at most eight."
    sizes: Sizes | None = None
    "Sizes of all right answers; None if there are none."
    version: Literal["", "HTTP/1.0", "HTTP/1.1", "HTTP/2"] = ""
    "HTTP version of the requests: that of the load tool, or HTTP/1.1 if it is unknown."
    wrong: dict[str, NonNegativeInt] = Field(default_factory=dict)
    "Number of wrong answers by what was wrong with them, at most eight kinds."
    unanswered: dict[str, NonNegativeInt] = Field(default_factory=dict)
    "Number of requests without an answer, by reason."
    debug: tuple[str, ...] | None = None
    "Signs of a development mode in the answer to an unknown path; None without an answer."


class Listener(Frozen):
    """Process that listens at the server's address."""

    address: str
    "Root URL of the requests, such as http://127.0.0.1:40001."
    is_server: bool | None
    "True if a process of the started server listened, before and after the load."
    why: str = ""
    "Reason why the listener is unknown."


class Exhaustion(Frozen):
    """A line of a process that reports that a resource ran out."""

    label: str
    "Label of the process, as in the names of its files."
    resource: Literal["descriptors", "ports"]
    "Resource that ran out."
    line: str
    "First line that reports it, cut to 200 characters."
