"""Reading what a tool printed: JSON by a strict model, text line by line, or not at all.

What raises ValueError here names the field or the line that is missing or wrong.
"""

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from benchforge.errors import BenchforgeError, OutputDamaged
from benchforge.model.trial.answers.answer import Request
from benchforge.model.trial.reading import Reading, span
from benchforge.model.values.bounds import bounded
from benchforge.model.values.units import Duration
from benchforge.parts.command import Command, Need
from benchforge.parts.part import Loader
from benchforge.parts.site import Output, Site
from benchforge.text import readable

BAD = 400
"Lowest status of a response that is not good."
Count = Annotated[int, Field(ge=0, le=2**53)]
"Type of a whole number. JSON knows numbers as doubles, which are exact up to its limit."
Seconds = Annotated[float, Field(gt=0, le=1e9)]
"Type of a length in seconds, more than 0."
Amount = Annotated[float, Field(ge=0, le=1e15)]
"Type of a number that is not negative."

_LASTED = 0.9  # of the time that was asked for, at least: tools round, and begin late


class ToolJson(BaseModel):
    """A part of a tool's JSON; other fields may be there, and are ignored."""

    model_config = ConfigDict(
        strict=True, frozen=True, extra="ignore", allow_inf_nan=False, defer_build=True
    )

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read a document. Raises ValueError that says which field is wrong."""
        try:
            return cls.model_validate_json(bounded(text))
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False)[0]
            where = ".".join(str(step) for step in first["loc"])
            message = first["msg"].removeprefix("Value error, ")
            raise ValueError(f"{where or 'JSON'}: {message}") from None


def line(text: str, name: str, pattern: str) -> re.Match[str]:
    """Return the match of the one line that the pattern fits. Raises ValueError with its name."""
    matches = list(re.finditer(f"^{pattern}$", text, re.MULTILINE))
    if len(matches) != 1:
        raise ValueError(f"{'no' if not matches else 'more than one'} line {name!r}")
    return matches[0]


def numbers(text: str, forms: str) -> list[list[Any]]:
    """Return the numbers of each line of `forms`: of the one line that has a number for each #.

    A number with a point is a float, another an int. Raises ValueError without such a line.
    """
    rows = []
    for form in forms.splitlines():
        pattern = re.escape(form).replace(r"\#", r"(\d{1,15}(?:\.\d{1,9})?)")
        words = line(text, form.partition("#")[0].strip(), pattern).groups()
        rows.append([float(word) if "." in word else int(word) for word in words])
    return rows


def optional(text: str, name: str, start: str, pattern: str) -> re.Match[str] | None:
    """Return the same for a line that may be missing: None when no line starts so."""
    return line(text, name, pattern) if re.search(f"^{start}", text, re.MULTILINE) else None


def require(sound: object, message: str) -> None:
    """Raise ValueError with the message when what was printed is not sound."""
    if not sound:
        raise ValueError(message)


def agree(name: str, count: float, seconds: float, rate: float, slack: float = 0.01) -> None:
    """Raise ValueError when a rate is not `count` divided by `seconds`, rounding aside."""
    if abs(count - rate * seconds) > slack * max(count, 1) + 0.005 * seconds:
        raise ValueError(f"{name}: {rate} per second is not {count} in {seconds} s")


def growing(name: str, values: Iterable[float]) -> None:
    """Raise ValueError when percentiles fall."""
    if any(value > other for value, other in pairwise(values)):
        raise ValueError(f"{name}: the percentiles do not grow")


def counted(
    seconds: float, statuses: dict[str, int], lost: Mapping[str, int], **measured: Any
) -> Reading:
    """Return the reading of a tool that counts each response by its status.

    `seconds` is the length of the load, `lost` has the requests without a complete response by
    the class of their error, and `measured` the other fields. Statuses from 400 on are not good.
    """
    responses = sum(statuses.values())
    bad = sum(count for status, count in statuses.items() if span(status)[0] >= BAD)
    return Reading(
        seconds=seconds,
        responses=responses,
        good_at_least=responses - bad,
        good_at_most=responses - bad,
        statuses=statuses,
        errors={"status": bad, **lost},
        unanswered=sum(lost.values()),
        **measured,
    )


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
        message = f"{name}: a {request.method} request: {name} sends GET without a body only"
        raise BenchforgeError(message, "use wrk, ab or h2load")


def ended_well(name: str, output: Output) -> None:
    """Raise OutputDamaged with the tool's last words when it ended by a signal or an exit code."""
    if output.code < 0:
        raise OutputDamaged(f"{name}: ended by signal {-output.code}")
    if output.code:
        lines = (output.stderr.strip() or output.stdout.strip()).splitlines()
        last = lines[-1].strip().removeprefix(f"{name}: ") if lines else f"exit code {output.code}"
        raise OutputDamaged(f"{name}: {last}")


@contextmanager
def parsing(source: str, hint: str | None = None) -> Iterator[None]:
    """Raise OutputDamaged for a parser's ValueError; `source` is the tool or the file."""
    try:
        yield
    except ValueError as error:
        printed = f"see what {source} printed beside the trial"
        raise OutputDamaged(f"{source}: {error}", printed if hint is None else hint) from None


def lasted(name: str, seconds: float, duration: Duration) -> None:
    """Raise OutputDamaged when a tool ended long before its time, though it reports success."""
    if seconds < _LASTED * duration:
        spent, wanted = (readable.amount("s", length) for length in (seconds, duration))
        raise OutputDamaged(f"{name}: it was ended after {spent}, asked were {wanted}")
