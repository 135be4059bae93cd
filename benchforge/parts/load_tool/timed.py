"""What load tools that run for whole seconds have in common: options, words and last words."""

import math
from abc import ABC
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Self

from pydantic import AfterValidator

from benchforge.errors import BenchforgeError, OutputDamaged
from benchforge.model.trial.answers.answer import Request
from benchforge.model.trial.trial import Load
from benchforge.model.values.units import Duration
from benchforge.parts.part import Loader
from benchforge.parts.site import Output
from benchforge.text import readable

_LASTED = 0.9  # of the time that was asked for, at least: tools round, and begin late


def _whole(value: Duration) -> Duration:
    if value < 1 or not value.is_integer():
        raise ValueError(f"should be whole seconds, one at least, not {value}s")
    return value


WholeSeconds = Annotated[Duration, AfterValidator(_whole)]


class Timed(Loader, ABC):
    """A load tool that is told how long to load."""

    duration: WholeSeconds = Duration(10)
    "Length of the load in whole seconds."

    def declared_s(self) -> float:
        """Return the duration, in seconds."""
        return float(self.duration)

    def load(self) -> Load:
        """Return what it is told to do: over HTTP/1.1, unless a tool says otherwise."""
        return super().load().model_copy(update={"protocol": "HTTP/1.1"})

    def for_warm_up(self, seconds: float) -> Self:
        """Return the same load for so many seconds, rounded up to whole ones."""
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
