"""Faults of a suite, all of them at once, each with its place and a hint."""

from collections.abc import Collection, Generator, Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TypeVar

from benchforge.errors import Unusable
from benchforge.suite.toml.positions import Path
from benchforge.text import safe
from benchforge.text.readable import counted, listed

T = TypeVar("T")

SHOWN = 20
"Faults of one file that are printed: a person corrects these first."
_COMPARED = 5_000  # names; a suite can have more, and a hint is worth no second


@dataclass(frozen=True)
class Nearest:
    """A hint: the name that was probably meant, and which there are, after `says`.

    It compares when it is printed: of ten thousand faults only the first are.
    """

    name: object
    names: Collection[str]
    says: str

    def __str__(self) -> str:
        names = tuple(self.names)
        near = get_close_matches(str(self.name), names[:_COMPARED], 1)
        guess = f"did you mean {near[0]!r}? " if near else ""
        return f"{guess}{self.says}: {listed(names)}"


Hint = str | Nearest


@dataclass(frozen=True)
class Fault:
    """What is wrong with the value at a path of a suite, or with an option of the command line."""

    path: Path
    message: str
    hint: Hint = ""
    option: str = ""
    "Option of the command line, instead of a path."
    of_model: bool = False
    "True for what pydantic found: it stands back for an earlier fault of the same path."
    unknown: str = ""
    "The key, where a model does not know it."
    options: tuple[str, ...] = ()
    "All that were looked at, where a part's validator names them."

    def below(self, top: Path) -> "Fault":
        """Return the fault of a table as one of the document: the table stands at `top`."""
        return replace(self, path=(*top, *self.path))


Checked = Generator[Fault, None, T]
"""What a function returns that reads a piece of a suite: it yields what is wrong there, and returns
what is sound. Its caller writes `value = yield from read_piece(...)`."""


@dataclass(frozen=True)
class SuiteFault:
    """One fault: where it is, what is wrong, the line in question, and what to do."""

    where: str
    "file:line:column, or the option of the command line."
    message: str
    excerpt: str = ""
    hint: Hint = ""

    @property
    def text(self) -> str:
        """As it is printed: names and values of a suite end no line."""
        error = safe.word(f"error: {self.where}: {self.message}")
        hint = safe.word(f"hint: {self.hint}") if self.hint else ""
        return "\n".join(filter(None, (error, self.excerpt, hint)))


class SuiteErrors(Unusable):
    """A suite cannot be used; `faults` holds every reason, `text()` is what to print."""

    def __init__(self, faults: Sequence[SuiteFault]) -> None:
        self.faults = tuple(faults)
        # Hints stand with their faults; a hint of the whole would be printed a second time.
        super().__init__(self.text().removeprefix("error: "))

    def renamed(self, file: str, name: str) -> "SuiteErrors":
        """Return the same faults, with another name for their file."""
        places = ((fault, fault.where.replace(file, name)) for fault in self.faults)
        return SuiteErrors([replace(fault, where=where) for fault, where in places])

    def text(self) -> str:
        """Return all faults as they are to be printed: the first twenty, and how many more."""
        more = len(self.faults) - SHOWN
        rest = [f"error: and {counted(more, 'more error')}"] if more > 0 else []
        return "\n".join([fault.text for fault in self.faults[:SHOWN]] + rest)


def nearest(name: object, names: Iterable[str], says: str) -> str:
    """Return a hint: the name that was probably meant, and which there are, after `says`."""
    return str(Nearest(name, tuple(names), says))
