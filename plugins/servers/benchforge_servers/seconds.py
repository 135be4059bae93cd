"""Durations for programs that take whole seconds only."""

from typing import Annotated

from pydantic import AfterValidator

from benchforge.plugin import Duration


def _whole(seconds: Duration) -> Duration:
    if not seconds.is_integer():
        raise ValueError("should be whole seconds: the server takes no fractions")
    return seconds


WholeSeconds = Annotated[Duration, AfterValidator(_whole)]
"A duration without parts of a second."
