"""What a load tool says of one measurement, in one form for all tools."""

from pydantic import Field, JsonValue, NonNegativeFloat, NonNegativeInt, PositiveFloat

from benchforge.model.frozen import Frozen
from benchforge.model.histogram import Histogram


class Series(Frozen):
    """What ended when: a number for each bin of the load, from its start; the last may be short."""

    bin_s: PositiveFloat
    "Seconds of each bin."
    completed: tuple[NonNegativeInt, ...]
    "Complete responses, of any status."
    errors: tuple[NonNegativeInt, ...]
    "Requests that ended without a complete response."


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
    waited: Histogram | None = None
    "How long requests stood in line because all connections that were allowed were busy."


class Reading(Frozen):
    """Counts, errors by class and latency of one measurement; whatever is None is not known.

    Good responses are complete ones with a status below 400. Some tools count errors in classes
    that overlap: then only bounds of the number of good responses are known.
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
    errors: dict[str, NonNegativeInt]
    "By class: status, connect, read, write, timeout, length, ... Classes may overlap: never add."
    overlapping: bool = False
    "Whether one request may stand in several classes of errors."
    unanswered: NonNegativeInt | None = None
    "Requests that ended without a complete response, not those in flight at the end."
    received_bytes: NonNegativeInt | None = None
    "Everything read from the sockets, headers included."
    latency: Histogram | None = None
    """Every response's time, to the end of its body: from when the request was meant to be sent
    where there is a schedule, else from sending it."""
    latency_by_status: dict[str, Histogram] = Field(default_factory=dict)
    "`latency`, split by 2xx, 4xx and so on; empty where the tool does not split it."
    service: Histogram | None = None
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
    claims: dict[str, JsonValue] = Field(default_factory=dict)
    "What the tool printed, in its own words and units: kept beside what was recomputed."
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
