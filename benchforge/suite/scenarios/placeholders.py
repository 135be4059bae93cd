"""What parts take of backends, `{backends.agents.url}`: is it there, before anything starts."""

from collections.abc import Iterator, Mapping, Sequence

from benchforge.parts.fillable import fillables
from benchforge.parts.part import Backend, Part
from benchforge.suite.suite import Declared, Scenario
from benchforge.suite.toml.faults import Fault, Nearest
from benchforge.suite.toml.positions import Path

Parts = Mapping[str, Mapping[str, Declared]]


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
