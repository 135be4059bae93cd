"""The option --time of commands that measure for a given time."""

import re

from pydantic_core import PydanticCustomError

from benchforge.errors import Unusable
from benchforge.model.values.units import Duration


def duration(given: str) -> float:
    """Return a duration in seconds. Raises Unusable for what is none, and for zero."""
    try:
        seconds = float(Duration.parse(float(given) if plain(given) else given))
    except PydanticCustomError:
        seconds = 0.0
    if seconds <= 0:
        raise Unusable(f"--time {given}: not a duration", 'write it like "3m" or "90s"')
    return seconds


def plain(given: str) -> bool:
    """Return whether a text is a number without a unit."""
    return re.fullmatch(r"\d+(\.\d+)?", given, re.ASCII) is not None
