"""A server at rising concurrency, as the suite varied it."""

from pydantic import JsonValue, NonNegativeInt, PositiveInt

from benchforge.model.summary.capacity import Sweep
from benchforge.model.summary.verdict import Estimate
from benchforge.model.values.frozen import Frozen


class Level(Frozen):
    """Throughput of a server at one level of concurrency."""

    concurrency: PositiveInt
    "Number of concurrent requests."
    value: Estimate
    "Typical throughput, with the interval of this session."


class ConcurrencySweep(Frozen):
    """A server, a driver, and an option of the driver at three levels or more."""

    scenario: str
    "Label of the scenario."
    server: str
    "Label of the server, with its varied options."
    driver: str
    "Label of the load tool or client."
    option: str
    "Path of the varied option."
    vary: dict[str, JsonValue]
    "Other varied options at this point, without those of servers."
    metric: str
    "Label of the metric: a throughput."
    unit: str
    "Unit of the values."
    blocks: NonNegativeInt
    "Number of blocks that have believed values of every level."
    levels: tuple[Level, ...]
    "Levels in the order of rising concurrency."
    left_out: tuple[PositiveInt, ...] = ()
    "Levels without a believed value."
    sweep: Sweep | None
    "Statements about all levels together; None if there are none."
    why: str = ""
    "Reason why there are none."
