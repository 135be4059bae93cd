"""Quantities as a person writes them: "30s", "64KiB", "20k/s"."""

import re
import sys
from typing import Any, ClassVar, Literal, Self

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

_NUMBER = r"(?P<number>[0-9]+(?:\.[0-9]+)?)"

Measurand = Literal[
    "",
    "responses per second",
    "response time",
    "failed requests",
    "share of failed requests",
    "CPU time per response",
]
RATE: Measurand = "responses per second"
FAILURES: tuple[Measurand, ...] = ("failed requests", "share of failed requests")
_NAME = re.compile(r"p(100|[0-9]{1,2}(?:\.[0-9]+)?)")


class Quantity(float):
    """A number of one unit, given as a plain number or as text with a unit; never negative."""

    units: ClassVar[dict[str, float]]
    wanted: ClassVar[str]
    most: ClassVar[float] = sys.float_info.max
    told_most: ClassVar[str] = "a number that can be counted with"

    @classmethod
    def parse(cls, value: object) -> Self:
        """Read a number or a text such as "30s". Raises PydanticCustomError with what is wanted."""
        if isinstance(value, int | float) and not isinstance(value, bool):
            number: float = value
        elif isinstance(value, str) and (match := re.fullmatch(cls._pattern(), value.strip())):
            number = float(match["number"]) * cls.units[match["unit"]]
        else:
            raise cls._refused(cls.wanted)
        if number > cls.most:
            raise cls._refused(cls.told_most)
        if not number >= 0:  # what is no number is not, either
            raise cls._refused(cls.wanted)
        return cls(number)

    @classmethod
    def typed(cls, text: str) -> Self | None:
        """Read a word of the command line, which may be a plain number; None where it is wrong."""
        plain = text.isascii() and text.replace(".", "", 1).isdigit()
        try:
            return cls.parse(float(text) if plain else text)
        except PydanticCustomError:
            return None

    @classmethod
    def _refused(cls, wanted: str) -> PydanticCustomError:
        return PydanticCustomError("quantity", "should be {wanted}", {"wanted": wanted})

    @classmethod
    def _pattern(cls) -> str:
        names = "|".join(sorted(map(re.escape, cls.units), key=len, reverse=True))
        return rf"{_NUMBER}\s*(?P<unit>{names})"

    @property
    def written(self) -> str:
        """Text as a suite would write it, with the unit of 1."""
        return f"{self}{next(unit for unit, factor in self.units.items() if factor == 1)}"

    def __str__(self) -> str:
        return format(float(self), "g") if not self.is_integer() else str(int(self))

    def __format__(self, spec: str) -> str:
        return format(float(self), spec) if spec else str(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            cls.parse,
            serialization=core_schema.plain_serializer_function_ser_schema(
                lambda value: int(value) if value.is_integer() else float(value), when_used="always"
            ),
        )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        names = cls._pattern().replace("?P<number>", "").replace("?P<unit>", "")
        # One schema for both types: editors then tell what is wrong with a text.
        most = {} if cls.most == sys.float_info.max else {"maximum": cls.most}
        return {
            "type": ["number", "string"],
            "minimum": 0,
            **most,
            "pattern": rf"^\s*{names}\s*$",
            "title": cls.wanted,
        }


class Duration(Quantity):
    """A duration in seconds."""

    units: ClassVar[dict[str, float]] = {
        "us": 1e-6,
        "µs": 1e-6,
        "ms": 1e-3,
        "s": 1.0,
        "m": 60.0,
        "min": 60.0,
        "h": 3600.0,
    }
    wanted: ClassVar[str] = 'a duration such as "30s", "500ms" or a number of seconds'
    most: ClassVar[float] = 366 * 86400.0
    told_most: ClassVar[str] = "a year at most"


class Share(Quantity):
    """A share between 0 and 1."""

    units: ClassVar[dict[str, float]] = {"%": 0.01}
    wanted: ClassVar[str] = 'a share between 0 and 1, such as "3%" or 0.03'

    @classmethod
    def parse(cls, value: object) -> Self:
        """Read a text such as "3%", or a number between 0 and 1."""
        share = super().parse(value)
        if not 0 < share < 1:
            raise cls._refused(cls.wanted)
        return share

    @property
    def written(self) -> str:
        """Text as a suite would write it, in percent."""
        return f"{100 * float(self):g}%"


class Size(Quantity):
    """A size in bytes."""

    units: ClassVar[dict[str, float]] = {
        "B": 1.0,
        "kB": 1e3,
        "MB": 1e6,
        "GB": 1e9,
        "KiB": 1024.0,
        "MiB": 1024.0**2,
        "GiB": 1024.0**3,
    }
    wanted: ClassVar[str] = 'a size such as "64KiB", "10MB" or a number of bytes'


class Rate(Quantity):
    """A rate in events per second."""

    units: ClassVar[dict[str, float]] = {
        "/s": 1.0,
        "k": 1e3,
        "k/s": 1e3,
        "M": 1e6,
        "M/s": 1e6,
        "/min": 1 / 60,
    }
    wanted: ClassVar[str] = 'a rate such as "500/s", "20k/s" or a number per second'


def percentile(part: str | None) -> float | None:
    """Return the percentile that a part's name says, such as 99 of p99; None for any other."""
    match = _NAME.fullmatch(part or "")
    return float(match[1]) if match else None


def titled(metric: str, part: str | None) -> str:
    """Return a metric's label and its part, without a unit, and without repetition."""
    return metric if part in {None, "", metric} else f"{metric} {part}"
