"""Answers of a server at random moments of a load."""

from typing import Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt
from pydantic.dataclasses import dataclass

from benchforge.model.trial.answers.answer import Answer
from benchforge.model.values.frozen import ROW, Frozen


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

    At each moment it opened a connection, sent one request or several, and closed it. Over HTTP/2
    each second moment was on a connection that it held open.
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
    version: Literal["", "HTTP/1.0", "HTTP/1.1", "HTTP/2"] = ""
    "HTTP version of the requests: that of the load; empty if it was not recorded."
    answers: tuple[MonitorAnswer, ...] = ()
    "Distinct answers: the wrong ones first, then the most frequent, at most 32 of each."
    median_s: NonNegativeFloat | None = None
    "Median time from the start of a connection to the end of its first answer."
    p90_s: NonNegativeFloat | None = None
    "90th percentile of that time."
    longest_s: NonNegativeFloat | None = None
    "Longest such time."
    held: NonNegativeInt = 0
    "Number of moments with an answer on the connection that it held open."
    streams: NonNegativeInt = 0
    "Most requests on that connection by then, with those before the load."
    oldest_s: NonNegativeFloat = 0.0
    "Highest age of that connection by then."
    cpu_s: NonNegativeFloat = 0.0
    "CPU time of the monitor during the load."
    why: str = ""
    "Reason why nothing is known; empty if the monitor ran."


@dataclass(frozen=True, slots=True, kw_only=True, config=ROW)
class Windows:
    """Random windows of a load, and what was judged in them.

    Answers of one window stand or fall together: so a bound is that of windows, not of answers.
    """

    windows: NonNegativeInt = 0
    "Number of windows that were opened."
    judged: NonNegativeInt = 0
    "Number of windows in which at least one answer was judged."
    wrong: NonNegativeInt = 0
    "Number of windows with a wrong answer."
    other_bodies: NonNegativeInt = 0
    "Number of windows with right answers only, of which one has a body that no probe got."
    answers: NonNegativeInt = 0
    "Number of answers that were judged."
    wrong_answers: NonNegativeInt = 0
    "Number of answers that were wrong."
    unjudged: NonNegativeInt = 0
    "Number of complete answers that were not judged: too large, not decoded, of no known request."
    cut: NonNegativeInt = 0
    "Number of answers whose request came in a window, and whose end did not within the bound."
    longest_s: NonNegativeFloat | None = None
    "Longest time from the end of a request to the end of its answer."
    lost_packets: NonNegativeInt = 0
    "Number of packets that the kernel dropped: the connections' answers were not judged."
    open_s: NonNegativeFloat = 0.0
    "Time for which a packet socket was open, in all windows together."


class LoadAnswers(Frozen):
    """Answers on the load's own connections, judged as the scenario's or kind's `expect` says."""

    load: Windows = Windows()
    "Windows in the measured load."
    around: Windows = Windows()
    "Windows where nothing is measured: warm-up, slices that do not count, a load after the load."
    kinds: dict[str, Windows] = Field(default_factory=dict)
    "Windows in the measured load by the label of a kind, in a mix: what was judged of this kind."
    answers: tuple[MonitorAnswer, ...] = ()
    "Distinct answers: the wrong ones first, then the most frequent, at most 32 of each."
    cpu_s: NonNegativeFloat = 0.0
    "CPU time that the windows took during the load."
    behind: str = ""
    """Encryption of the load, such as nginx's TLS, if the answers are those that a proxy got from \
its upstream server; empty if they are the load's own."""
    why: str = ""
    "Reason why nothing is known, such as TLS or HTTP/2; empty if windows were opened."
