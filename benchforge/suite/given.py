"""What parts take of backends, `{backends.agents.url}`: is it there, before anything starts."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from benchforge.parts.fillable import fillables
from benchforge.parts.part import Backend, Part
from benchforge.suite.complaints import Complaints
from benchforge.suite.faults import nearest
from benchforge.suite.positions import Path
from benchforge.suite.suite import Declared, Scenario

Parts = Mapping[str, Mapping[str, Declared]]


class Misgiven(NamedTuple):
    """A placeholder that cannot be filled: where in the part it stands, message and hint."""

    option: Path
    message: str
    hint: str


def misgiven(
    part: Part, labels: Sequence[str], backends: Mapping[str, Declared]
) -> Iterator[Misgiven]:
    """Yield what a part takes of backends that are not among `labels`, or that do not give it."""
    for option, text in fillables(part):
        for label, name in text.taken():
            placeholder = f"{{backends.{label}.{name}}}"
            if label not in labels:
                hint = nearest(label, labels, "backends")
                yield Misgiven(option, f"{placeholder}: no backend {label!r}", hint)
            elif label in backends and (offers := _offers(backends[label])) and name not in offers:
                hint = nearest(name, offers, "it gives")
                yield Misgiven(option, f"{placeholder}: backend {label!r} gives no {name!r}", hint)


def check_given(parts: Parts, labels: Sequence[str], complaints: Complaints) -> None:
    """Complain of each placeholder of a server that no scenario could fill.

    `labels` are those of the backends that the suite declares, `parts` what is sound.
    """
    for label, one in parts["servers"].items():
        for option, message, hint in misgiven(one.part, labels, parts["backends"]):
            complaints.at(("servers", label, *option), message, hint)


def check_named_backends(
    top: Path, scenario: Scenario, parts: Parts, complaints: Complaints
) -> None:
    """Complain of each server that takes of a backend which its scenario does not start."""
    for number, label in enumerate(scenario.servers):
        if (one := parts["servers"].get(label)) is None:
            continue
        taken = {took.backend: took for _, text in fillables(one.part) for took in text.taken()}
        for backend, took in taken.items():
            if backend in parts["backends"] and backend not in scenario.backends:
                placeholder = f"{{backends.{backend}.{took.name}}}"
                message = f"{label!r} takes {placeholder}, and the scenario starts no {backend!r}"
                hint = f"name it: backends = {[*scenario.backends, backend]}".replace("'", '"')
                complaints.at((*top, "servers", number), message, hint)


def _offers(one: Declared) -> tuple[str, ...]:
    return one.cls.offers if issubclass(one.cls, Backend) else ()
