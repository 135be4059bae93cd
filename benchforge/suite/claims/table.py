"""The tables [claims.x] of a suite, as they are written, and which cases they mean."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from pydantic import Field, JsonValue

from benchforge.model.frozen import Frozen
from benchforge.model.units import Share
from benchforge.suite.positions import Path


class Subtracted(Frozen):
    """What is subtracted from a side, block by block: what it does not name is as in that side."""

    scenario: str | None = None
    "In place of the claim's."
    server: str | None = None
    "A label of the scenario."
    client: str | None = None
    "A label of the scenario: who asks."
    loader: str | None = None
    "In place of `client`."
    where: dict[str, JsonValue] = Field(default_factory=dict)
    "Axes to values, laid over the claim's."


class Side(Subtracted):
    """One side of a claim: it is exactly one case."""

    minus: Subtracted | None = None
    "Another case, whose values are subtracted block by block."


class Written(Frozen):
    """A table [claims.x], as a suite writes it."""

    says: str = ""
    "The claim in words."
    scenario: str | None = None
    "Whose cases it is about; a side may name its own."
    metric: str
    "The label of what is compared."
    of: str | None = None
    "What part of the metric, such as p99 or server, where it has several."
    a: Side
    "The first side."
    b: Side | None = None
    "The other; without it the question is about a alone."
    where: dict[str, JsonValue] = Field(default_factory=dict)
    "Axes to the values that both sides have; an axis that a case is not about is passed over."
    each: str | None = None
    "An axis: the claim is asked once for each of its values."
    holds: str
    """`a > b`, `a >= 2 * b`, `a == b +- 3%`, `a - b < 2ms`, `a < 25ms`, also with `<`, `<=`; \
bounds are in the metric's unit, or in one that is written."""
    margin: Share = Share(0.03)
    "What is no farther apart than that is the same, where the question is a ratio."
    published: float | None = None
    "What a source says of it: the ratio, or the number in the metric's unit."
    original: str = ""
    "What was wrong with the source's own measurement."


class Meant(NamedTuple):
    """What a side, or what is subtracted from it, says of its case."""

    at: Path
    scenario: str
    where: Mapping[str, JsonValue]
    "Server and driver are axes as others are."


def sides(written: Written, at: Path, *, inner: bool = True) -> Iterator[tuple[Path, Subtracted]]:
    """Yield each side and what is subtracted from it, with the place where it was written."""
    for key in ("a", "b"):
        side: Side | None = getattr(written, key)
        if side is not None:
            yield (*at, key), side
            if inner and side.minus is not None:
                yield (*at, key, "minus"), side.minus


def side_at(written: Written, at: Path) -> Subtracted:
    """Return what was written at a place that `sides` yields."""
    return next(side for place, side in sides(written, at[:2]) if place == at)


def all_meant(written: Written, at: Path, each: Mapping[str, JsonValue]) -> Iterator[Meant]:
    """Yield what each side means, and what is subtracted from it, at one value of `each`."""
    for key in ("a", "b"):
        yield from meant(written, (*at, key), each)


def meant(written: Written, at: Path, each: Mapping[str, JsonValue]) -> Iterator[Meant]:
    """Yield what a side means, then what is subtracted from it; nothing where there is no such."""
    side: Side | None = getattr(written, str(at[-1]))
    if side is None:
        return
    whole = Meant(at, written.scenario or "", {**written.where, **each})
    yield (first := _narrowed(whole, at, side))
    if side.minus is not None:
        yield _narrowed(first, (*at, "minus"), side.minus)


def _narrowed(whole: Meant, at: Path, side: Subtracted) -> Meant:
    own = {"server": side.server, "driver": side.client or side.loader}
    named_here: dict[str, JsonValue] = {axis: one for axis, one in own.items() if one is not None}
    return Meant(at, side.scenario or whole.scenario, {**whole.where, **side.where, **named_here})
