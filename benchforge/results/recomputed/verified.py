"""Values that were computed again, next to those of a file: documents compared value by value."""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from benchforge.model.files.file import FileFault, Parsed
from benchforge.model.values.frozen import Frozen
from benchforge.model.values.places import JsonPath
from benchforge.text.readable import cut

CLOSE = 1e-9
"Relative, of numbers with a fraction; counts and texts must be equal."
NOTHING = object()
"In place of a value that is not there."
_SHOWN = 60


def member(value: object, *path: str | int) -> object:
    """Return what stands at a path of a document, NOTHING where nothing does."""
    for step in path:
        if isinstance(value, dict):
            value = value.get(step, NOTHING)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return NOTHING
    return value


def leaves(then: object, new: object, path: JsonPath) -> Iterator[tuple[JsonPath, object, object]]:
    """Yield each value of two documents that is not an object in both, or an array in both."""
    if isinstance(then, dict) and isinstance(new, dict):
        for key in dict.fromkeys((*then, *new)):
            yield from leaves(then.get(key, NOTHING), new.get(key, NOTHING), (*path, key))
    elif isinstance(then, list) and isinstance(new, list):
        for number, pair in enumerate(zip_longest(then, new, fillvalue=NOTHING)):
            yield from leaves(*pair, (*path, number))
    else:
        yield path, then, new


def alike(value: object, other: object) -> bool:
    """Whether two such values are the same; one that has a fraction may be off by CLOSE."""
    if isinstance(value, bool) or isinstance(other, bool):
        return value is other
    if isinstance(value, int) and isinstance(other, int):
        return value == other
    if isinstance(value, int | float) and isinstance(other, int | float):
        try:
            return math.isclose(value, other, rel_tol=CLOSE)
        except OverflowError:  # a count beyond all floats
            return False
    return value == other


def written(value: object) -> str:
    """Return a value for people."""
    return "not there" if value is NOTHING else cut(json.dumps(value), _SHOWN)


@dataclass(frozen=True)
class Recomputed:
    """A value that a file has, computed again; or why it could not be."""

    file: Parsed[Any]
    path: JsonPath = ()
    value: JsonValue = None
    cannot: str = ""


Values = Iterator[Recomputed | FileFault]
"Values to be compared, and what is wrong by itself."


@dataclass
class Verified:
    """What came of computing a result again."""

    trials: int
    compared: int = 0
    differing: list[FileFault] = field(default_factory=list)
    cannot: list[FileFault] = field(default_factory=list)
    "Values that could not be computed again, each with its reason."
    older: int = 0
    "Values that an older benchforge did not write: there is nothing to compare."
    other: str = ""
    "The version of benchforge that wrote it, where that was not this one."
    as_written: tuple[str, ...] = ()
    "Numbers of trials, and members of the header, that nothing else tells: by their paths."
    covered: dict[Path, set[JsonPath]] = field(default_factory=dict)
    "Paths of what was computed again, by file."

    def add(self, value: Recomputed | FileFault) -> None:
        """Add what is wrong, or not known, of a file; or a digest that is right."""
        if isinstance(value, FileFault):
            (self.differing if value.kind == "invalid" else self.cannot).append(value)
        elif value.cannot:
            self.cannot.append(value.file.fault(value.cannot, *value.path))
        else:
            self.compared += 1

    def extend(self, other: "Verified") -> None:
        """Add what came of comparing other values."""
        self.compared += other.compared
        self.older += other.older
        self.differing.extend(other.differing)
        self.cannot.extend(other.cannot)
        for file, paths in other.covered.items():
            self.covered.setdefault(file, set()).update(paths)

    @property
    def proved(self) -> int:
        """Number of values that agree."""
        return self.compared - self.older - len(self.differing)

    @property
    def not_proved(self) -> int:
        """Number of values that there is nothing to compare with."""
        return len(self.cannot) + self.older


def compare_values(
    again: Recomputed, document: object, verified: Verified, *, is_ours: bool
) -> None:
    """Add to `verified` what of a file's document differs from a value computed again."""
    stored = member(document, *again.path)
    for path, then, new_value in leaves(stored, again.value, again.path):
        verified.compared += 1
        if alike(then, new_value):
            continue
        if not is_ours and not again.file.places.has(path):
            verified.older += 1
            continue
        message = f"{written(then)}, but recomputed it is {written(new_value)}"
        verified.differing.append(again.file.fault(message, *path))


def plain(model: Frozen) -> JsonValue:
    """Return a model as its file has it."""
    document: JsonValue = model.model_dump(mode="json", by_alias=True)
    return document
