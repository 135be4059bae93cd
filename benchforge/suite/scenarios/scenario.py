"""The scenarios of a suite: their tables read, and every name in them looked up."""

from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue

from benchforge.model.trial.answers.answer import Request
from benchforge.suite.environment import Environment
from benchforge.suite.scenarios.references import backend_faults, varied_runtime_faults
from benchforge.suite.scenarios.search import find_faults
from benchforge.suite.scenarios.vary import vary_faults
from benchforge.suite.suite import Declared, Scenario
from benchforge.suite.toml.document import Tables, as_table
from benchforge.suite.toml.faults import Checked, Fault, Nearest
from benchforge.suite.toml.models import checked, sound_rest
from benchforge.suite.toml.positions import Path
from benchforge.text.readable import listed

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
) -> Checked[dict[str, Scenario]]:
    """Return every scenario that can be read.

    `labels` are those that the suite declares, `parts` those of them that are sound.
    """
    read: dict[str, Scenario] = {}
    for label, table in tables.items():
        path = ("scenarios", label)
        for kind, name in _NAMED.items():
            yield from _name_faults((*path, kind), name, table.get(kind), labels[kind])
        yield from _quotation_faults((*path, "vary"), table.get("vary"))
        filled = yield from _requests(table, path, environment)
        scenario = yield from checked(Scenario, filled, path)
        if scenario is not None:
            read[label] = scenario
            yield from _driver_faults(path, scenario, labels)
        else:
            scenario = sound_rest(Scenario, filled, _MATRIX)
        if scenario is not None:
            yield from _faults_inside(path, scenario, labels, parts)
    return read


def _faults_inside(
    path: Path,
    scenario: Scenario,
    labels: Mapping[str, Sequence[str]],
    parts: Mapping[str, Mapping[str, Declared]],
) -> Iterator[Fault]:
    for key in ("requests", "expects"):
        for server in getattr(scenario, key):
            if server not in scenario.servers:
                hint = Nearest(server, scenario.servers, "servers of this scenario")
                yield Fault((*path, key, server), f"no server {server!r} here", hint)
    yield from backend_faults(path, scenario, parts)
    yield from vary_faults(path, scenario, parts)
    yield from varied_runtime_faults(path, scenario, parts, labels["runtimes"])
    yield from find_faults(path, scenario, parts, labels["metrics"])


def _requests(table: Tables, path: Path, environment: Environment) -> Checked[Tables]:
    """Return a scenario's table with its requests filled from the environment."""
    table = dict(table)
    if isinstance(request := table.get("request"), dict):
        request_path: Path = (*path, "request")
        table["request"] = yield from environment.fill(request, Request, request_path)
    if isinstance(requests := table.get("requests"), dict):
        filled: dict[str, JsonValue] = dict(requests)
        for server, request in requests.items():
            if isinstance(request, dict):
                request_path = (*path, "requests", server)
                filled[server] = yield from environment.fill(request, Request, request_path)
        table["requests"] = filled
    if isinstance(kinds := table.get("kinds"), dict):
        table["kinds"] = by_label = dict(kinds)
        for label, kind in kinds.items():
            by_label[label] = yield from _inner(kind, (*path, "kinds", label), environment)
    if (session := table.get("session")) is not None:
        table["session"] = yield from _inner(session, (*path, "session"), environment)
    return table


def _inner(table: JsonValue, path: Path, environment: Environment) -> Checked[JsonValue]:
    if isinstance(table, dict) and isinstance(request := table.get("request"), dict):
        request = yield from environment.fill(request, Request, (*path, "request"))
        return {**table, "request": request}
    if isinstance(table, dict) and isinstance(steps := table.get("steps"), list):
        filled = list(steps)
        for n, step in enumerate(steps):
            filled[n] = yield from _inner(step, (*path, "steps", n), environment)
        return {**table, "steps": filled}
    return table


def _name_faults(path: Path, kind: str, named: JsonValue, labels: Sequence[str]) -> Iterator[Fault]:
    if not isinstance(named, list):
        return  # the model's fault
    declared, labels_read = frozenset(labels), set[str]()
    for number, label in enumerate(named):
        fault_path = (*path, number)
        if not isinstance(label, str):
            continue
        if label not in declared:
            yield Fault(
                fault_path, f"no {kind} {label!r} is declared", Nearest(label, labels, "declared")
            )
        elif label in labels_read:
            twice = "to measure it twice, declare it under a second label"
            yield Fault(fault_path, f"{label!r} is named twice", twice)
        labels_read.add(label)


def _quotation_faults(path: Path, vary: JsonValue) -> Iterator[Fault]:
    """Yield a fault for each path that TOML took apart."""
    for key, value in as_table(vary).items():
        if isinstance(value, dict):
            hint = 'quote the whole path: vary = { "servers.*.workers" = [1, 2] }'
            yield Fault((*path, key), "expected an array, got a table", hint)


def _driver_faults(
    path: Path, scenario: Scenario, labels: Mapping[str, Sequence[str]]
) -> Iterator[Fault]:
    if not scenario.loaders and not scenario.clients:
        declared = listed([*labels["loaders"], *labels["clients"]])
        hint = (
            "name a load tool or a client: loaders = [...] or clients = [...]; declared: "
            f"{declared}"
        )
        yield Fault(path, "no loader and no client is named", hint)
