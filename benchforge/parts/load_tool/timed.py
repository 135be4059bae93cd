"""What load tools have in common that print, or run for whole seconds: words and last words."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, ClassVar, Self

from pydantic import AfterValidator

from benchforge.errors import BenchforgeError, OutputDamaged
from benchforge.model.trial.answers.answer import Request
from benchforge.model.trial.reading import Reading
from benchforge.model.values.units import Duration
from benchforge.parts.command import Command, Need
from benchforge.parts.part import Loader
from benchforge.parts.site import Output, Site
from benchforge.text import readable

_LASTED = 0.9  # of the time that was asked for, at least: tools round, and begin late


def _whole(value: Duration) -> Duration:
    if value < 1 or not value.is_integer():
        raise ValueError(f"should be whole seconds, one at least, not {value}s")
    return value


WholeSeconds = Annotated[Duration, AfterValidator(_whole)]
"Type of an option in whole seconds, one at least."


class Program(Loader, ABC):
    """A load tool whose only need is the program of its name."""

    install: ClassVar[str] = ""
    "Instruction to install the program. Default: by its Debian package."
    debian: ClassVar[str] = ""
    "Debian package of the program. Default: its name, unless `install` says another way."
    asks_version: ClassVar[str] = "--version"
    "Argument with which the program prints its version; empty if it prints none."

    def needs(self) -> Iterable[Need]:
        """Return the program."""
        return [Need(self.name, self.install, debian=self.debian or self.name * (not self.install))]

    def version(self, site: Site) -> Command | None:
        """Return the program with the argument that prints its version."""
        return Command(site.programs[self.name], self.asks_version) if self.asks_version else None


class Printing(Program, ABC):
    """A program that prints all that it measured; it sends HTTP/1.1 by default."""

    http_version: ClassVar[str | None] = "HTTP/1.1"

    def read(self, output: Output) -> Reading:
        """Return what it printed. Raises OutputDamaged if it failed or that is not whole."""
        ended_well(self.name, output)
        with parsing(self.name):
            return self.reading(output.stdout)

    @abstractmethod
    def reading(self, text: str) -> Reading:
        """Return what the text says. Raises ValueError if it is not whole or contradicts itself."""


class Timed(Loader, ABC):
    """A load tool with an option for the length of its load; it sends HTTP/1.1 by default."""

    http_version: ClassVar[str | None] = "HTTP/1.1"

    duration: WholeSeconds = Duration(10)
    "Length of the load in whole seconds."

    def declared_s(self) -> float:
        """Return the duration, in seconds."""
        return float(self.duration)

    def for_warm_up(self, seconds: float) -> Self:
        """Return the same load with that length, rounded up to whole seconds."""
        return self.model_copy(update={"duration": Duration(max(1, math.ceil(seconds)))})


def headers(named: Mapping[str, str]) -> list[str]:
    """Return the words that most tools take headers by."""
    return [word for name, value in named.items() for word in ("-H", f"{name}: {value}")]


def only_get(name: str, request: Request) -> None:
    """Raise BenchforgeError for a request that the tool cannot send."""
    if request.method != "GET" or request.body is not None:
        raise BenchforgeError(
            f"{name}: a {request.method} request: {name} sends GET without a body only",
            "use wrk, ab or h2load",
        )


def ended_well(name: str, output: Output) -> None:
    """Raise OutputDamaged with the tool's last words when it ended by a signal or an exit code."""
    if output.code < 0:
        raise OutputDamaged(f"{name}: ended by signal {-output.code}")
    if output.code:
        lines = (output.stderr.strip() or output.stdout.strip()).splitlines()
        raise OutputDamaged(f"{name}: {lines[-1].strip() if lines else f'exit code {output.code}'}")


@contextmanager
def parsing(source: str, hint: str | None = None) -> Iterator[None]:
    """Raise OutputDamaged for a ValueError of a parser.

    `source` is the tool or the file that it reads. The hint names what a tool printed, where no
    other one is given.
    """
    try:
        yield
    except ValueError as error:
        printed = f"see what {source} printed beside the trial"
        raise OutputDamaged(f"{source}: {error}", printed if hint is None else hint) from None


def lasted(name: str, seconds: float, duration: Duration) -> None:
    """Raise OutputDamaged when a tool that should end by the clock ended long before.

    Some tools that are interrupted print what they have, and say that all is well.
    """
    if seconds < _LASTED * duration:
        raise OutputDamaged(
            f"{name}: it was ended after {readable.amount('s', seconds)}, asked were "
            f"{readable.amount('s', duration)}"
        )
