"""What a load tool says of one measurement, in one form for all tools."""

from typing import Annotated

from pydantic import Field, JsonValue, NonNegativeFloat, NonNegativeInt, PositiveFloat

from benchforge.model.trial.histogram import Histogram
from benchforge.model.values.frozen import Frozen

_STATUSES = r"^[1-9]\d\d(?:-[1-9]\d\d)?$|^[1-9]xx$"


class Series(Frozen):
    """What ended when: a number for each bin of the load, from its start; the last may be short."""

    bin_s: PositiveFloat
    "Seconds of each bin."
    completed: tuple[NonNegativeInt, ...]
    "Complete responses, of any status."
    errors: tuple[NonNegativeInt, ...]
    "Requests that ended without a complete response."


class Bodies(Frozen):
    """Responses of one status whose bodies are of one length."""

    status: int = Field(ge=100, le=999)
    "Of HTTP."
    length: NonNegativeInt
    "Of each body, in bytes."
    responses: NonNegativeInt
    "How many there were."


class Schedule(Frozen):
    """How well an open loop kept the times at which it meant to send."""

    rate: PositiveFloat
    "Requests per second that were asked for."
    intended: NonNegativeInt | None = None
    "Requests whose time came."
    sent: NonNegativeInt | None = None
    "Of those, requests that were put on a connection."
    lateness: Histogram | None = None
    "By how much the tool itself was late, for each intended request."
    queueing: Histogram | None = None
    "Time that requests stood in line because all connections that were allowed were busy."


class Reading(Frozen):
    """Counts, errors by class and latency of one measurement; whatever is None is not known.

    Good responses are complete ones with the status that the suite expects, and a body as long as
    a right one. A driver says what its tool tells: `statuses`, and of bodies `bodies`, `body_bytes`
    or `document_bytes`; `good_at_least` and `good_at_most` are what its tool takes as good. Once
    the server was asked again, benchforge forms them anew. Where a tool tells too little, or counts
    errors in classes that overlap, only bounds are known.
    """

    seconds: float = Field(ge=1e-9, le=1e9)
    "How long the tool really loaded: a rate is formed of it, and has to be a number."
    responses: NonNegativeInt
    "Complete responses, of any status."
    good_at_least: NonNegativeInt
    "Good responses; the same as `good_at_most` where their number is known."
    good_at_most: NonNegativeInt
    "Good responses."
    doubt: str = ""
    "Why only bounds are known, where they differ."
    by_length: str = ""
    "Why responses of which the tool tells no status are taken as good; empty: it tells all."
    statuses: dict[Annotated[str, Field(pattern=_STATUSES)], NonNegativeInt] = Field(
        default_factory=dict
    )
    """Complete responses by status, as far as the tool tells: 200, 2xx or 100-399, which do not
    overlap. What is missing has another status; empty where the tool tells none."""
    own_requests: bool = False
    "Whether the tool asks what a script of the user's says: what the suite expects is no measure."
    errors: dict[str, NonNegativeInt]
    "By class: status, connect, read, write, timeout, length, ... Classes may overlap: never add."
    overlapping_errors: bool = False
    "Whether one request may stand in several classes of errors."
    unanswered: NonNegativeInt | None = None
    "Requests that ended without a complete response, not those in flight at the end."
    received_bytes: NonNegativeInt | None = None
    "Everything read from the sockets, headers included."
    bodies: tuple[Bodies, ...] = ()
    "Responses by status and length of body, as far as the tool tells; empty: it does not."
    body_bytes: NonNegativeInt | None = None
    "All bodies together, as they were read."
    promised_bytes: NonNegativeInt | None = None
    "All bodies together, by what heads said (Content-Length): without those in chunks."
    byte_error: NonNegativeInt = 0
    "By how much the tool's bytes may be off, because it rounds them."
    latency: Histogram | None = None
    """Every response's time, to the end of its body: from when the request was meant to be sent
    where there is a schedule, else from sending it."""
    latency_by_status: dict[str, Histogram] = Field(default_factory=dict)
    "`latency`, split by 2xx, 4xx and so on; empty where the tool does not split it."
    service_time: Histogram | None = None
    "Every response's time from when the request was really sent."
    phases: dict[str, Histogram] = Field(default_factory=dict)
    "connect: until a new connection could be used; first_byte: from sending; empty: not known."
    in_flight: Histogram | None = None
    "The ages at the end of requests that had no response yet: each would have taken longer."
    series: Series | None = None
    "What ended when, where the tool tells."
    schedule: Schedule | None = None
    "None for a closed loop."
    percentiles_us: dict[str, NonNegativeFloat] | None = None
    "Of a tool that gives no histogram: percent as text, like 99.9, to microseconds."
    percentiles_by: str = ""
    "How the tool formed them, for a person."
    mean_us: NonNegativeFloat | None = None
    "Of a tool that gives no histogram."
    latency_samples: NonNegativeInt | None = None
    "How many responses stand behind `percentiles_us`."
    censored: NonNegativeInt = 0
    "Requests that took longer than anything in `latency`."
    censored_from_us: NonNegativeInt | None = None
    "What those took at least."
    connections: NonNegativeInt | None = None
    "TCP connections opened during the load, where the tool tells."
    test_connections: NonNegativeInt = 0
    "Connections that the tool opens on top, to try the address."
    method: str | None = None
    "In which of several ways the requests were really made, where the tool tells."
    document_bytes: NonNegativeInt | None = None
    "The body length that the tool took as right, where it tells."
    other_lengths: NonNegativeInt | None = None
    "Responses with a body of another length than that, which the tool takes as doubtful."
    server_software: str | None = None
    "The header Server, where the tool tells."
    cpu_user_s: NonNegativeFloat | None = None
    "CPU time of the tool itself during the load, without its start, where it tells."
    cpu_system_s: NonNegativeFloat | None = None
    "As `cpu_user_s`, in the kernel."
    process_s: tuple[NonNegativeFloat, ...] = ()
    "How long each whole process took, start and end included, of a tool that times processes."
    process_user_s: NonNegativeFloat | None = None
    "The mean of their CPU time in user mode, where the tool tells."
    process_system_s: NonNegativeFloat | None = None
    "As `process_user_s`, in the kernel."
    printed: dict[str, JsonValue] = Field(default_factory=dict)
    "Numbers that the tool printed, in its own words and units, beside what was recomputed."
    defects: tuple[str, ...] = ()
    "Known defects of the tool that touch this reading, such as wrk:synthetic-samples."

    @property
    def good(self) -> int | None:
        """The number of good responses, None when only bounds are known."""
        return self.good_at_least if self.good_at_least == self.good_at_most else None

    @property
    def bounds(self) -> str:
        """The number of good responses in words, with the reason where it is not known."""
        if self.good is not None:
            return f"{self.good} good responses"
        between = f"between {self.good_at_least} and {self.good_at_most} good responses"
        return f"{between}: {self.doubt}" if self.doubt else between


def span(statuses: str) -> range:
    """Return the statuses that a key of `Reading.statuses` stands for."""
    if statuses.endswith("xx"):
        first = int(statuses[0]) * 100
        return range(first, first + 100)
    first_status, _, last_status = statuses.partition("-")
    return range(int(first_status), int(last_status or first_status) + 1)
