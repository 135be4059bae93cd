"""Response times of servers that all received requests at one and the same rate."""

from pydantic import NonNegativeInt, PositiveFloat

from benchforge.model.summary.verdict import Estimate
from benchforge.model.values.frozen import Frozen


class ServerLatency(Frozen):
    """Response times of one server, in seconds, with intervals over blocks."""

    server: str
    "Label of the server."
    responses: NonNegativeInt
    "Number of responses, over all blocks that count."
    median: Estimate
    "Median of the response times, in seconds."
    tail: Estimate
    "The percentile `tail` of the response times, in seconds."


class LatencyAtRate(Frozen):
    """Response times of the servers of a comparison, measured beside it, one server at a time."""

    scenario: str
    "Label of the scenario that measured them."
    rate: PositiveFloat
    "Number of requests per second that each server received."
    tail: float = 99.0
    "The percentile beside the median: 99, or the highest that each server has responses for."
    servers: tuple[ServerLatency, ...] = ()
    "Servers in the order of the suite; empty if no response time is known."
    why: str = ""
    "Reason why no response time is known, or why the tail is below 99; else empty."
