"""One statistic of a line, with what is to be said of it."""

from dataclasses import dataclass
from typing import Literal

from benchforge.plugin import MetricSummary, Statistic

CENTRES = ("median", "mean", "average")
"The statistics beside which a spread can stand."


@dataclass(frozen=True)
class Figure:
    """A value, in the line's unit; None where it is not known, and then `why` says why."""

    value: float | None
    at_least: bool = False
    why: str = ""


Centre = Statistic | Literal["typical"]


def figure(line: MetricSummary, statistic: Centre) -> Figure:
    """Return a statistic of a line. Raises ValueError for `range` and `runs`, which are none."""
    if line.median is None:
        return Figure(None, why=line.why)
    bounds = [one.sample.value for one in line.samples if one.sample.lower_bound]
    exact = [one.sample.value for one in line.samples if not one.sample.lower_bound]
    match statistic:
        case "typical" | "median":
            typical = Figure(line.level, line.at_least)
            return typical if statistic == "typical" else Figure(line.median, line.lower_bound)
        case "mean" | "average":
            return Figure(line.mean, bool(bounds))
        case "sd":
            why = "a value is only a lower bound" if bounds else "one trial has no deviation"
            return Figure(line.sd, why="" if line.sd is not None else why)
        case "min":
            return Figure(line.lowest, line.lowest not in exact)
        case "max":
            return Figure(line.highest, bool(bounds))
        case _:
            raise ValueError(f"{statistic} is no statistic of one number")
