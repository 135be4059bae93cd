"""What runs for a scenario: what starts for each server, who asks it, and who turns to whom."""

from collections.abc import Iterable, Iterator
from typing import cast

from benchforge.cli.suites.plan.plan import Chain, PartLink, PartPlanned, Place
from benchforge.model.trial.observation import Role
from benchforge.parts.part import Server, ServesCode
from benchforge.suite.matrix.axis import Point, part_at
from benchforge.suite.matrix.points import projected
from benchforge.suite.scenarios.upstreams import behind, leading
from benchforge.suite.suite import Scenario, Suite

_DRIVERS: tuple[Place, ...] = ("loaders", "clients")


def chains(suite: Suite, scenario: Scenario) -> tuple[Chain, ...]:
    """Return what starts for each server: several times where what stands behind it varies."""
    backends = _parts(suite, "backends", "backend", scenario.backends)
    drivers = (
        one
        for place in _DRIVERS
        for one in _parts(suite, place, "loader", getattr(scenario, place))
    )
    asking = tuple(drivers)
    started = dict.fromkeys(
        (*behind(suite.servers[label], suite.servers, point), label)
        for label in scenario.servers
        for point in _points(suite, scenario)
    )
    return tuple(
        Chain(
            starts=(
                *backends,
                *_parts(suite, "servers", "upstream", upstreams),
                *_parts(suite, "servers", "server", [server]),
            ),
            drivers=asking,
        )
        for *upstreams, server in started
    )


def links(suite: Suite, scenario: Scenario) -> tuple[PartLink, ...]:
    """Return who turns to whom at any point, each link once."""
    distinct: dict[tuple[str, str], PartLink] = {}
    for link in _links(suite, scenario):
        distinct.setdefault((link.source, link.target), link)
    return tuple(distinct.values())


def _links(suite: Suite, scenario: Scenario) -> Iterator[PartLink]:
    for place in _DRIVERS:
        for driver in getattr(scenario, place):
            for server in scenario.servers:
                yield PartLink(
                    source=f"{place}.{driver}", target=f"servers.{server}", relation="asks"
                )
    for point in _points(suite, scenario):
        for label in scenario.servers:
            for server in (label, *behind(suite.servers[label], suite.servers, point)):
                part = cast("Server", part_at(suite.servers[server], "servers", point))
                for upstream in part.upstreams():
                    target = f"servers.{upstream}"
                    yield PartLink(
                        source=f"servers.{server}", target=target, relation="passes on to"
                    )
                for backend in () if part.upstreams() else scenario.backends:
                    target = f"backends.{backend}"
                    yield PartLink(source=f"servers.{server}", target=target, relation="may use")


def _points(suite: Suite, scenario: Scenario) -> Iterable[Point]:
    """Yield what the points say of all that decides what stands behind a server."""
    return projected(scenario, leading(scenario, suite.servers))


def _parts(
    suite: Suite, place: Place, role: Role, labels: Iterable[str]
) -> tuple[PartPlanned, ...]:
    uses = getattr(suite, place)
    return tuple(
        PartPlanned(
            place=place,
            label=label,
            use=declared.part.name,
            ref=declared.part.ref if isinstance(declared.part, ServesCode) else None,
            host=" and ".join(suite.hosts_of(role, declared)) or None,
        )
        for label in labels
        for declared in [uses[label]]
    )
