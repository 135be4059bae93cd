"""Servers that stand before others: their names looked up, at each point of what varies."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

from pydantic import ValidationError

from benchforge.parts.part import UPSTREAM_OPTIONS, Server
from benchforge.suite.matrix import Point, about, part_with, projected, reaching
from benchforge.suite.suite import Declared, Scenario
from benchforge.suite.toml.faults import Fault, Hint, Nearest
from benchforge.suite.toml.positions import Path


@dataclass(eq=False)
class Astray(Exception):
    """A server cannot stand before another."""

    trail: Sequence[str]
    "Labels up to that server."
    label: str
    "Label of the other."
    message: str
    hint: Hint
    concerned: Point
    "Part of the point that is about the server."


def behind(front: Declared, servers: Mapping[str, Declared], point: Point) -> tuple[str, ...]:
    """Return the labels of what a server stands before at a point, in the order of their start.

    Of the point, only what is about servers that can stand before others is looked at. Raises
    Astray for a name that is no server's and for a circle, and pydantic's ValidationError where
    an option of such a server cannot be what the point says.
    """
    gathered: dict[str, None] = {}
    _gather((front.label,), front, servers, point, gathered)
    return tuple(gathered)


def _gather(
    trail: tuple[str, ...],
    declaration: Declared,
    servers: Mapping[str, Declared],
    point: Point,
    gathered: dict[str, None],
) -> None:
    if not _is_front(declaration):
        return
    concerned = reaching(point, "servers", declaration)
    for label in cast("Server", part_with(declaration, concerned)).upstreams():
        if label in trail:
            circle = " → ".join((*trail[trail.index(label) :], label))
            message = f"stands before itself: {circle}"
            raise Astray(trail, label, message, "break the circle", concerned)
        if label not in servers:
            hint = Nearest(label, servers, "declared")
            raise Astray(trail, label, f"no server {label!r} is declared", hint, concerned)
        if label not in gathered:
            _gather((*trail, label), servers[label], servers, point, gathered)
            gathered[label] = None


def _is_front(declaration: Declared) -> bool:
    return bool(declaration.cls.model_fields.keys() & set(UPSTREAM_OPTIONS))


def fronts(labels: Iterable[str], servers: Mapping[str, Declared]) -> list[Declared]:
    """Return those of the servers that can stand before others."""
    return [servers[label] for label in labels if label in servers and _is_front(servers[label])]


def leading(scenario: Scenario, servers: Mapping[str, Declared]) -> set[str]:
    """Return the paths of all that varies and may decide what stands behind a server."""
    standing = fronts(servers, servers)
    return {path for one in standing for path in about(scenario, "servers", one)}


class Reached(NamedTuple):
    """What the servers of a scenario stand before, at any of its points."""

    labels: tuple[str, ...]
    "Labels of those servers, without the scenario's own."
    astray: tuple[Astray, ...] = ()
    "Servers that cannot stand where a point says."


def reached(scenario: Scenario, servers: Mapping[str, Declared]) -> Reached:
    """Return all that a scenario's servers stand before, and where they cannot."""
    labels: dict[str, None] = {}
    astray: list[Astray] = []
    standing = fronts(scenario.servers, servers)
    paths = leading(scenario, servers) if standing else set()
    for point in projected(scenario, paths) if standing else ():
        for front in standing:
            try:
                labels |= dict.fromkeys(behind(front, servers, point))
            except Astray as error:
                astray.append(error.with_traceback(None))
            except ValidationError:
                continue  # the value's own fault
    beyond = tuple(label for label in labels if label not in scenario.servers)
    return Reached(beyond, tuple(astray))


def upstream_faults(servers: Mapping[str, Declared], labels: Sequence[str]) -> Iterator[Fault]:
    """Yield a fault for each server that stands before one that there is not, or before itself.

    `labels` are those that the suite declares, `servers` those of them that are sound.
    """
    circles: set[frozenset[str]] = set()
    for front in fronts(servers, servers):
        try:
            behind(front, servers, {})
        except Astray as error:
            if error.label in error.trail:
                circle = frozenset(error.trail[error.trail.index(error.label) :])
                if circle in circles:
                    continue
                circles.add(circle)
            if error.label not in labels or error.label in servers:
                at = _written(servers[error.trail[-1]], error.label)
                yield Fault(at, error.message, error.hint)


def _written(declaration: Declared, label: str) -> Path:
    """Return where a server names the one that it stands before."""
    for option in UPSTREAM_OPTIONS:
        named = declaration.options.get(option)
        if named == label:
            return ("servers", declaration.label, option)
        if isinstance(named, list) and label in named:
            return ("servers", declaration.label, option, named.index(label))
    return ("servers", declaration.label)
