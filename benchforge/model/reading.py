"""What a load tool says of one measurement, in one form for all tools."""

from pydantic import Field, JsonValue, NonNegativeFloat, NonNegativeInt, PositiveFloat

from benchforge.model.frozen import Frozen
from benchforge.model.histogram import Histogram


class Reading(Frozen):
    """Counts, errors by class and latency of one measurement; whatever is None is not known.

    Good responses are complete ones with a status below 400. Some tools count errors in classes
    that overlap: then only bounds of the number of good responses are known.
    """

    seconds: PositiveFloat
    "How long the tool really loaded."
    responses: NonNegativeInt
    "Complete responses, of any status."
    good_at_least: NonNegativeInt
    good_at_most: NonNegativeInt
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
    "Every response's time, from sending the request to the end of its body."
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
    document_bytes: NonNegativeInt | None = None
    "The body length that the tool took as right, where it tells."
    server_software: str | None = None
    cpu_user_s: NonNegativeFloat | None = None
    "CPU time of the tool itself during the load, without its start, where it tells."
    cpu_system_s: NonNegativeFloat | None = None
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
