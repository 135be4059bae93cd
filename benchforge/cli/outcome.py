"""What becomes of a result: how it is printed, and what is written of it."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Shown:
    """What the command line asks for."""

    as_json: bool
    reports: Sequence[str]
    "Reporters beside those that every run uses."
