"""Values that a suite leaves to the environment, and which secrets can be hidden."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping

from pydantic import BaseModel, JsonValue, TypeAdapter, ValidationError

from benchforge.suite.secrets import SHORTEST, Secret, pieces, redact
from benchforge.suite.toml.document import Tables
from benchforge.suite.toml.faults import Checked, Fault
from benchforge.suite.toml.positions import Path
from benchforge.text.safe import HIDDEN

SHORT = "such a short text cannot be hidden"
LONGER = f"use a secret of {SHORTEST} characters or more"


class Environment:
    """Fills in values from `tells`, which returns None for an unset name, and remembers them."""

    def __init__(self, tells: Callable[[str], str | None] = os.environ.get) -> None:
        self._tells = tells
        self.used: dict[str, Path] = {}
        "Each secret, and where one of them was asked for."

    def fill(
        self, options: Mapping[str, JsonValue], model: type[BaseModel], path: Path
    ) -> Checked[dict[str, JsonValue]]:
        """Return the options with these values; `env` stays in an option that takes any table."""
        filled: dict[str, JsonValue] = {}
        for option, value in options.items():
            keeps = _asks(value) and _takes_tables(model, option)
            filled[option] = value if keeps else (yield from self._filled(value, (*path, option)))
        return filled

    def _filled(self, value: JsonValue, path: Path) -> Checked[JsonValue]:
        if (name := _asks(value)) is not None:
            return (yield from self._ask(name, path))
        if isinstance(value, dict):
            table: dict[str, JsonValue] = {}
            for key, inner in value.items():
                table[key] = yield from self._filled(inner, (*path, key))
            return table
        if isinstance(value, list):
            array: list[JsonValue] = []
            for number, inner in enumerate(value):
                array.append((yield from self._filled(inner, (*path, number))))
            return array
        return value

    def _ask(self, key: str, path: Path) -> Checked[str]:
        value = self._tells(key)
        if value is None:
            yield Fault(path, f"the environment has no {key}", f"set it: {key}=... benchforge run")
            return ""
        for piece in pieces(value):
            self.used[piece] = path
            if len(piece) < SHORTEST and value != HIDDEN:
                text = key if len(piece) >= len(value.removeprefix("/")) else f"a password in {key}"
                yield Fault(path, f"{text} has fewer than {SHORTEST} characters: {SHORT}", LONGER)
        return value


def _asks(value: JsonValue) -> str | None:
    if isinstance(value, dict) and list(value) == ["env"] and isinstance(value["env"], str):
        return value["env"]
    return None


def _takes_tables(model: type[BaseModel], option: str) -> bool:
    """Return True if an option takes any table with texts, so that `env` is one of its own keys."""
    fields = model.model_fields.items()
    field = next((field for name, field in fields if option in {name, field.alias}), None)
    if field is None or field.annotation is None:
        return False
    try:
        TypeAdapter(field.annotation).validate_json('{"env": "NAME"}', strict=True)
    except ValidationError:
        return False
    return True


def hiding_faults(
    tables: Tables, literal: Iterable[Secret], taken: Mapping[str, Path]
) -> Iterator[Fault]:
    """Yield a fault for each secret that cannot be hidden; `fill` checks the length of `taken`."""
    places = dict(taken)
    for path, secret in literal:
        places.setdefault(secret, path)
        if len(secret) < SHORTEST:
            message = f"a secret of fewer than {SHORTEST} characters: {SHORT}"
            yield Fault(path, message, LONGER)
    names = "\n".join(dict.fromkeys(_names(tables)))
    for secret, path in places.items():
        if len(secret) >= SHORTEST and redact(names, [secret]) != names:
            message = "this secret is also a name in the suite, where it cannot be hidden"
            yield Fault(path, message, "choose another secret, or another name")


def _names(value: JsonValue, *, texts: bool = False) -> Iterator[str]:
    """Yield what a result cannot do without: keys, labels, parts, and `texts` of what varies."""
    if isinstance(value, str) and texts:
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _names(inner, texts=texts or key in {"use", "vary", "include"})
    elif isinstance(value, list):
        for inner in value:
            yield from _names(inner, texts=texts)
