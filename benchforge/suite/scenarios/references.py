"""References between parts: runtimes, backends, ports, and the servers behind a server."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

from pydantic import JsonValue, ValidationError

from benchforge.model.suite.code import OWN, Runtime
from benchforge.parts.fillable import fillables
from benchforge.parts.part import UPSTREAM_OPTIONS, Part, RunsPython, Server, Service
from benchforge.suite.environment import Environment
from benchforge.suite.matrix import Point, about, axis, part_with, projected, reaching
from benchforge.suite.suite import Declared, Labels, Parts, Scenario
from benchforge.suite.toml.document import Tables
from benchforge.suite.toml.faults import Checked, Fault, Hint, Nearest
from benchforge.suite.toml.models import checked
from benchforge.suite.toml.positions import Path


def runtimes(tables: Mapping[str, Tables], environment: Environment) -> Checked[dict[str, Runtime]]:
    """Return every runtime that is sound, by label."""
    sound_runtimes: dict[str, Runtime] = {}
    for label, table in tables.items():
        path = ("runtimes", label)
        if label == OWN:
            yield Fault(path, "this is the name of benchforge's own interpreter", "rename it")
        python = table.get("python")
        if isinstance(python, int | float) and not isinstance(python, bool):
            hint = "write it in quotes: as a number, 3.10 would be 3.1"
            yield Fault((*path, "python"), f"expected text, got {python}", hint)
        options = yield from environment.fill(table, Runtime, path)
        runtime = yield from checked(Runtime, options, path)
        if runtime is not None:
            sound_runtimes[label] = runtime
    return sound_runtimes


def part_faults(parts: Parts, labels: Labels) -> Iterator[Fault]:
    """Yield a fault for each backend of a server, and each runtime, that a suite does not have."""
    for table, declared in parts.items():
        for label, declaration in declared.items():
            path, part = (table, label), declaration.part
            if table == "servers":
                yield from placeholder_faults(part, labels["backends"], parts["backends"], path)
            if isinstance(part, RunsPython):
                yield from _faults((*path, "runtime"), part.runtime, labels["runtimes"])


def varied_runtime_faults(
    top: Path, scenario: Scenario, parts: Parts, labels: Sequence[str]
) -> Iterator[Fault]:
    """Yield a fault for each runtime among a scenario's values that the suite does not declare."""
    for subpath, path, value in scenario.varied_values():
        varied = axis(path)
        if varied is None or varied.option != ("runtime",):
            continue
        declared = [parts[varied.place].get(key) for key in getattr(scenario, varied.place)]
        runs_python = [it for it in declared if it is not None and issubclass(it.cls, RunsPython)]
        if any(varied.reaches(varied.place, declaration) for declaration in runs_python):
            yield from _faults((*top, *subpath), value, labels)


def _faults(path: Path, named: JsonValue, labels: Sequence[str]) -> Iterator[Fault]:
    if isinstance(named, str) and named not in labels:
        near = Nearest(named, labels, "declared")
        hint: Hint = near if labels else f"declare it: [runtimes.{named}]"
        yield Fault(path, f"no runtime {named!r} is declared", hint)


def port_faults(scenarios: Mapping[str, Scenario], parts: Parts) -> Iterator[Fault]:
    """Yield each port that two backends of a scenario have, or a backend and a server."""
    for scenario in scenarios.values():
        taken: dict[int, str] = {}
        used = [("backends", backend) for backend in scenario.backends]
        for table, label in (*used, *(("servers", server) for server in scenario.servers)):
            part = parts[table][label].part if label in parts[table] else None
            for port in part.fixed_ports().values() if isinstance(part, Service) else ():
                if port in taken:
                    message = f"port {port} is the port of {taken[port]}, too"
                    yield Fault((table, label, "port"), message, "choose another port")
                elif table == "backends":
                    taken[port] = f"backends.{label}"


def placeholder_faults(
    part: Part, labels: Sequence[str], backends: Mapping[str, Declared], top: Path = ()
) -> Iterator[Fault]:
    """Yield placeholders of backends not in `labels`, or without the value; `top` is the part's."""
    for option, text in fillables(part):
        for label, name in text.taken():
            placeholder = f"{{backends.{label}.{name}}}"
            offers = getattr(backends[label].cls, "offers", ()) if label in backends else ()
            if label not in labels:
                hint = Nearest(label, labels, "backends")
                yield Fault((*top, *option), f"{placeholder}: no backend {label!r}", hint)
            elif offers and name not in offers:
                hint = Nearest(name, offers, "it gives")
                message = f"{placeholder}: backend {label!r} gives no {name!r}"
                yield Fault((*top, *option), message, hint)


