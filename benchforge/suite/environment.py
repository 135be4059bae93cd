"""Values that a suite leaves to the environment: `url = { env = "PGURL" }`."""

import os
from collections.abc import Callable, Iterator, Mapping

from pydantic import BaseModel, JsonValue, ValidationError

from benchforge.suite.complaints import Complaints
from benchforge.suite.positions import Path
from benchforge.suite.typed import typed


class Environment:
    """Fills such values in, and remembers them: they are secret.

    `tells` gives the value of a name, None where it is not set.
    """

    def __init__(
        self, complaints: Complaints, tells: Callable[[str], str | None] = os.environ.get
    ) -> None:
        self._complaints = complaints
        self._tells = tells
        self.used: set[str] = set()

    def fill(
        self, options: Mapping[str, JsonValue], model: type[BaseModel], path: Path
    ) -> dict[str, JsonValue]:
        """Return the options with each such value in place; complain of what is not set.

        An option that takes any table (`environment`) keeps one with the single key `env`.
        """
        return {
            option: (
                value
                if _asks(value) and _takes_tables(model, option)
                else self._filled(value, (*path, option))
            )
            for option, value in options.items()
        }

    def _filled(self, value: JsonValue, path: Path) -> JsonValue:
        if isinstance(value, dict):
            if (name := _asks(value)) is not None:
                return self._ask(name, path)
            return {key: self._filled(inner, (*path, key)) for key, inner in value.items()}
        if isinstance(value, list):
            return [self._filled(inner, (*path, number)) for number, inner in enumerate(value)]
        return value

    def _ask(self, name: str, path: Path) -> str:
        given = self._tells(name)
        if given is None:
            hint = f"set it: {name}=... benchforge run"
            self._complaints.at(path, f"the environment has no {name}", hint)
            return ""
        self.used.add(given)
        return given


def _asks(value: JsonValue) -> str | None:
    if isinstance(value, dict) and list(value) == ["env"] and isinstance(value["env"], str):
        return value["env"]
    return None


def _takes_tables(model: type[BaseModel], option: str) -> bool:
    try:
        typed(model, {option: {"env": "NAME"}})
    except ValidationError as error:
        return option not in _refused(error)
    return True


def _refused(error: ValidationError) -> Iterator[object]:
    return (detail["loc"][0] for detail in error.errors(include_url=False) if detail["loc"])
