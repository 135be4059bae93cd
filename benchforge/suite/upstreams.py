"""Servers that stand before others: their names looked up, at each point of what varies."""

import contextlib
from collections.abc import Mapping, Sequence
from typing import cast

from pydantic import ValidationError

from benchforge.parts.part import UPSTREAM_OPTIONS, Server
from benchforge.suite.axis import Point, part_at
from benchforge.suite.complaints import Complaints
from benchforge.suite.faults import nearest
from benchforge.suite.points import points
from benchforge.suite.positions import Path
from benchforge.suite.suite import Declared, Scenario


class Astray(Exception):
    """A server cannot stand before `label`: message and hint; `trail` are the labels up to it."""

    def __init__(self, trail: Sequence[str], label: str, message: str, hint: str) -> None:
        super().__init__(message)
        self.trail = trail
        self.label = label
        self.message = message
        self.hint = hint


def behind(front: Declared, servers: Mapping[str, Declared], point: Point) -> dict[str, Server]:
    """Return what a server stands before at a point, by label, in the order in which they start.

    Raises Astray for a name that is no server's and for a circle, and pydantic's ValidationError
    where an option cannot be what the point says.
    """
    found: dict[str, Server] = {}
    part = cast("Server", part_at(front, "servers", point))
    _gather((front.label,), part, servers, point, found)
    return found


def _gather(
    trail: tuple[str, ...],
    part: Server,
    servers: Mapping[str, Declared],
    point: Point,
    found: dict[str, Server],
) -> None:
    for label in part.upstreams():
        if label in trail:
            circle = " → ".join((*trail[trail.index(label) :], label))
            raise Astray(trail, label, f"stands before itself: {circle}", "break the circle")
        if label not in servers:
            message, hint = f"no server {label!r} is declared", nearest(label, servers, "declared")
            raise Astray(trail, label, message, hint)
        if label not in found:
            upstream = cast("Server", part_at(servers[label], "servers", point))
            _gather((*trail, label), upstream, servers, point, found)
            found[label] = upstream


def fronts(labels: Sequence[str], servers: Mapping[str, Declared]) -> list[Declared]:
    """Return those of the servers that can stand before others."""
    known = (servers[label] for label in labels if label in servers)
    return [one for one in known if one.cls.model_fields.keys() & set(UPSTREAM_OPTIONS)]


def reached(scenario: Scenario, servers: Mapping[str, Declared]) -> tuple[str, ...]:
    """Return the labels of all that a scenario's servers stand before, at any of its points."""
    labels: dict[str, None] = {}
    standing = fronts(scenario.servers, servers)
    for point in points(scenario) if standing else ():
        for front in standing:
            with contextlib.suppress(Astray, ValidationError):  # which is complained of elsewhere
                labels |= dict.fromkeys(behind(front, servers, point))
    return tuple(label for label in labels if label not in scenario.servers)


def check_upstreams(
    servers: Mapping[str, Declared], labels: Sequence[str], complaints: Complaints
) -> None:
    """Complain of each server that stands before one that there is not, or before itself.

    `labels` are those that the suite declares, `servers` those of them that are sound.
    """
    circles: set[frozenset[str]] = set()
    for front in fronts(list(servers), servers):
        try:
            behind(front, servers, {})
        except Astray as error:
            circle = frozenset(error.trail) if error.label in error.trail else frozenset[str]()
            if circle and circle in circles:
                continue
            circles.add(circle)
            if error.label not in labels or error.label in servers:
                at = _written(servers[error.trail[-1]], error.label)
                complaints.at(at, error.message, error.hint)


def _written(one: Declared, label: str) -> Path:
    """Return where a server names the one that it stands before."""
    for option in UPSTREAM_OPTIONS:
        named = one.options.get(option)
        if named == label:
            return ("servers", one.label, option)
        if isinstance(named, list) and label in named:
            return ("servers", one.label, option, named.index(label))
    return ("servers", one.label)
