"""Every value of every combination of a scenario, judged by the part that it is for."""

import json
from collections.abc import Mapping

from pydantic import JsonValue, ValidationError

from benchforge.suite.axis import PLACES, Point, axis, filled, moved, reaching
from benchforge.suite.complaints import Complaints
from benchforge.suite.points import points
from benchforge.suite.positions import Path
from benchforge.suite.suite import Declared, Scenario
from benchforge.suite.typed import typed
from benchforge.suite.words import Finding, findings, shown

Parts = Mapping[str, Mapping[str, Declared]]
"The sound parts of a suite, by table and label."


def check_points(top: Path, scenario: Scenario, parts: Parts, complaints: Complaints) -> None:
    """Let each part judge its options at each point; what concerns it, once."""
    seen: set[str] = set()
    here = [
        (place, parts[place][label])
        for place in PLACES
        for label in getattr(scenario, place)
        if label in parts[place]
    ]
    for point in points(scenario):
        for place, one in here:
            concerned = reaching(point, place, one)
            key = json.dumps([place, one.label, concerned])
            if not concerned or key in seen:
                continue
            seen.add(key)
            table = moved(one, concerned)
            try:
                typed(one.cls, table)
            except ValidationError as error:
                for found in findings(error, table):
                    _blame(top, scenario, concerned, found, complaints)
        for request in (scenario.request, *scenario.requests.values()):
            try:
                filled(request, point)
            except ValidationError:
                for path, value in point.items():
                    if path.startswith("path."):
                        at = _written(top, scenario, path, value)
                        complaints.at(at, f"a request's path cannot hold {shown(value)}")


def _blame(
    top: Path, scenario: Scenario, concerned: Point, found: Finding, complaints: Complaints
) -> None:
    message = "unknown option" if found.unknown else found.message
    for path, value in concerned.items():
        understood = axis(path)
        if understood and found.path and understood.option[0] == found.path[0]:
            complaints.at(_written(top, scenario, path, value), message)
            return
    values = ", ".join(f"{path} = {shown(value)}" for path, value in concerned.items())
    complaints.at((*top, "vary"), f"with {values}: {message}")


def _written(top: Path, scenario: Scenario, path: str, value: JsonValue) -> Path:
    """Return where a value of the matrix was written."""
    values = scenario.vary.get(path, [])
    if value in values:
        return (*top, "vary", path, values.index(value))
    including = (n for n, point in enumerate(scenario.include) if point.get(path) == value)
    return (*top, "include", next(including, 0), path)
