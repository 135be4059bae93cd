"""What of a load counts: whether the servers settled, and how much was cut from its start."""

from typing import Literal

from pydantic import NonNegativeFloat, NonNegativeInt

from benchforge.model.values.frozen import Frozen
from benchforge.text.readable import exact

Classification = Literal["flat", "warm-up", "late", "step", "trend", "unknown"]


class Window(Frozen):
    """The part of each load that counts: all of it, or what comes after a warm-up."""

    cut_s: NonNegativeFloat = 0.0
    "Seconds from the load's start that do not count; 0 where all of it counts."
    why: str = ""
    "Why so many, or why none."

    @property
    def whole(self) -> str:
        """What to say of a number that is of the whole load; empty where nothing is cut."""
        return f"of the whole load, its first {exact(self.cut_s)} s too" if self.cut_s else ""


WHOLE = Window()
"All of each load."


class SteadyState(Frozen):
    """Whether a case reached a steady state, by the mean of its trials over time."""

    classification: Classification
    """flat: from the start; warm-up: after a part that is cut; late: not in the first half; step
    and trend: what is kept changes its level; unknown: nobody can tell."""
    warm_up_s: NonNegativeFloat | None = None
    "Its warm-up, in seconds; None where it is not known, or the case has no steady state."
    change: float | None = None
    """By what share of its level a step or a trend moves it, or the warm-up lies beside it; None
    where there is none of these."""
    bin_s: NonNegativeFloat | None = None
    "Seconds of each bin of the course."
    bins: NonNegativeInt = 0
    "How many there are."
    trials: NonNegativeInt = 0
    "How many trials the course is the mean of."
    message: str
    "One sentence, with figures."

    @property
    def felt(self) -> float:
        """By what share of the level its warm-up moves the mean of the whole load."""
        if not self.warm_up_s or not self.bin_s or self.change is None:
            return 0.0
        return abs(self.change) * self.warm_up_s / (self.bin_s * self.bins)

    @property
    def steady(self) -> bool | None:
        """Whether it settled; None where it is not known."""
        if self.classification == "unknown":
            return None
        return self.classification in {"flat", "warm-up"}
