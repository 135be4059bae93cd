"""The document that a driver prints: read whole, or not at all."""

from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from benchforge.plugin.load_tools import ToolJson

Count = Annotated[int, Field(ge=0)]
Seconds = Annotated[float, Field(ge=0)]
Status = Annotated[int, Field(ge=100, le=599)]


BAD = 400  # from this status on


class WarmUp(ToolJson):
    """The requests that a driver made before its load."""

    model_config = ConfigDict(extra="forbid")

    requests: Count
    responses: Count
    connections: Count | None


class ClientReport(ToolJson):
    """What a driver counted; latencies in microseconds, each with its count."""

    model_config = ConfigDict(extra="forbid", strict=False)

    protocol: Literal[1]
    library: str
    version: str
    "The library's version; empty for the standard library, which has Python's."
    python: str
    mode: str
    way: str = ""
    "The way in which the driver made requests; empty for a library with one way."
    requests: Count
    seconds: Annotated[float, Field(gt=0)]
    "The length of the load."
    user_s: Seconds
    "CPU time of the process during the load; the kernel estimates how user and system share it."
    system_s: Seconds
    import_s: Seconds
    set_up_s: Seconds
    "Time from the start of the driver to the first request, including imports."
    statuses: dict[Status, Count]
    errors: dict[str, Count]
    "The number of requests without a complete response, by class of exception."
    complaints: dict[str, str]
    "The text of the first exception of each class."
    surfaced: Count
    "The number of errors that reached the calling code."
    first_length: Count | None
    "Body length of the first response with a status below 400."
    other_lengths: Count
    "Such responses with a body of another length."
    bodies: list[tuple[Status, Count, Annotated[int, Field(ge=1)]]] = Field(default_factory=list)
    "Status, length and number of responses of the most frequent lengths."
    body_bytes: Count
    connections: Count | None
    "The number of connections that opened during the load."
    connections_why: str
    warm_up: WarmUp
    latency_us: dict[Count, Annotated[int, Field(ge=1)]]

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        if sum(self.latency_us.values()) != self.responses:
            raise ValueError(f"not as many latencies as the {self.responses} responses")
        if self.responses + self.failed != self.requests:
            raise ValueError(f"responses and errors do not make {self.requests} requests")
        if self.surfaced > self.failed:
            raise ValueError(f"{self.surfaced} errors surfaced of {self.failed}")
        if (self.first_length is None) != (self.good == 0) or self.other_lengths > self.good:
            raise ValueError(f"the lengths are not those of {self.good} good responses")
        for status in {status for status, _, _ in self.bodies}:
            held = sum(count for code, _, count in self.bodies if code == status)
            if held > self.statuses.get(status, 0):
                raise ValueError(f"bodies: {held} of status {status} are more than its responses")
        if (self.connections is None) != bool(self.connections_why):
            raise ValueError("connections are known, or it is said why they are not")
        return self

    @property
    def responses(self) -> int:
        """Complete responses of any status."""
        return sum(self.statuses.values())

    @property
    def good(self) -> int:
        """Complete responses with a status below 400."""
        return sum(count for status, count in self.statuses.items() if status < BAD)

    @property
    def failed(self) -> int:
        """Requests without a complete response."""
        return sum(self.errors.values())
