"""Rules that end a run, and turns of servers."""

from typing import Literal, Self

from pydantic import Field, PositiveFloat, PositiveInt, model_validator

from benchforge.model.values.case_name import CaseName, comparison
from benchforge.model.values.frozen import Frozen
from benchforge.text.readable import percent

LEAST_BLOCKS, DECIDED_AFTER = 4, 3
"Blocks at the first look at widths, and at claims."
MOST_BLOCKS = 30

SHORTEST_S, LONGEST_S = 0.02, 1.0
"Bounds of a slice, in seconds. In a longer one the noise changes, and nothing is gained."
LONGEST_FREEZE_S = 1.0
"""Longest time in which a server stands still, in seconds: half of the shortest time after which a
common server closes an idle connection (gunicorn, 2 s)."""


class Until(Frozen):
    """Rule that adds blocks until intervals are narrow enough, or until the claims are decided."""

    width: float = Field(gt=0, lt=1)
    "Target half-width of each interval of a ratio, on the log scale."
    least: PositiveInt = LEAST_BLOCKS
    "Minimum number of blocks: that of the first look."
    most: PositiveInt = MOST_BLOCKS
    "Maximum number of blocks, however wide the intervals are."
    method: Literal["width", "decision"] | None = None
    """Question of the run: an estimate to a width, or a decision on claims, whose intervals hold at
    all looks together. None in older results, which looked at both."""
    level: float = Field(default=0.95, gt=0, lt=1)
    "Level of intervals, whatever ends the run; with `decision` that of all claims together."
    t_error: float | None = None
    """Error of Student's t: of each interval of a width; of each claim's interval times the number
    of believed blocks at the look. None in older results."""

    @property
    def in_words(self) -> str:
        """Width in words: 3 %."""
        return percent(self.width)

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if not DECIDED_AFTER <= self.least <= self.most:
            msg = f"{self.least} to {self.most} blocks: not {DECIDED_AFTER} or more in order"
            raise ValueError(msg)
        return self


class TurnsPlanned(Frozen):
    """Turns of the cases of a scenario."""

    slice_s: PositiveFloat
    "Length of a slice. A trial doubles it where a slice would have too few requests."
    each_s: PositiveFloat
    "Length of the load of each server in a block, over all of its slices."

    among: Literal["servers", "clients", "cases"] = "servers"
    """Parts that take turns: the servers under one load tool, the clients of one server, or all
    cases of the scenario."""

    def group(self, case: CaseName) -> str:
        """Return a key of the cases that take turns with one another."""
        return case.scenario if self.among == "cases" else comparison(case, self.among)


def longest_freeze_s(servers: int, slice_s: float) -> float:
    """Return the seconds between a server's slices, first in a round and last in the next."""
    return 2 * (servers - 1) * slice_s
