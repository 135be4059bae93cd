"""A server at rising concurrency, as the suite varied it."""

from pydantic import JsonValue, NonNegativeInt, PositiveInt

from benchforge.model.summary.capacity import Sweep
from benchforge.model.summary.verdict import Estimate
from benchforge.model.values.frozen import Frozen


class Level(Frozen):
    """What a server served at one level."""

    concurrency: PositiveInt
    "Requests under way at a time."
    value: Estimate
    "The typical throughput, with the interval of this session."
    by_law: float | None = None
    "What the law gives here; None without one."


class ConcurrencySweep(Frozen):
    """One server, one driver, and an option of the driver at three levels or more."""

    scenario: str
    "Its label."
    server: str
    "Its label, with what varies of it."
    driver: str
    "The label of the loader or client."
    option: str
    "The path of what was varied."
    vary: dict[str, JsonValue]
    "What else varies at this point, without what belongs to the servers."
    metric: str
    "The label of the metric: a throughput."
    unit: str
    "Of the values."
    blocks: NonNegativeInt
    "Blocks that have believed values of every level."
    levels: tuple[Level, ...]
    "By rising concurrency."
    left_out: tuple[PositiveInt, ...] = ()
    "Levels without any value that is believed."
    sweep: Sweep | None
    "None where nothing can be said of all levels together."
    why: str = ""
    "Why not."
