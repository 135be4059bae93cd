"""What a server answered at random moments of a load."""

from typing import Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt

from benchforge.model.values.frozen import Frozen


class MonitorAnswer(Frozen):
    """Answers of the same status, content type and body to the monitor's requests.

    In a mix: answers to one kind with the same status, content type and judgement.
    """

    kind: str = ""
    "Label of the kind in a mix; empty without one."
    status: int
    "HTTP status."
    content_type: str
    "Header Content-Type; empty without one."
    length: NonNegativeInt
    "Length of the body in bytes, as received."
    sha256: str
    "SHA-256 of the body, as received."
    answers: NonNegativeInt
    "Number of such answers."
    wrong: str = ""
    "Difference from the expected answer; empty if the answers are right."
    judged: bool = True
    "False if the body was not kept or not decoded, and the status is right."
    other_body: bool = False
    "True if the answers are right, and no probe got this body."
    begin: str = ""
    "Begin of such a body; empty for others."


class Monitor(Frozen):
    """Requests of the scenario that benchforge sent at random moments of the load.

    At each moment it opened a connection, sent one request or several, and closed it.
    """

    moments: NonNegativeInt = 0
    "Number of moments at which all answers were judged, or one was wrong."
    wrong: NonNegativeInt = 0
    "Number of moments with a wrong answer."
    other_bodies: NonNegativeInt = 0
    "Number of moments with right answers only, of which one has a body that no probe got."
    unjudged: NonNegativeInt = 0
    "Number of moments with an answer whose body was not kept or not decoded, and no wrong one."
    unanswered: dict[str, NonNegativeInt] = Field(default_factory=dict)
    "Number of moments without an answer, by reason."
    requests: NonNegativeInt = 0
    "Number of requests sent."
    connections: NonNegativeInt = 0
    "Number of connections opened. The network's counters in `observation` are without them."
    head: Literal["load tool", "scenario"] = "scenario"
    """Source of the request's first line and headers: the load tool's first request, as observed \
on the network; or the scenario, with Host."""
    answers: tuple[MonitorAnswer, ...] = ()
    "Distinct answers: the wrong ones first, then the most frequent, at most 32 of each."
    median_s: NonNegativeFloat | None = None
    "Median time from the start of a connection to the end of its first answer."
    p90_s: NonNegativeFloat | None = None
    "90th percentile of that time."
    longest_s: NonNegativeFloat | None = None
    "Longest such time."
    cpu_s: NonNegativeFloat = 0.0
    "CPU time of the monitor during the load."
    why: str = ""
    "Reason why nothing is known; empty if the monitor ran."
