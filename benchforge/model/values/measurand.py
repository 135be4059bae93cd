"""What a metric measures: rules ask for it, since anybody may call a metric anything."""

import re
from typing import Literal

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


def percentile(of: str | None) -> float | None:
    """Return the percentile that a part's name says, such as 99 of p99; None for any other."""
    match = _NAME.fullmatch(of or "")
    return float(match[1]) if match else None


def titled(metric: str, of: str | None) -> str:
    """Return a metric's label and its part, without a unit, and without repetition."""
    return metric if of in {None, "", metric} else f"{metric} {of}"
