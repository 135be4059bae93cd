"""What a scenario varies: is it there, and is every value of every combination valid."""

import json
from collections.abc import Iterator, Sequence

from pydantic import JsonValue

from benchforge.model.answer import Request
from benchforge.suite.axis import Axis, axis, variables
from benchforge.suite.complaints import Complaints, options
from benchforge.suite.faults import nearest
from benchforge.suite.points import combinations
from benchforge.suite.positions import Path
from benchforge.suite.redact import secrets_of
from benchforge.suite.suite import Scenario
from benchforge.suite.upstreams import reached
from benchforge.suite.values import Parts, check_points
from benchforge.suite.words import shown

_MOST = 1_000_000  # cases of a scenario; a second for each is eleven days
_FORM = 'write "loaders.LABEL.OPTION", "servers.*.OPTION" or "path.NAME"'


def check_vary(label: str, scenario: Scenario, parts: Parts, complaints: Complaints) -> None:
    """Complain of what cannot vary, and of each value that its part refuses."""
    top = ("scenarios", label)
    few = _check_count((*top, "vary"), scenario, complaints)
    beyond = reached(scenario, parts["servers"]) if few else tuple(parts["servers"])
    sound = [
        _check_path((*top, "vary", path), path, scenario, parts, beyond, complaints)
        for path in scenario.vary
    ]
    sound += [
        _check_path((*top, "include", number, path), path, scenario, parts, beyond, complaints)
        for number, point in enumerate(scenario.include)
        for path in point
    ]
    sound.append(_check_secrets(top, scenario, complaints))
    for path, values in scenario.vary.items():
        _check_values((*top, "vary", path), values, complaints)
    _check_excluded(top, scenario, complaints)
    _check_variables(top, scenario, complaints)
    if few and all(sound):
        check_points(top, scenario, parts, beyond, complaints)


def _check_count(at: Path, scenario: Scenario, complaints: Complaints) -> bool:
    """Complain of more cases than can be measured, before anything looks at each of them."""
    points = combinations(scenario)
    drivers = len(scenario.loaders) + len(scenario.clients)
    most = points * len(scenario.servers) * max(1, drivers)
    if most > _MOST:
        message = f"{points} combinations make up to {most} cases, more than {_MOST}"
        hint = "vary less at a time: split it into several scenarios, or leave values out"
        complaints.at(at, message, hint)
    return most <= _MOST


def _check_path(
    at: Path,
    path: str,
    scenario: Scenario,
    parts: Parts,
    beyond: Sequence[str],
    complaints: Complaints,
) -> bool:
    found = axis(path)
    if found is None:
        complaints.at(at, "not the path of an option", _FORM)
    elif found.place == "path":
        if not any(found.label in variables(request) for request in _requests(scenario)):
            hint = f'use it: request = {{ path = "/{{{found.label}}}" }}'
            complaints.at(at, f"no request of this scenario uses {{{found.label}}}", hint)
    else:
        return _check_option(at, found, scenario, parts, beyond, complaints)
    return found is not None


def _check_option(
    at: Path,
    found: Axis,
    scenario: Scenario,
    parts: Parts,
    beyond: Sequence[str],
    complaints: Complaints,
) -> bool:
    here: tuple[str, ...] = getattr(scenario, found.place)
    if found.place == "servers":
        here += tuple(beyond)
    if found.label != "*" and found.label not in here:
        hint = nearest(found.label, here, f"{found.place} of this scenario")
        complaints.at(at, f"{found.label!r} is not one of its {found.place}", hint)
        return False
    known = parts[found.place]
    asked = [known[label] for label in here if label in known and found.label in {"*", label}]
    if any(found.reaches(found.place, one) for one in asked):
        return True
    if all(label in known for label in here):  # else that part has its own complaint
        names = dict.fromkeys(name for one in asked for name in options(one.cls))
        who = f"{found.place}.{found.label}"
        hint = nearest(found.option[0], names, f"{who} takes")
        none = "none of its parts has" if found.label == "*" else f"{who} has no"
        complaints.at(at, f"{none} option {found.option[0]!r}", hint)
    return False


def _check_secrets(top: Path, scenario: Scenario, complaints: Complaints) -> bool:
    """Complain of secrets: what varies stands in the name of each case."""
    written = [
        ((*top, "vary", path, number), path, value)
        for path, values in scenario.vary.items()
        for number, value in enumerate(values)
    ]
    written += [
        ((*top, "include", number, path), path, value)
        for number, point in enumerate(scenario.include)
        for path, value in point.items()
    ]
    found = False
    for at, path, value in written:
        asks = isinstance(value, dict) and list(value) == ["env"]
        if asks or any(secrets_of({path.rpartition(".")[2]: value})):
            place = path.partition(".")[0]
            hint = f"declare one of the {place} for each value, and name them in the scenario"
            complaints.at(at, "a secret cannot vary: it would stand in the names of cases", hint)
            found = True
    return not found


def _check_values(at: Path, values: list[JsonValue], complaints: Complaints) -> None:
    if not values:
        complaints.at(at, "varies over nothing", "give at least one value, or leave it out")
    seen: set[str] = set()
    for number, value in enumerate(values):
        if (text := json.dumps(value, sort_keys=True)) in seen:
            complaints.at((*at, number), f"{shown(value)} stands here twice", "leave one out")
        seen.add(text)


def _check_excluded(top: Path, scenario: Scenario, complaints: Complaints) -> None:
    for number, excluded in enumerate(scenario.exclude):
        at = (*top, "exclude", number)
        if not excluded:
            complaints.at(at, "excludes everything", "name what varies, and its values")
        for path, value in excluded.items():
            if path not in scenario.vary:
                hint = nearest(path, scenario.vary, "this scenario varies")
                complaints.at((*at, path), "does not vary, so that nothing is excluded", hint)
            elif value not in scenario.vary[path]:
                hint = f"it takes: {', '.join(map(shown, scenario.vary[path]))}"
                complaints.at((*at, path), f"never is {shown(value)}", hint)


def _check_variables(top: Path, scenario: Scenario, complaints: Complaints) -> None:
    for at, request in _request_paths(top, scenario):
        for name in variables(request):
            path = f"path.{name}"
            if path not in scenario.vary:
                hint = f'vary = {{ "{path}" = [...] }}; a brace itself is %7B'
                complaints.at(at, f"nothing fills {{{name}}}", hint)
            for number, point in enumerate(scenario.include):
                if path not in point:
                    complaints.at((*top, "include", number), f"{path!r} is missing")


def _request_paths(top: Path, scenario: Scenario) -> Iterator[tuple[Path, Request]]:
    if any(server not in scenario.requests for server in scenario.servers):
        yield (*top, "request", "path"), scenario.request
    for server, request in scenario.requests.items():
        yield (*top, "requests", server, "path"), request


def _requests(scenario: Scenario) -> Iterator[Request]:
    return (request for _, request in _request_paths((), scenario))
