"""The scenarios of a suite: their tables read, and every name in them looked up."""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from benchforge.model.answer import Request
from benchforge.suite.complaints import Complaints
from benchforge.suite.document import Tables
from benchforge.suite.environment import Environment
from benchforge.suite.faults import Nearest, listed, nearest
from benchforge.suite.find import check_find
from benchforge.suite.given import check_named_backends
from benchforge.suite.positions import Path
from benchforge.suite.runtimes import check_varied
from benchforge.suite.suite import Declared, Scenario
from benchforge.suite.vary import check_vary

_NAMED = {
    "servers": "server",
    "loaders": "loader",
    "clients": "client",
    "backends": "backend",
    "metrics": "metric",
}
# What is looked at together: when one of them is faulty, nothing can be said of the others.
_MATRIX = (*_NAMED, "request", "requests", "vary", "include", "exclude")


def scenarios(
    tables: Mapping[str, Tables],
    labels: Mapping[str, Sequence[str]],
    parts: Mapping[str, Mapping[str, Declared]],
    environment: Environment,
    complaints: Complaints,
) -> dict[str, Scenario]:
    """Return every scenario that can be read; complain of what is wrong in any.

    `labels` are those that the suite declares, `parts` those of them that are sound.
    """
    read: dict[str, Scenario] = {}
    for label, table in tables.items():
        path = ("scenarios", label)
        filled = _requests(table, path, environment)
        for kind, name in _NAMED.items():
            _check_names((*path, kind), name, table.get(kind), labels[kind], complaints)
        _check_quoted((*path, "vary"), table.get("vary"), complaints)
        scenario = complaints.parse(Scenario, filled, path)
        if scenario is not None:
            read[label] = scenario
            _check_drivers(path, scenario, labels, complaints)
        elif (rest := complaints.parse_rest(Scenario, filled, _MATRIX)) is not None:
            scenario = rest
        else:
            continue
        for server in scenario.requests:
            if server not in scenario.servers:
                hint = nearest(server, scenario.servers, "servers of this scenario")
                complaints.at((*path, "requests", server), f"no server {server!r} here", hint)
        check_named_backends(path, scenario, parts, complaints)
        check_vary(label, scenario, parts, complaints)
        check_varied(label, scenario, parts, labels["runtimes"], complaints)
        check_find(label, scenario, parts, labels["metrics"], complaints)
    return read


def _requests(table: Tables, path: Path, environment: Environment) -> Tables:
    """Return a scenario's table with its requests filled from the environment."""
    table = dict(table)
    if isinstance(request := table.get("request"), dict):
        table["request"] = environment.fill(request, Request, (*path, "request"))
    if isinstance(requests := table.get("requests"), dict):
        filled: dict[str, JsonValue] = dict(requests)
        for server, request in requests.items():
            if isinstance(request, dict):
                at = (*path, "requests", server)
                filled[server] = environment.fill(request, Request, at)
        table["requests"] = filled
    return table


def _check_names(
    path: Path, kind: str, named: JsonValue, known: Sequence[str], complaints: Complaints
) -> None:
    if not isinstance(named, list):
        return  # the model's complaint
    declared, seen = frozenset(known), set[str]()
    for number, label in enumerate(named):
        at = (*path, number)
        if not isinstance(label, str):
            continue
        if label not in declared:
            complaints.at(at, f"no {kind} {label!r} is declared", Nearest(label, known, "declared"))
        elif label in seen:
            hint = "to measure it twice, declare it under a second label"
            complaints.at(at, f"{label!r} is named twice", hint)
        seen.add(label)


def _check_quoted(path: Path, vary: JsonValue, complaints: Complaints) -> None:
    """Complain of paths that TOML took apart."""
    for key, value in vary.items() if isinstance(vary, dict) else ():
        if isinstance(value, dict):
            hint = 'quote the whole path: vary = { "servers.*.workers" = [1, 2] }'
            complaints.at((*path, key), "expected an array, got a table", hint)


def _check_drivers(
    path: Path, scenario: Scenario, labels: Mapping[str, Sequence[str]], complaints: Complaints
) -> None:
    if not scenario.loaders and not scenario.clients:
        declared = listed([*labels["loaders"], *labels["clients"]])
        hint = (
            f"name who makes the requests: loaders = [...] or clients = [...]; declared: {declared}"
        )
        complaints.at(path, "no loader and no client is named", hint)
