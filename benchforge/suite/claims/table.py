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
    """What a side, or what is subtracted from it, says of its case."""

    at: Path
    scenario: str
    where: Mapping[str, JsonValue]
    "Server and driver are axes as others are."


def sides(claim: ClaimTable, path: Path, inner: bool = True) -> Iterator[tuple[Path, Subtracted]]:
    """Yield each side and what is subtracted from it, with the place where it was written."""
    for key in ("a", "b"):
        side: Side | None = getattr(claim, key)
        if side is not None:
            yield (*path, key), side
            if inner and side.minus is not None:
                yield (*path, key, "minus"), side.minus


def side_at(written: ClaimTable, path: Path) -> Subtracted:
    """Return what was written at a place that `sides` yields."""
    return next(side for side_path, side in sides(written, path[:2]) if side_path == path)


def all_meant(written: ClaimTable, path: Path, each: Mapping[str, JsonValue]) -> Iterator[Meant]:
    """Yield what each side means, and what is subtracted from it, at one value of `each`."""
    for key in ("a", "b"):
        yield from meant(written, (*path, key), each)


def meant(written: ClaimTable, path: Path, each: Mapping[str, JsonValue]) -> Iterator[Meant]:
    """Yield what a side means, then what is subtracted from it; nothing where there is no such."""
    side: Side | None = getattr(written, str(path[-1]))
    if side is None:
        return
    claim_meant = Meant(path, written.scenario or "", {**written.where, **each})
    yield (first := _narrowed(claim_meant, path, side))
    if side.minus is not None:
        yield _narrowed(first, (*path, "minus"), side.minus)


def _narrowed(claim: Meant, path: Path, side: Subtracted) -> Meant:
    driver = side.client or side.loader
    values = {"server": side.server, "driver": driver, KIND: side.kind, STAGE: side.stage}
    named: dict[str, JsonValue] = {key: value for key, value in values.items() if value is not None}
    return Meant(path, side.scenario or claim.scenario, {**claim.where, **side.where, **named})
