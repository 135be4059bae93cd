"""Load that a driver declares, and its reading: one measurement in one form for all tools."""

from typing import Annotated, Literal

from pydantic import Field, JsonValue, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt

from benchforge.model.trial.histogram import Histogram
from benchforge.model.values.frozen import Frozen

_STATUSES = r"^[1-9]\d\d(?:-[1-9]\d\d)?$|^[1-9]xx$"


class Load(Frozen):
    """Load that the driver's options declare; None: unknown."""

    connections: PositiveInt | None = None
    "Number of concurrent connections."
    keep_alive: bool | None = None
    "True if a connection is to carry several requests."
    processes: PositiveInt | None = None
    "Number of threads or processes that make the load."
    declared_s: NonNegativeFloat = 0.0
    "Length of the load by the driver's options."
    kind: Literal["loader", "client"] = "loader"
    "Kind of driver: a client is measured itself, a load tool is part of the apparatus."
    rate: PositiveFloat | None = None
    "Target rate in requests per second; None for a closed loop."
    stages: str = ""
    "Rates over time in words, if the rate changes by plan: `rate` is then their mean."
    concurrency: PositiveInt | None = None
    "Number of concurrent requests in a closed loop, over all connections."
    think_s: NonNegativeFloat = 0.0
    "Pause of a closed loop between a response and the connection's next request."
    method: str | None = None
    "Mode in which requests are to be made, of a driver with several modes that reports it."
    protocol: str | None = None
    "HTTP version of the driver, such as HTTP/1.1."
    alpn: bool = False
    "True if over TLS the driver offers HTTP/2 and HTTP/1.1, of which the server chooses."
    sleeps: bool = True
    "True if the driver waits without using a CPU. If false, its CPU time does not show its limit."
    options_digest: str = ""
    "Digest of the driver's options and script."


class Series(Frozen):
    """Responses and errors in each bin of the load, from its start; the last bin may be shorter."""

    bin_s: PositiveFloat
    "Length of each bin."
    completed: tuple[NonNegativeInt, ...]
    "Number of complete responses of any status in each bin."
    errors: tuple[NonNegativeInt, ...]
    "Number of requests that ended without a complete response in each bin."


class Bodies(Frozen):
    """Number of responses with one status and one length of body."""

    status: int = Field(ge=100, le=999)
    "HTTP status."
    length: NonNegativeInt
    "Length of each body in bytes."
    responses: NonNegativeInt
    "Number of such responses."


class SampledBody(Frozen):
    """Number of sampled responses with one status and one body."""

    status: int = Field(ge=100, le=999)
    "HTTP status."
    length: NonNegativeInt
    "Length of the body in bytes."
    sha256: str
    "SHA-256 of the body."
    responses: NonNegativeInt
    "Number of such responses in the sample."
    begin: str | None = None
    "First 2 kB of the body; None if they were not kept."
    wrong: str | None = None
    "Difference from what the suite expects; empty if there is none, None if it is not known."


class StageReading(Frozen):
    """What a stage of a load measured, by the requests that were due in it."""

    stage: str
    "Rate and length as the suite says them."
    seconds: NonNegativeFloat
    "Time that the load spent in it."
    errors: NonNegativeInt
    "Number of requests that ended without a complete response."
    unfinished: NonNegativeInt
    "Number of requests that had no response at the end of the load."
    latency: Histogram
    "Time of each response, from its due time to its end."
    parts: tuple["StageReading", ...] = ()
    "The same of equal parts of a long stage, in their order."

    def of(self, reading: "Reading") -> "Reading":
        """Return the stage as a reading of its own; which responses are good, the whole tells."""
        count, bad = self.latency.count, reading.responses - reading.good_at_least
        return Reading(
            seconds=max(self.seconds, 1e-9),
            responses=count,
            good_at_least=max(0, count - bad),
            good_at_most=min(count, reading.good_at_most),
            doubt="the load tool does not say in which stage responses were bad",
            errors={},
            unanswered=self.errors,
            latency=self.latency,
            censored=self.errors + self.unfinished,
        )


class Schedule(Frozen):
    """Due times of an open loop, and how well the tool kept them."""

    rate: PositiveFloat
    "Target rate in requests per second."
    intended: NonNegativeInt | None = None
    "Number of requests that were due."
    sent: NonNegativeInt | None = None
    "Number of due requests that were put on a connection."
    lateness: Histogram | None = None
    "Delay of the tool itself, for each request that was due."
    queueing: Histogram | None = None
    "Time that requests waited for a free connection."


