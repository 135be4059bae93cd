"""Whether a suite's secrets can be hidden: not those that are short, or a name of its own too."""

from collections.abc import Iterable, Iterator, Mapping

from pydantic import JsonValue

from benchforge.suite.environment import LONGER, SHORT
from benchforge.suite.secrets.forms import SHORTEST
from benchforge.suite.secrets.redact import redact
from benchforge.suite.secrets.telling import Secret
from benchforge.suite.toml.document import Tables
from benchforge.suite.toml.faults import Fault
from benchforge.suite.toml.positions import Path


def hiding_faults(
    tables: Tables, literal: Iterable[Secret], taken: Mapping[str, Path]
) -> Iterator[Fault]:
    """Yield a fault for each secret that cannot be hidden.

    The length of those `taken` from the environment is looked at where they are taken.
    """
    places = dict(taken)
    for place, secret in literal:
        places.setdefault(secret, place)
        if len(secret) < SHORTEST:
            message = f"a secret of fewer than {SHORTEST} characters: {SHORT}"
            yield Fault(place, message, LONGER)
    names = "\n".join(dict.fromkeys(_names(tables)))
    for secret, place in places.items():
        if len(secret) >= SHORTEST and redact(names, [secret]) != names:
            message = "this secret is also a name in the suite, where it cannot be hidden"
            yield Fault(place, message, "choose another secret, or another name")


def _names(value: JsonValue) -> Iterator[str]:
    """Yield what a result cannot do without: keys, labels, parts, and values that vary."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            if key in {"use", "vary", "include"}:
                yield from _texts(inner)
            else:
                yield from _names(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _names(inner)


def _texts(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
