"""The scenarios of a suite: their tables read, and every name in them looked up."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from pydantic import JsonValue, ValidationError

from benchforge.model.trial.answers.answer import Request
from benchforge.parts.part import UPSTREAM_OPTIONS, Part, Server
from benchforge.suite import matrix
from benchforge.suite.declared import KINDS
from benchforge.suite.environment import Environment
from benchforge.suite.matrix import ROLES, Axis, Point, axis, variables
from benchforge.suite.scenarios import references
from benchforge.suite.scenarios.search import find_faults
from benchforge.suite.secrets import secrets_of
from benchforge.suite.suite import Declared, Labels, Parts, Scenario
from benchforge.suite.toml.document import Tables, as_table
from benchforge.suite.toml.faults import Checked, Fault, Nearest
from benchforge.suite.toml.models import checked, findings, options, shown, sound_rest
from benchforge.suite.toml.positions import Path
from benchforge.text.readable import listed


def point_faults(
    top: Path, scenario: Scenario, parts: Parts, beyond: references.Reached
) -> Iterator[Fault]:
    """Let each part judge its options, once for all points that say the same of it."""
    placed = [
        (table, parts[table][label])
        for table in ROLES
        for label in getattr(scenario, table)
        if label in parts[table]
    ]
    placed += [("servers", parts["servers"][label]) for label in beyond.labels]
    for table, declaration in placed:
        for concerned in matrix.projected(scenario, matrix.about(scenario, table, declaration)):
            part = yield from _made(top, scenario, declaration, concerned)
            if part is not None:
                yield from _faults_of_taken(top, scenario, part, concerned, parts["backends"])
                yield from _unreachable(top, scenario, declaration, part, concerned)
    for error in beyond.astray:  # what only a point's values make a server stand before
        for path, value in error.concerned.items():
            if path.split(".")[2] in UPSTREAM_OPTIONS:
                message = f"servers.{error.trail[-1]}: {error.message}"
                yield Fault(_written(top, scenario, path, value), message, error.hint)
    for request in (scenario.request, *scenario.requests.values()):
        yield from _request_faults(top, scenario, request)


def _request_faults(top: Path, scenario: Scenario, request: Request) -> Iterator[Fault]:
    for point in matrix.projected(scenario, [f"path.{name}" for name in variables(request)]):
        try:
            matrix.filled(request, point)
        except ValidationError:
            for path, value in point.items():
                fault_path = _written(top, scenario, path, value)
                yield Fault(fault_path, f"a request's path cannot hold {shown(value)}")


def _made(top: Path, scenario: Scenario, declared: Declared, point: Point) -> Checked[Part | None]:
    try:
        return matrix.part_with(declared, point)
    except ValidationError as error:
        for fault in findings(error, matrix.moved(declared, point)):
            yield _blamed(top, scenario, point, fault)
    return None


def _faults_of_taken(
    top: Path, scenario: Scenario, part: Part, concerned: Point, backends: Mapping[str, Declared]
) -> Iterator[Fault]:
    """Yield faults of what only a point's values make a part take of backends."""
    for fault in references.placeholder_faults(part, scenario.backends, backends):
        for path, value in concerned.items():
            if (varied := axis(path)) and varied.option[0] == fault.path[0]:
                yield replace(fault, path=_written(top, scenario, path, value))


def _unreachable(
    top: Path, scenario: Scenario, declaration: Declared, part: Part, concerned: Point
) -> Iterator[Fault]:
    hidden = isinstance(part, Server) and part.behind_proxy_only()
    if not hidden or declaration.label not in scenario.servers:
        return
    path = (*top, "servers", scenario.servers.index(declaration.label))
    message = f"{declaration.label!r} does not speak HTTP over TCP{_with(concerned)}"
    hint = f'name a proxy in front of it, such as nginx with upstream = "{declaration.label}"'
    yield Fault(path, message, hint)


def _blamed(top: Path, scenario: Scenario, concerned: Point, fault: Fault) -> Fault:
    message = "unknown option" if fault.unknown else fault.message
    options = {*fault.options, *fault.path[:1]}
    blamed = [path for path in concerned if (varied := axis(path)) and varied.option[0] in options]
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
    values = scenario.vary.get(path, [])
    if value in values:
        return (*top, "vary", path, values.index(value))
    including = (n for n, point in enumerate(scenario.include) if point.get(path) == value)
    return (*top, "include", next(including, 0), path)


_MOST = 1_000_000  # cases of a scenario; a second for each is eleven days
_FORM = 'write "loaders.LABEL.OPTION", "servers.*.OPTION" or "path.NAME"'