def backend_faults(top: Path, scenario: Scenario, parts: Parts) -> Iterator[Fault]:
    """Yield a fault for each server that takes of a backend which its scenario does not start."""
    for number, label in enumerate(scenario.servers):
        if (declaration := parts["servers"].get(label)) is None:
            continue
        refs = {ref.backend: ref for _, text in fillables(declaration.part) for ref in text.taken()}
        for backend, ref in refs.items():
            if backend in parts["backends"] and backend not in scenario.backends:
                placeholder = f"{{backends.{backend}.{ref.name}}}"
                message = f"{label!r} takes {placeholder}, and the scenario starts no {backend!r}"
                hint = f"name it: backends = {[*scenario.backends, backend]}".replace("'", '"')
                yield Fault((*top, "servers", number), message, hint)


@dataclass(eq=False)
class Astray(Exception):
    """A server cannot stand before another."""

    trail: Sequence[str]
    "Labels up to that server."
    label: str
    "Label of the other."
    message: str
    hint: Hint
    concerned: Point
    "Part of the point that is about the server."


def behind(front: Declared, servers: Mapping[str, Declared], point: Point) -> tuple[str, ...]:
    """Return the labels of the servers behind a server at a point, as they start.

    Raises Astray for an undeclared name and for a circle, and pydantic's ValidationError where such
    a server refuses an option of the point.
    """
    gathered: dict[str, None] = {}
    _gather((front.label,), front, servers, point, gathered)
    return tuple(gathered)


def _gather(
    trail: tuple[str, ...],
    declaration: Declared,
    servers: Mapping[str, Declared],
    point: Point,
    gathered: dict[str, None],
) -> None:
    if not _is_front(declaration):
        return
    concerned = reaching(point, "servers", declaration)
    for label in cast("Server", part_with(declaration, concerned)).upstreams():
        if label in trail:
            circle = " → ".join((*trail[trail.index(label) :], label))
            message = f"stands before itself: {circle}"
            raise Astray(trail, label, message, "break the circle", concerned)
        if label not in servers:
            hint = Nearest(label, servers, "declared")
            raise Astray(trail, label, f"no server {label!r} is declared", hint, concerned)
        if label not in gathered:
            _gather((*trail, label), servers[label], servers, point, gathered)
            gathered[label] = None


def _is_front(declaration: Declared) -> bool:
    return bool(declaration.cls.model_fields.keys() & set(UPSTREAM_OPTIONS))


def fronts(labels: Iterable[str], servers: Mapping[str, Declared]) -> list[Declared]:
    """Return those of the servers that can stand before others."""
    return [servers[label] for label in labels if label in servers and _is_front(servers[label])]


def leading(scenario: Scenario, servers: Mapping[str, Declared]) -> set[str]:
    """Return the paths of all that varies and may decide what stands behind a server."""
    standing = fronts(servers, servers)
    return {path for declaration in standing for path in about(scenario, "servers", declaration)}


class Reached(NamedTuple):
    """What the servers of a scenario stand before, at any of its points."""

    labels: tuple[str, ...]
    "Labels of those servers, without the scenario's own."
    astray: tuple[Astray, ...] = ()
    "Servers that cannot stand where a point says."


def reached(scenario: Scenario, servers: Mapping[str, Declared]) -> Reached:
    """Return all that a scenario's servers stand before, and where they cannot."""
    labels: dict[str, None] = {}
    astray: list[Astray] = []
    standing = fronts(scenario.servers, servers)
    paths = leading(scenario, servers) if standing else set()
    for point in projected(scenario, paths) if standing else ():
        for front in standing:
            try:
                labels |= dict.fromkeys(behind(front, servers, point))
            except Astray as error:
                astray.append(error.with_traceback(None))
            except ValidationError:
                continue  # the value's own fault
    return Reached(tuple(label for label in labels if label not in scenario.servers), tuple(astray))


def upstream_faults(servers: Mapping[str, Declared], labels: Sequence[str]) -> Iterator[Fault]:
    """Yield a fault for each server before an undeclared one, or before itself."""
    circles: set[frozenset[str]] = set()
    for front in fronts(servers, servers):
        try:
            behind(front, servers, {})
        except Astray as error:
            if error.label in error.trail:
                circle = frozenset(error.trail[error.trail.index(error.label) :])
                if circle in circles:
                    continue
                circles.add(circle)
            if error.label not in labels or error.label in servers:
                path = _written(servers[error.trail[-1]], error.label)
                yield Fault(path, error.message, error.hint)


def _written(declaration: Declared, label: str) -> Path:
    for option in UPSTREAM_OPTIONS:
        named = declaration.options.get(option)
        if named == label:
            return ("servers", declaration.label, option)
        if isinstance(named, list) and label in named:
            return ("servers", declaration.label, option, named.index(label))
    return ("servers", declaration.label)
