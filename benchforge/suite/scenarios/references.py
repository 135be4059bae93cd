"""The tables [runtimes.x] of a suite, and whether each that a part names is there."""

from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue

from benchforge.model.suite.code import OWN, Runtime
from benchforge.parts.fillable import fillables
from benchforge.parts.part import Backend, Part, RunsPython, Service
from benchforge.suite.environment import Environment
from benchforge.suite.matrix import axis
from benchforge.suite.suite import Declared, Scenario
from benchforge.suite.toml.document import Tables
from benchforge.suite.toml.faults import Checked, Fault, Hint, Nearest
from benchforge.suite.toml.models import checked
from benchforge.suite.toml.positions import Path

Parts = Mapping[str, Mapping[str, Declared]]


def runtimes(
    labelled: Mapping[str, Tables], environment: Environment
) -> Checked[dict[str, Runtime]]:
    """Return every runtime that is sound, by label."""
    sound_runtimes: dict[str, Runtime] = {}
    for label, table in labelled.items():
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


def runtime_faults(parts: Parts, labels: Sequence[str]) -> Iterator[Fault]:
    """Yield a fault for each part that names a runtime which the suite does not declare."""
    for table, declared in parts.items():
        for label, declaration in declared.items():
            if isinstance(declaration.part, RunsPython):
                yield from _faults((table, label, "runtime"), declaration.part.runtime, labels)


def varied_runtime_faults(
    top: Path, scenario: Scenario, parts: Parts, labels: Sequence[str]
) -> Iterator[Fault]:
    """Yield a fault for each runtime among a scenario's values that the suite does not declare."""
    for at, path, value in scenario.varied_values():
        if _is_runtime(path, scenario, parts):
            yield from _faults((*top, *at), value, labels)


def _is_runtime(path: str, scenario: Scenario, parts: Parts) -> bool:
    varied = axis(path)
    if varied is None or varied.option != ("runtime",):
        return False
    declarations = (parts[varied.place].get(label) for label in getattr(scenario, varied.place))
    return any(
        declaration is not None
        and issubclass(declaration.cls, RunsPython)
        and varied.reaches(varied.place, declaration)
        for declaration in declarations
    )


def _faults(at: Path, named: JsonValue, labels: Sequence[str]) -> Iterator[Fault]:
    if isinstance(named, str) and named not in labels:
        hint: Hint = f"declare it: [runtimes.{named}]"
        if labels:
            hint = Nearest(named, labels, "declared")
        yield Fault(at, f"no runtime {named!r} is declared", hint)


def port_faults(
    scenarios: Mapping[str, Scenario], parts: Mapping[str, Mapping[str, Declared]]
) -> Iterator[Fault]:
    """Yield each port that two backends of a scenario have, or a backend and a server."""
    for scenario in scenarios.values():
        taken: dict[int, str] = {}
        used = [("backends", one) for one in scenario.backends]
        for table, label in (*used, *(("servers", one) for one in scenario.servers)):
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
    """Yield what a part takes of backends that are not among `labels`, or that do not give it.

    Paths start at `top`, where the part's table stands; without it, at that table.
    """
    for option, text in fillables(part):
        for label, name in text.taken():
            placeholder = f"{{backends.{label}.{name}}}"
            if label not in labels:
                hint = Nearest(label, labels, "backends")
                yield Fault((*top, *option), f"{placeholder}: no backend {label!r}", hint)
            elif label in backends and (offers := _offers(backends[label])) and name not in offers:
                hint = Nearest(name, offers, "it gives")
                message = f"{placeholder}: backend {label!r} gives no {name!r}"
                yield Fault((*top, *option), message, hint)


def given_faults(parts: Parts, labels: Sequence[str]) -> Iterator[Fault]:
    """Yield a fault for each placeholder of a server that no scenario could fill.

    `labels` are those of the backends that the suite declares, `parts` what is sound.
    """
    for label, declaration in parts["servers"].items():
        top = ("servers", label)
        yield from placeholder_faults(declaration.part, labels, parts["backends"], top)


def backend_faults(top: Path, scenario: Scenario, parts: Parts) -> Iterator[Fault]:
    """Yield a fault for each server that takes of a backend which its scenario does not start."""
    for number, label in enumerate(scenario.servers):
        if (declaration := parts["servers"].get(label)) is None:
            continue
        taken = {
            took.backend: took for _, text in fillables(declaration.part) for took in text.taken()
        }
        for backend, took in taken.items():
            if backend in parts["backends"] and backend not in scenario.backends:
                placeholder = f"{{backends.{backend}.{took.name}}}"
                message = f"{label!r} takes {placeholder}, and the scenario starts no {backend!r}"
                hint = f"name it: backends = {[*scenario.backends, backend]}".replace("'", '"')
                yield Fault((*top, "servers", number), message, hint)


def _offers(declaration: Declared) -> tuple[str, ...]:
    return declaration.cls.offers if issubclass(declaration.cls, Backend) else ()
