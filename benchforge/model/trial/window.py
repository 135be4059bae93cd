"""What of a load counts: whether the servers settled, and how much was cut from its start."""

from typing import Literal

from pydantic import NonNegativeFloat, NonNegativeInt

from benchforge.model.values.frozen import Frozen
from benchforge.text.readable import exact

Classification = Literal["flat", "warm-up", "late", "step", "trend", "unknown"]


class Window(Frozen):
    """The part of each load that counts: all of it, or the part after a warm-up."""

    cut_s: NonNegativeFloat = 0.0
    "Time from the load's start that does not count; 0 if the whole load counts."
    why: str = ""
    "Reason for the length of the cut, or for no cut."

    @property
    def whole(self) -> str:
        """Note for a number that covers the whole load; empty if nothing is cut."""
        return f"of the whole load, its first {exact(self.cut_s)} s too" if self.cut_s else ""


WHOLE = Window()
"All of each load."


class SteadyState(Frozen):
    """Steady state of a case, by the mean of its trials over time."""

    classification: Classification
    """Course of the throughput. flat: constant from the start; warm-up: constant after a cut; late:
    not constant after half of the load; step, trend: changes of the level; unknown."""
    warm_up_s: NonNegativeFloat | None = None
    "Length of the warm-up; None if unknown, or without a steady state."
    change: float | None = None
    "Relative size of a step, of a trend, or of the warm-up's distance from the level."
    bin_s: NonNegativeFloat | None = None
    "Length of each bin of the course."
    bins: NonNegativeInt = 0
    "Number of bins."
    trials: NonNegativeInt = 0
    "Number of trials whose mean is the course."
    message: str
    "Course in one sentence, with figures."

    @property
    def felt(self) -> float:
        """Share of the level by which the warm-up moves the mean of the whole load."""
        if not self.warm_up_s or not self.bin_s or self.change is None:
            return 0.0
        return abs(self.change) * self.warm_up_s / (self.bin_s * self.bins)

    @property
    def steady(self) -> bool | None:
        """True for a steady state; None if unknown."""
        if self.classification == "unknown":
            return None
        return self.classification in {"flat", "warm-up"}
