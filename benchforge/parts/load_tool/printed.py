"""Reading what a tool printed: JSON by a strict model, text line by line, or not at all.

What raises ValueError here names the field or the line that is missing or wrong.
"""

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from benchforge.model.values.bounds import bounded

BAD = 400  # the lowest status of a response that is not good
# JSON knows numbers as doubles: whole ones are exact up to here.
Count = Annotated[int, Field(ge=0, le=2**53)]
Seconds = Annotated[float, Field(gt=0, le=1e9)]
Amount = Annotated[float, Field(ge=0, le=1e15)]


class ToolJson(BaseModel):
    """A part of a tool's JSON; what is not asked for may be there and is not looked at."""

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


def optional(text: str, name: str, start: str, pattern: str) -> re.Match[str] | None:
    """Return the same for a line that may be missing: None when no line starts so."""
    return line(text, name, pattern) if re.search(f"^{start}", text, re.MULTILINE) else None


def agree(name: str, count: float, seconds: float, rate: float, slack: float = 0.01) -> None:
    """Raise ValueError when a rate is not that of so many in so many seconds, rounding aside.

    Tools print rates with two decimals or more.
    """
    if abs(count - rate * seconds) > slack * max(count, 1) + 0.005 * seconds:
        raise ValueError(f"{name}: {rate} per second is not {count} in {seconds} s")


def growing(name: str, values: Iterable[float]) -> None:
    """Raise ValueError when percentiles fall."""
    if any(one > other for one, other in pairwise(values)):
        raise ValueError(f"{name}: the percentiles do not grow")