def vary_faults(top: Path, scenario: Scenario, parts: Parts) -> Iterator[Fault]:
    """Yield what cannot vary, and each value that its part refuses."""
    points = matrix.combinations(scenario)
    most = points * len(scenario.servers) * max(1, len(scenario.loaders) + len(scenario.clients))
    few = most <= _MOST  # else nothing looks at each of them
    if not few:
        message = f"{points} combinations make up to {most} cases, more than {_MOST}"
        hint = "vary less at a time: split it into several scenarios, or leave values out"
        yield Fault((*top, "vary"), message, hint)
    servers = parts["servers"]
    beyond = references.reached(scenario, servers) if few else references.Reached(tuple(servers))
    sound = few
    for subpath, path in scenario.varied_paths():
        sound &= yield from _leads((*top, *subpath), path, scenario, parts, beyond.labels)
    secret_faults = list(_secret_faults(top, scenario))
    yield from secret_faults
    for path, values in scenario.vary.items():
        yield from _value_faults((*top, "vary", path), values)
    yield from _exclude_faults(top, scenario)
    yield from _variable_faults(top, scenario)
    if sound and not secret_faults:
        yield from point_faults(top, scenario, parts, beyond)


def _leads(
    path_of_list: Path, path: str, scenario: Scenario, parts: Parts, beyond: Sequence[str]
) -> Checked[bool]:
    """Tell whether a path leads to an option, or to a variable, whose values can be looked at."""
    varied = axis(path)
    if varied is None:
        yield Fault(path_of_list, "not the path of an option", _FORM)
        return False
    if varied.place != "path":
        return (yield from _leads_to_option(path_of_list, varied, scenario, parts, beyond))
    if not any(varied.label in variables(request) for _, request in _request_paths((), scenario)):
        hint = f'use it: request = {{ path = "/{{{varied.label}}}" }}'
        yield Fault(path_of_list, f"no request of this scenario uses {{{varied.label}}}", hint)
    return True


def _leads_to_option(
    path_of_list: Path, varied: Axis, scenario: Scenario, parts: Parts, beyond: Sequence[str]
) -> Checked[bool]:
    labels: tuple[str, ...] = getattr(scenario, varied.place)
    if varied.place == "servers":
        labels += tuple(beyond)
    if varied.label != "*" and varied.label not in labels:
        hint = Nearest(varied.label, labels, f"{varied.place} of this scenario")
        yield Fault(path_of_list, f"{varied.label!r} is not one of its {varied.place}", hint)
        return False
    declared = parts[varied.place]
    meant = [declared[name] for name in labels if name in declared and varied.label in {"*", name}]
    if any(varied.reaches(varied.place, declaration) for declaration in meant):
        return True
    if all(label in declared for label in labels):  # else that part has its own fault
        names = dict.fromkeys(name for declaration in meant for name in options(declaration.cls))
        who = f"{varied.place}.{varied.label}"
        hint = Nearest(varied.option[0], names, f"{who} takes")
        none = "none of its parts has" if varied.label == "*" else f"{who} has no"
        yield Fault(path_of_list, f"{none} option {varied.option[0]!r}", hint)
    return False


def _secret_faults(top: Path, scenario: Scenario) -> Iterator[Fault]:
    """Yield a fault for each secret: what varies stands in the name of each case."""
    for subpath, path, value in scenario.varied_values():
        asks = isinstance(value, dict) and list(value) == ["env"]
        if asks or any(secrets_of({path.rpartition(".")[2]: value})):
            table = path.partition(".")[0]
            hint = f"declare one of the {table} for each value, and name them in the scenario"
            message = "a secret cannot vary: it would stand in the names of cases"
            yield Fault((*top, *subpath), message, hint)


def _value_faults(path_of_list: Path, values: list[JsonValue]) -> Iterator[Fault]:
    if not values:
        yield Fault(path_of_list, "varies over nothing", "give at least one value, or leave it out")
    texts: set[str] = set()
    for number, value in enumerate(values):
        if (text := json.dumps(value, sort_keys=True)) in texts:
            yield Fault((*path_of_list, number), f"{shown(value)} is listed twice", "leave one out")
        texts.add(text)


def _exclude_faults(top: Path, scenario: Scenario) -> Iterator[Fault]:
    for number, excluded in enumerate(scenario.exclude):
        key_path = (*top, "exclude", number)
        if not excluded:
            yield Fault(key_path, "excludes everything", "name what varies, and its values")
        for path, value in excluded.items():
            if path not in scenario.vary:
                near = Nearest(path, scenario.vary, "this scenario varies")
                yield Fault((*key_path, path), "does not vary, so this excludes nothing", near)
            elif value not in scenario.vary[path]:
                hint = f"it takes: {', '.join(map(shown, scenario.vary[path]))}"
                yield Fault((*key_path, path), f"is never {shown(value)}", hint)