class Reading(Frozen):
    """Counts, errors by class and latency of one measurement; None: unknown.

    A good response is complete, with the status that the suite expects, and a body as long as a
    right one. A driver reports what its tool does: `statuses`, and `bodies`, `body_bytes` or
    `document_bytes`; it sets `good_at_least` and `good_at_most` to the tool's own count. benchforge
    replaces them after the probes. Only bounds are known if the tool reports too little, or counts
    errors in classes that overlap.
    """

    seconds: float = Field(ge=1e-9, le=1e9)
    "Real length of the load, by which rates are divided."
    responses: NonNegativeInt
    "Number of complete responses of any status."
    good_at_least: NonNegativeInt
    "Lower bound of the number of good responses; equal to `good_at_most` if it is known."
    good_at_most: NonNegativeInt
    "Upper bound of the number of good responses."
    doubt: str = ""
    "Reason why only bounds are known."
    by_length: str = ""
    "Reason why responses without a status count as good; empty if all have one."
    statuses: dict[Annotated[str, Field(pattern=_STATUSES)], NonNegativeInt] = Field(
        default_factory=dict
    )
    """Number of complete responses by status, without overlap: 200, 2xx or 100-399. Those that are
    not listed have another status; empty if the tool reports none."""
    own_requests: bool = False
    "True if a script of the user's chooses the requests, so that `expect` does not apply."
    errors: dict[str, NonNegativeInt]
    "Number of errors by class, such as timeout. Classes may overlap: never add them."
    overlapping_errors: bool = False
    "True if one request may count in several classes of errors."
    unanswered: NonNegativeInt | None = None
    "Number of requests that ended without a complete response, not those in flight at the end."
    received_bytes: NonNegativeInt | None = None
    "Number of bytes read from the sockets, including headers."
    bodies: tuple[Bodies, ...] = ()
    "Number of responses by status and length of the body; empty if the tool does not report it."
    sampled: tuple[SampledBody, ...] = ()
    "Bodies of the responses that the tool chose at random; empty if it chose none."
    sampled_others: NonNegativeInt = 0
    "Number of sampled responses with further bodies, of which only the number is known."
    body_bytes: NonNegativeInt | None = None
    "Total length of all bodies, as received."
    promised_bytes: NonNegativeInt | None = None
    "Total length of all bodies by their Content-Length, without bodies in chunks."
    byte_error: NonNegativeInt = 0
    "Largest error in bytes of the tool's byte counts, which it rounds."
    latency: Histogram | None = None
    "Time of each response, from its due time (without a schedule: from the send) to its end."
    latency_by_status: dict[str, Histogram] = Field(default_factory=dict)
    "Latencies by 2xx, 4xx and so on; empty if the tool does not split them."
    service_time: Histogram | None = None
    "Time of each response from the real send to the end of its body."
    phases: dict[str, Histogram] = Field(default_factory=dict)
    "Times by phase. connect: until a connection is usable; first_byte: from the send."
    in_flight: Histogram | None = None
    "Ages of the requests that had no response at the end. Each would have taken longer."
    series: Series | None = None
    "Responses and errors over time; None if the tool does not report them."
    schedule: Schedule | None = None
    "Due times of an open loop; None for a closed loop."
    stages: tuple[StageReading, ...] = ()
    "Stages of a load whose rate changes by plan; empty for one rate."
    percentiles_us: dict[str, NonNegativeFloat] | None = None
    "Latencies of a tool without a histogram, by percent as text, such as 99.9."
    percentiles_by: str = ""
    "Method of the tool's percentiles, in words."
    mean_us: NonNegativeFloat | None = None
    "Mean latency of a tool without a histogram."
    latency_samples: NonNegativeInt | None = None
    "Number of responses behind `percentiles_us`."
    censored: NonNegativeInt = 0
    "Number of requests that took longer than every value in `latency`."
    censored_from_us: NonNegativeInt | None = None
    "Lower bound of the latency of these requests."
    connections: NonNegativeInt | None = None
    "Number of TCP connections opened during the load; None if the tool does not report it."
    test_connections: NonNegativeInt = 0
    "Number of additional connections that the tool opens to test the address."
    method: str | None = None
    "Mode in which the requests were really made, of a driver with several modes that reports it."
    document_bytes: NonNegativeInt | None = None
    "Body length that the tool takes as right, if it reports one."
    other_lengths: NonNegativeInt | None = None
    "Number of responses with another body length, which the tool doubts."
    server_software: str | None = None
    "Value of the header Server, if the tool reports it."
    cpu_user_s: NonNegativeFloat | None = None
    "User CPU time of the tool during the load, without its start, if it reports that."
    cpu_system_s: NonNegativeFloat | None = None
    "System CPU time of the tool during the load, without its start, if it reports that."
    process_s: tuple[NonNegativeFloat, ...] = ()
    "Time of each whole process, including start and end, for a tool that times processes."
    process_user_s: NonNegativeFloat | None = None
    "Mean user CPU time of these processes, if the tool reports it."
    process_system_s: NonNegativeFloat | None = None
    "Mean system CPU time of these processes, if the tool reports it."
    printed: dict[str, JsonValue] = Field(default_factory=dict)
    "Numbers that the tool printed, in its own words and units, next to the recomputed ones."
    kinds: dict[str, "Reading"] = Field(default_factory=dict)
    "Readings of the kinds of a mix, by label; empty without a mix, or if the tool tells none."
    not_reached: NonNegativeInt | None = None
    "Number of flows that ended before this later step of theirs; None for all other requests."
    records_taken: tuple[NonNegativeInt, ...] = ()
    "Number of requests that each process or thread took of a mix's stream; empty: unknown."
    stream_began_again: NonNegativeInt = 0
    "Number of times that a process or thread came to the end of the stream, and began again."
    defects: tuple[str, ...] = ()
    "Known defects of the tool that affect this reading, such as wrk:synthetic-samples."

    @property
    def good(self) -> int | None:
        """Number of good responses; None if only bounds are known."""
        return self.good_at_least if self.good_at_least == self.good_at_most else None

    def quantile_us(self, share: float) -> int | None:
        """Return a quantile of the response times in microseconds, unanswered ones included."""
        if self.latency is None:
            return None
        return self.latency.quantile(share, self.censored, self.in_flight)

    def late_share(self, share: float) -> float | None:
        """Return the tool's lateness over the response times, at most: both at one quantile.

        None if the tool does not tell its lateness.
        """
        late = None if self.schedule is None else self.schedule.lateness
        if late is None or self.latency is None:
            return None
        late_us, whole_us = late.quantile(share), self.quantile_us(share)
        if whole_us is None:  # it lies among those that were given up after so long
            whole_us = self.censored_from_us
        if late_us == 0:
            return 0.0
        return late_us / whole_us if late_us is not None and whole_us else None

    @property
    def bounds(self) -> str:
        """Number of good responses in words, with the reason if it is unknown."""
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
