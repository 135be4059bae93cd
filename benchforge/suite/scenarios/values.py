"""Every value of every combination of a scenario, judged by the part that it is for."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace

from pydantic import JsonValue, ValidationError

from benchforge.model.trial.answers.answer import Request
from benchforge.parts.part import UPSTREAM_OPTIONS, Part, Server
from benchforge.suite.matrix.axis import PLACES, Point, axis, filled, moved, variables
from benchforge.suite.matrix.points import about, projected
from benchforge.suite.scenarios.placeholders import placeholder_faults
from benchforge.suite.scenarios.upstreams import Astray, Reached
from benchforge.suite.suite import Declared, Scenario
from benchforge.suite.toml.faults import Checked, Fault
from benchforge.suite.toml.models import ValidationFault, findings, typed
from benchforge.suite.toml.positions import Path
from benchforge.suite.toml.words import shown

Parts = Mapping[str, Mapping[str, Declared]]
"The sound parts of a suite, by table and label."


def point_faults(top: Path, scenario: Scenario, parts: Parts, beyond: Reached) -> Iterator[Fault]:
    """Let each part judge its options at each point: once for all points that say the same of it.

    `beyond` is what the scenario's own servers stand before.
    """
    placed = [
        (place, parts[place][label])
        for place in PLACES
        for label in getattr(scenario, place)
        if label in parts[place]
    ]
    servers = parts["servers"]
    placed += [("servers", servers[label]) for label in beyond.labels]
    for place, declaration in placed:
        for concerned in projected(scenario, about(scenario, place, declaration)):
            part = yield from _judged(top, scenario, declaration, concerned)
            if part is not None:
                yield from _faults_of_taken(top, scenario, part, concerned, parts["backends"])
                yield from _unreachable(top, scenario, declaration, part, concerned)
    for error in beyond.astray:
        yield from _faults_behind(top, scenario, error)
    for request in (scenario.request, *scenario.requests.values()):
        yield from _request_faults(top, scenario, request)


def _request_faults(top: Path, scenario: Scenario, request: Request) -> Iterator[Fault]:
    for point in projected(scenario, [f"path.{name}" for name in variables(request)]):
        try:
            filled(request, point)
        except ValidationError:
            for path, value in point.items():
                at = _written(top, scenario, path, value)
                yield Fault(at, f"a request's path cannot hold {shown(value)}")


def _judged(
    top: Path, scenario: Scenario, declaration: Declared, concerned: Point
) -> Checked[Part | None]:
    if not concerned:
        return declaration.part
    table = moved(declaration, concerned)
    try:
        return typed(declaration.cls, table)
    except ValidationError as error:
        for fault in findings(error, table):
            yield _blamed(top, scenario, concerned, fault)
    return None


def _faults_of_taken(
    top: Path, scenario: Scenario, part: Part, concerned: Point, backends: Mapping[str, Declared]
) -> Iterator[Fault]:
    """Yield faults of what only a point's values make a part take of backends."""
    for fault in placeholder_faults(part, scenario.backends, backends):
        for path, value in concerned.items():
            if (varied := axis(path)) and varied.option[0] == fault.path[0]:
                yield replace(fault, path=_written(top, scenario, path, value))


def _unreachable(
    top: Path, scenario: Scenario, declaration: Declared, part: Part, concerned: Point
) -> Iterator[Fault]:
    hidden = isinstance(part, Server) and part.behind_proxy_only()
    if not hidden or declaration.label not in scenario.servers:
        return
    at = (*top, "servers", scenario.servers.index(declaration.label))
    message = f"{declaration.label!r} does not speak HTTP over TCP{_with(concerned)}"
    hint = f'name a proxy in front of it, such as nginx with upstream = "{declaration.label}"'
    yield Fault(at, message, hint)


def _faults_behind(top: Path, scenario: Scenario, error: Astray) -> Iterator[Fault]:
    """Yield faults of what only a point's values make a server stand before."""
    for path, value in error.concerned.items():
        if path.split(".")[2] in UPSTREAM_OPTIONS:
            at = _written(top, scenario, path, value)
            yield Fault(at, f"servers.{error.trail[-1]}: {error.message}", error.hint)


def _blamed(top: Path, scenario: Scenario, concerned: Point, fault: ValidationFault) -> Fault:
    message = "unknown option" if fault.unknown else fault.message
    about = {*fault.options, *fault.path[:1]}
    blamed = [path for path in concerned if (varied := axis(path)) and varied.option[0] in about]
    if len(blamed) == 1:
        return Fault(_written(top, scenario, blamed[0], concerned[blamed[0]]), message, fault.hint)
    named = {path: concerned[path] for path in blamed} or concerned
    excluded = ", ".join(f'"{path}" = {json.dumps(value)}' for path, value in named.items())
    hint = fault.hint or f"leave it out: exclude = [{{ {excluded} }}]"
    return Fault((*top, "vary"), f"{_with(named)}: {message}".lstrip(), hint)


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
