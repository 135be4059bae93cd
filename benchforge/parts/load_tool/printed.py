"""Reading what a tool printed: JSON by a strict model, text line by line, or not at all.

What raises ValueError here names the field or the line that is missing or wrong.
"""

import re
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from benchforge.model.trial.reading import Reading, span
from benchforge.model.values.bounds import bounded

BAD = 400
"Lowest status of a response that is not good."
Count = Annotated[int, Field(ge=0, le=2**53)]
"Type of a whole number. JSON knows numbers as doubles, which are exact up to its limit."
Seconds = Annotated[float, Field(gt=0, le=1e9)]
"Type of a length in seconds, more than 0."
Amount = Annotated[float, Field(ge=0, le=1e15)]
"Type of a number that is not negative."


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
    """Raise ValueError when a rate is not `count` divided by `seconds`, rounding aside.

    Tools print rates with two decimals or more.
    """
    if abs(count - rate * seconds) > slack * max(count, 1) + 0.005 * seconds:
        raise ValueError(f"{name}: {rate} per second is not {count} in {seconds} s")


def growing(name: str, values: Iterable[float]) -> None:
    """Raise ValueError when percentiles fall."""
    if any(one > other for one, other in pairwise(values)):
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