def _variable_faults(top: Path, scenario: Scenario) -> Iterator[Fault]:
    for key_path, request in _request_paths(top, scenario):
        for name in variables(request):
            path = f"path.{name}"
            if path not in scenario.vary:
                hint = f'vary = {{ "{path}" = [...] }}; a brace itself is %7B'
                yield Fault(key_path, f"nothing fills {{{name}}}", hint)
            for number, point in enumerate(scenario.include):
                if path not in point:
                    yield Fault((*top, "include", number), f"{path!r} is missing")


def _request_paths(top: Path, scenario: Scenario) -> Iterator[tuple[Path, Request]]:
    if any(server not in scenario.requests for server in scenario.servers):
        yield (*top, "request", "path"), scenario.request
    for server, request in scenario.requests.items():
        yield (*top, "requests", server, "path"), request


# What is looked at together: when one of them is faulty, nothing can be said of the others.
_MATRIX = (*KINDS, "request", "requests", "vary", "include", "exclude")


def scenarios(
    tables: Mapping[str, Tables], labels: Labels, parts: Parts, environment: Environment
) -> Checked[dict[str, Scenario]]:
    """Return every sound scenario; `labels` are all declared, `parts` the sound ones."""
    read: dict[str, Scenario] = {}
    stages = {k: len(getattr(part.part, "stages", ())) for k, part in parts["loaders"].items()}
    for label, table in tables.items():
        path = ("scenarios", label)
        for kind, name in KINDS.items():
            yield from _name_faults((*path, kind), name, table.get(kind), labels[kind])
        for key, value in as_table(table.get("vary")).items():
            if isinstance(value, dict):
                hint = 'quote the whole path: vary = { "servers.*.workers" = [1, 2] }'
                hint = "list its values: [1, 2]" if "." in key else hint
                yield Fault((*path, "vary", key), "expected an array, got a table", hint)
        filled = as_table((yield from _filled(table, path, environment)))
        scenario = yield from checked(Scenario, filled, path)
        if scenario is not None:
            read[label] = scenario.with_stages(stages)
            if not scenario.loaders and not scenario.clients:
                declared = f"declared: {listed([*labels['loaders'], *labels['clients']])}"
                hint = "name a load tool or a client: loaders = [...] or clients = [...]"
                yield Fault(path, "no loader and no client is named", f"{hint}; {declared}")
        else:
            scenario = sound_rest(Scenario, filled, _MATRIX)
        if scenario is not None:
            yield from _faults_inside(path, scenario, labels, parts)
    return read


def _faults_inside(path: Path, scenario: Scenario, labels: Labels, parts: Parts) -> Iterator[Fault]:
    for key in ("requests", "expects"):
        for server in getattr(scenario, key):
            if server not in scenario.servers:
                hint = Nearest(server, scenario.servers, "servers of this scenario")
                yield Fault((*path, key, server), f"no server {server!r} here", hint)
    yield from references.backend_faults(path, scenario, parts)
    yield from vary_faults(path, scenario, parts)
    yield from references.varied_runtime_faults(path, scenario, parts, labels["runtimes"])
    yield from find_faults(path, scenario, parts, labels["metrics"])


def _filled(value: JsonValue, path: Path, environment: Environment) -> Checked[JsonValue]:
    """Return a scenario, kind, step or session with its requests filled in."""
    if not isinstance(value, dict):
        return value
    table = dict(value)
    for key, inner in value.items():
        read = _request if key in {"request", "requests"} else _filled
        if key in {"request", "session"}:
            table[key] = yield from read(inner, (*path, key), environment)
        elif key in {"requests", "kinds"} and isinstance(inner, dict):
            table[key] = by_label = dict(inner)
            for label, item in inner.items():
                by_label[label] = yield from read(item, (*path, key, label), environment)
        elif key == "steps" and isinstance(inner, list):
            table[key] = steps = list(inner)
            for number, item in enumerate(inner):
                steps[number] = yield from read(item, (*path, key, number), environment)
    return table


def _request(value: JsonValue, path: Path, environment: Environment) -> Checked[JsonValue]:
    return (yield from environment.fill(value, Request, path)) if isinstance(value, dict) else value


def _name_faults(path: Path, kind: str, named: JsonValue, names: Sequence[str]) -> Iterator[Fault]:
    if not isinstance(named, list):
        return  # the model's fault
    declared, labels_read = frozenset(names), set[str]()
    for number, label in enumerate(named):
        spot = (*path, number)
        if not isinstance(label, str):
            continue
        if label not in declared:
            yield Fault(spot, f"no {kind} {label!r} is declared", Nearest(label, names, "declared"))
        elif label in labels_read:
            twice = "to measure it twice, declare it under a second label"
            yield Fault(spot, f"{label!r} is named twice", twice)
        labels_read.add(label)
