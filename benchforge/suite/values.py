"""Every value of every combination of a scenario, judged by the part that it is for."""

import json
from collections.abc import Mapping, Sequence

from pydantic import JsonValue, ValidationError

from benchforge.model.answer import Request
from benchforge.parts.part import UPSTREAM_OPTIONS, Part, Server
from benchforge.suite.axis import PLACES, Point, axis, filled, moved, reaching, variables
from benchforge.suite.complaints import Complaints
from benchforge.suite.given import misgiven
from benchforge.suite.points import about, projected
from benchforge.suite.positions import Path
from benchforge.suite.suite import Declared, Scenario
from benchforge.suite.typed import typed
from benchforge.suite.upstreams import Astray, behind, fronts, leading
from benchforge.suite.words import Finding, findings, shown

Parts = Mapping[str, Mapping[str, Declared]]
"The sound parts of a suite, by table and label."


def check_points(
    top: Path, scenario: Scenario, parts: Parts, beyond: Sequence[str], complaints: Complaints
) -> None:
    """Let each part judge its options at each point: once for all points that say the same of it.

    `beyond` are the servers that the scenario's own stand before.
    """
    here = [
        (place, parts[place][label])
        for place in PLACES
        for label in getattr(scenario, place)
        if label in parts[place]
    ]
    servers = parts["servers"]
    here += [("servers", servers[label]) for label in beyond]
    for place, one in here:
        for concerned in projected(scenario, about(scenario, place, one)):
            part = _judged(top, scenario, one, concerned, complaints)
            if part is not None:
                _check_taken(top, scenario, part, concerned, parts["backends"], complaints)
                _check_reachable(top, scenario, one, part, concerned, complaints)
    if standing := fronts(scenario.servers, servers):
        for point in projected(scenario, leading(scenario, servers)):
            for front in standing:
                _check_behind(top, scenario, front, servers, point, complaints)
    for request in (scenario.request, *scenario.requests.values()):
        _check_request(top, scenario, request, complaints)


def _check_request(top: Path, scenario: Scenario, request: Request, complaints: Complaints) -> None:
    for point in projected(scenario, [f"path.{name}" for name in variables(request)]):
        try:
            filled(request, point)
        except ValidationError:
            for path, value in point.items():
                at = _written(top, scenario, path, value)
                complaints.at(at, f"a request's path cannot hold {shown(value)}")


def _judged(
    top: Path, scenario: Scenario, one: Declared, concerned: Point, complaints: Complaints
) -> Part | None:
    if not concerned:
        return one.part
    table = moved(one, concerned)
    try:
        return typed(one.cls, table)
    except ValidationError as error:
        for found in findings(error, table):
            _blame(top, scenario, concerned, found, complaints)
    return None


def _check_taken(
    top: Path,
    scenario: Scenario,
    part: Part,
    concerned: Point,
    backends: Mapping[str, Declared],
    complaints: Complaints,
) -> None:
    """Complain of what only a point's values make a part take of backends."""
    for option, message, hint in misgiven(part, scenario.backends, backends):
        for path, value in concerned.items():
            if (found := axis(path)) and found.option[0] == option[0]:
                complaints.at(_written(top, scenario, path, value), message, hint)


def _check_reachable(
    top: Path,
    scenario: Scenario,
    one: Declared,
    part: Part,
    concerned: Point,
    complaints: Complaints,
) -> None:
    hidden = isinstance(part, Server) and part.behind_proxy_only()
    if not hidden or one.label not in scenario.servers:
        return
    at = (*top, "servers", scenario.servers.index(one.label))
    message = f"{one.label!r} cannot be asked over HTTP and TCP{_with(concerned)}"
    hint = f'name a server that stands before it, such as nginx with upstream = "{one.label}"'
    complaints.at(at, message, hint)


def _check_behind(
    top: Path,
    scenario: Scenario,
    front: Declared,
    servers: Mapping[str, Declared],
    point: Point,
    complaints: Complaints,
) -> None:
    """Complain of what only a point's values make a server stand before."""
    try:
        behind(front, servers, point)
    except ValidationError:
        return  # the value's own complaint
    except Astray as error:
        by = error.trail[-1]
        concerned = reaching(point, "servers", servers[by])
        for path, value in concerned.items():
            if (found := axis(path)) and found.option[0] in UPSTREAM_OPTIONS:
                at = _written(top, scenario, path, value)
                complaints.at(at, f"servers.{by}: {error.message}", error.hint)


def _blame(
    top: Path, scenario: Scenario, concerned: Point, found: Finding, complaints: Complaints
) -> None:
    message = "unknown option" if found.unknown else found.message
    about = {*found.options, *found.path[:1]}
    blamed = [path for path in concerned if (one := axis(path)) and one.option[0] in about]
    if len(blamed) == 1:
        at = _written(top, scenario, blamed[0], concerned[blamed[0]])
        complaints.at(at, message, found.hint)
        return
    named = {path: concerned[path] for path in blamed} or concerned
    excluded = ", ".join(f'"{path}" = {json.dumps(value)}' for path, value in named.items())
    hint = found.hint or f"leave it out: exclude = [{{ {excluded} }}]"
    complaints.at((*top, "vary"), f"{_with(named)}: {message}".lstrip(), hint)


def _with(concerned: Point) -> str:
    """For a person: the values of a point, after a space; nothing where there are none."""
    values = ", ".join(f"{path} = {shown(value)}" for path, value in concerned.items())
    return f" with {values}" if values else ""


def _written(top: Path, scenario: Scenario, path: str, value: JsonValue) -> Path:
    """Return where a value of the matrix was written."""
    values = scenario.vary.get(path, [])
    if value in values:
        return (*top, "vary", path, values.index(value))
    including = (n for n, point in enumerate(scenario.include) if point.get(path) == value)
    return (*top, "include", next(including, 0), path)
