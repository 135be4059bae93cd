"""A result as it was read, and what a recomputation says of it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from benchforge.model.ceiling import Ceiling
from benchforge.model.file import Fault, Parsed
from benchforge.model.frozen import Frozen
from benchforge.model.places import JsonPath
from benchforge.model.result import Header
from benchforge.model.sitting import Sitting
from benchforge.model.summary import Summary
from benchforge.model.trial import Trial
from benchforge.parts.part import Driver
from benchforge.registry import Registry
from benchforge.run.ceiling import load_of
from benchforge.suite.find import rated
from benchforge.suite.kept import KeptSuite


@dataclass(frozen=True)
class Measured:
    """A trial: a file of its own, or inside of a ceiling's."""

    file: Parsed[Any]
    trial: Trial
    at: JsonPath = ()
    "Where it stands in the file."

    def again(self, *path: str | int, value: JsonValue = None, cannot: str = "") -> "Again":
        """Return a value of this trial, computed again, or why it cannot be."""
        return Again(self.file, (*self.at, *path), value, cannot)

    def fault(self, message: str, *path: str | int) -> Fault:
        """Return a fault of one value of this trial."""
        return self.file.fault(message, *self.at, *path)


@dataclass(frozen=True)
class Result:
    """A result as it was read, and the suite that says how."""

    header: Parsed[Header]
    trials: tuple[Parsed[Trial], ...]
    "By number."
    ceilings: tuple[Parsed[Ceiling], ...]
    sittings: tuple[Sitting, ...]
    summary: Parsed[Summary] | None
    suite: KeptSuite
    registry: Registry
    ours: bool
    "Whether this very version of benchforge wrote it."

    @property
    def measured(self) -> Iterator[Measured]:
        """All that was measured: the trials, and what load tools did against the null server."""
        yield from (Measured(one, one.model) for one in self.trials)
        yield from (Measured(one, one.model.trial, ("trial",)) for one in self.ceilings)

    def driver(self, one: Measured) -> Driver:
        """Return what made the load. Raises Unusable where the suite has no such driver."""
        driver = self.suite.driver(one.trial.case)
        if one.trial.sought is not None:
            driver = rated(driver, one.trial.sought.rate, one.trial.block)
        return load_of(driver) if isinstance(one.file.model, Ceiling) else driver


@dataclass(frozen=True)
class Again:
    """A value that a file has, computed again; or why it could not be."""

    file: Parsed[Any]
    path: JsonPath
    value: JsonValue = None
    cannot: str = ""


Recomputation = Callable[[Result], Iterator[Again | Fault]]
"Yields what is to be compared, and what is wrong by itself."


def plain(model: Frozen) -> JsonValue:
    """Return a model as its file has it."""
    document: JsonValue = model.model_dump(mode="json", by_alias=True)
    return document
