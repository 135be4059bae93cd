"""The tables [claims.x] of a suite, as they are written, and which cases they mean."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from pydantic import Field, JsonValue, PositiveInt

from benchforge.model.values.case_name import KIND, STAGE
from benchforge.model.values.frozen import Frozen
from benchforge.model.values.units import Share
from benchforge.suite.toml.positions import Path


class Subtracted(Frozen):
    """What is subtracted from a side, block by block: what it does not name is as in that side."""

    scenario: str | None = None
    "Label of the side's scenario. Default: the claim's."
    server: str | None = None
    "Label of the server."
    client: str | None = None
    "Label of the client."
    loader: str | None = None
    "Label of the load tool, instead of `client`."
    kind: str | None = None
    "Label of a kind of the scenario's mix. Default: all kinds together."
    stage: PositiveInt | None = None
    "Number of a stage of the load, from 1 on. Default: the whole load."
    where: dict[str, JsonValue] = Field(default_factory=dict)
    "Axes, each with its value. They override the claim's."


class Side(Subtracted):
    """One side of a claim: it is exactly one case."""

    minus: Subtracted | None = None
    "Second case. Its values are subtracted block by block."


class ClaimTable(Frozen):
    """A table [claims.x], as a suite writes it."""

    says: str = ""
    "The claim in words."
    scenario: str | None = None
    "Label of the scenario. A side can set its own."
    metric: str
    "Label of the metric to compare."
    of: str | None = None
    "Part of the metric, such as p99 or server, if the metric has several."
    a: Side
    "First side."
    b: Side | None = None
    "Second side. Default: the claim is about `a` alone."
    where: dict[str, JsonValue] = Field(default_factory=dict)
    "Axes, each with its value on both sides. Axes that a case does not have are ignored."
    each: str | None = None
    "Axis. The claim is tested once for each of its values."
    holds: str
    """Condition: `a > b`, `a >= 2 * b`, `a == b +- 3%`, `a - b < 2ms`, `a < 25ms`, or the same \
with `<` and `<=`. A bound without a unit is in the metric's unit."""
    margin: Share = Share(0.03)
    "Largest relative difference that counts as equal, for claims about a ratio."
    published: float | None = None
    "Value that a source publishes: the ratio, or the number in the metric's unit."
    original: str = ""
    "Error in the source's own measurement."


class Meant(NamedTuple):
    """Words of a side, or of what is subtracted from it, about its case."""

    at: Path
    scenario: str
    where: Mapping[str, JsonValue]
    "Server and driver are axes as others are."
    side: Subtracted
    "Table of the side alone, or of what is subtracted from it."


def all_meant(written: ClaimTable, path: Path) -> Iterator[Meant]:
    """Yield what each side means, and what is subtracted from it, at any value of `each`."""
    for key in ("a", "b"):
        yield from meant(written, (*path, key), {})


def meant(written: ClaimTable, path: Path, each: Mapping[str, JsonValue]) -> Iterator[Meant]:
    """Yield what a side means, then what is subtracted from it; nothing where there is no such."""
    scenario, where = written.scenario or "", {**written.where, **each}
    side: Side | None = getattr(written, str(path[-1]))
    minus = None if side is None else side.minus
    parts: list[tuple[Path, Subtracted | None]] = [(path, side), ((*path, "minus"), minus)]
    for part_path, part in parts:
        if part is not None:
            driver = part.client or part.loader
            values = {"server": part.server, "driver": driver, KIND: part.kind, STAGE: part.stage}
            named: dict[str, JsonValue] = {k: v for k, v in values.items() if v is not None}
            scenario = part.scenario or scenario
            where |= part.where | named
            yield Meant(part_path, scenario, dict(where), part)
