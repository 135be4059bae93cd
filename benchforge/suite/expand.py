"""A suite's cases, one after the other: every part at its point of the matrix."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import cast

from pydantic import JsonValue

from benchforge.model.trial import CaseName
from benchforge.parts.part import UPSTREAM_OPTIONS, Backend, Driver, Part, RunsPython, Server
from benchforge.suite.axis import Point, filled, part_at, reaching
from benchforge.suite.case import Case
from benchforge.suite.points import points
from benchforge.suite.suite import Declared, Scenario, Suite
from benchforge.suite.upstreams import behind


def expand(suite: Suite) -> Iterator[Case]:
    """Yield each case: by scenario, point, driver (loaders before clients), server.

    A case carries what varies of the point for its own parts and request; points that differ in
    nothing else make one case. What is the same under two labels is told apart by its arm.
    """
    for label in suite.scenarios:
        arms: Counter[str] = Counter()
        for name, point in _names(suite, label):
            case = _case(suite, name, point)
            digest = _digest(case, suite)
            arms[digest] += 1
            numbered = name.model_copy(update={"digest": digest, "arm": arms[digest]})
            yield replace(case, name=numbered)


def named(suite: Suite, label: str) -> Iterator[CaseName]:
    """Yield the names of a scenario's cases, without what they are: digest and arm."""
    return (name for name, _ in _names(suite, label))


def _names(suite: Suite, label: str) -> Iterator[tuple[CaseName, Point]]:
    """Yield each case of a scenario once, with the first point that makes it."""
    scenario = suite.scenarios[label]
    drivers = [("loaders", suite.loaders[one]) for one in scenario.loaders]
    drivers += [("clients", suite.clients[one]) for one in scenario.clients]
    seen: set[str] = set()
    for point in points(scenario):
        for place, driver in drivers:
            for server in (suite.servers[one] for one in scenario.servers):
                vary = _about(suite, scenario, point, server, place, driver)
                words = json.dumps([server.label, driver.label, vary], sort_keys=True)
                if words not in seen:
                    seen.add(words)
                    name = CaseName(
                        scenario=label,
                        server=server.label,
                        driver=driver.label,
                        vary=vary,
                        digest="",
                    )
                    yield name, point


def _about(
    suite: Suite, scenario: Scenario, point: Point, server: Declared, place: str, driver: Declared
) -> dict[str, JsonValue]:
    """Return what of a point is about a case's own parts and request."""
    _, taken = filled(scenario.requests.get(server.label, scenario.request), point)
    about = {**taken, **reaching(point, "servers", server), **reaching(point, place, driver)}
    for upstream in behind(server, suite.servers, point):
        about |= reaching(point, "servers", suite.servers[upstream])
    for backend in scenario.backends:
        about |= reaching(point, "backends", suite.backends[backend])
    return {path: point[path] for path in point if path in about}


def _case(suite: Suite, name: CaseName, point: Point) -> Case:
    scenario = suite.scenarios[name.scenario]
    server = suite.servers[name.server]
    place = "loaders" if name.driver in scenario.loaders else "clients"
    driver = (suite.loaders if place == "loaders" else suite.clients)[name.driver]
    backends = [suite.backends[one] for one in scenario.backends]
    request, _ = filled(scenario.requests.get(name.server, scenario.request), point)
    return Case(
        name=name,
        # Load has seen to it that each table holds parts of its kind.
        server=cast("Server", part_at(server, "servers", point)),
        upstreams=tuple(behind(server, suite.servers, point).items()),
        backends=tuple(
            (one.label, cast("Backend", part_at(one, "backends", point))) for one in backends
        ),
        driver=cast("Driver", part_at(driver, place, point)),
        request=request,
        expect=scenario.expect,
        metrics=tuple(suite.metrics) if scenario.metrics is None else scenario.metrics,
        warm_up_s=float(suite.repeat.warmup),
        tuning=suite.tuning,
    )


def _digest(case: Case, suite: Suite) -> str:
    """Return what the case is, whatever it is called."""
    what = {
        "server": _identity_of_server(case.server, dict(case.upstreams), suite),
        "backends": [_identity(backend, suite) for _, backend in case.backends],
        "driver": _identity(case.driver, suite),
        "request": case.request.model_dump(mode="json"),
        "expect": case.expect.model_dump(mode="json"),
        "warm_up_s": case.warm_up_s,
        "tuning": case.tuning.model_dump(mode="json"),
    }
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:16]


def _identity_of_server(
    server: Server, upstreams: Mapping[str, Server], suite: Suite
) -> list[JsonValue]:
    behind_it = [
        _identity_of_server(upstreams[label], upstreams, suite) for label in server.upstreams()
    ]
    return [*_identity(server, suite), *behind_it]


def _identity(part: Part, suite: Suite) -> list[JsonValue]:
    options = part.model_dump(mode="json", exclude=set(UPSTREAM_OPTIONS))
    if isinstance(part, RunsPython) and part.runtime is not None:
        runtime = suite.runtimes[part.runtime]
        options["runtime"] = runtime.model_dump(mode="json", include={"python", "requires"})
    return [part.kind, part.name, options, part.fingerprint(suite.path.parent)]
