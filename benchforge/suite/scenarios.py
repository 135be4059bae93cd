"""The scenarios of a suite: their tables read, and every name in them looked up."""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from benchforge.model.answer import Request
from benchforge.suite.complaints import Complaints
from benchforge.suite.document import Tables
from benchforge.suite.environment import Environment
from benchforge.suite.faults import listed, nearest
from benchforge.suite.positions import Path
from benchforge.suite.suite import Declared, Scenario
from benchforge.suite.vary import check_vary

_NAMED = {
    "servers": "server",
    "loaders": "loader",
    "clients": "client",
    "backends": "backend",
    "metrics": "metric",
}


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
        scenario = complaints.parse(Scenario, _requests(table, path, environment), path)
        if scenario is None:
            continue
        read[label] = scenario
        for kind, name in _NAMED.items():
            _check_names(
                (*path, kind), name, getattr(scenario, kind) or (), labels[kind], complaints
            )
        _check_drivers(path, scenario, labels, complaints)
        for server in scenario.requests:
            if server not in scenario.servers:
                hint = nearest(server, scenario.servers, "servers of this scenario")
                complaints.at((*path, "requests", server), f"no server {server!r} here", hint)
        check_vary(label, scenario, parts, complaints)
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
    path: Path, kind: str, named: Sequence[str], known: Sequence[str], complaints: Complaints
) -> None:
    for number, label in enumerate(named):
        at = (*path, number)
        if label not in known:
            hint = nearest(label, known, "declared")
            complaints.at(at, f"no {kind} {label!r} is declared", hint)
        elif label in named[:number]:
            hint = "to measure it twice, declare it under a second label"
            complaints.at(at, f"{label!r} is named twice", hint)


def _check_drivers(
    path: Path, scenario: Scenario, labels: Mapping[str, Sequence[str]], complaints: Complaints
) -> None:
    if not scenario.loaders and not scenario.clients:
        declared = listed([*labels["loaders"], *labels["clients"]])
        hint = (
            f"name who makes the requests: loaders = [...] or clients = [...]; declared: {declared}"
        )
        complaints.at(path, "no loader and no client is named", hint)
