"""As many blocks as it takes: what is waited for, and between how many blocks."""

from typing import Self

from pydantic import Field, PositiveInt, model_validator

from benchforge.model.values.frozen import Frozen
from benchforge.text.readable import percent

LEAST_BLOCKS = 8
"""Before the first look: who looks at widths earlier gets intervals of 95 % that hold the truth in
90 to 93 % of cases."""
MOST_BLOCKS = 30


class Until(Frozen):
    """Rule that adds blocks until the intervals are narrow enough. It ignores significance."""

    width: float = Field(gt=0, lt=1)
    "Target half-width of each 95 % interval of a ratio, on the log scale."
    least: PositiveInt = LEAST_BLOCKS
    "Minimum number of blocks."
    most: PositiveInt = MOST_BLOCKS
    "Maximum number of blocks, however wide the intervals are."

    @property
    def in_words(self) -> str:
        """Width in words: 3 %."""
        return percent(self.width)

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if not LEAST_BLOCKS <= self.least <= self.most:
            msg = f"{self.least} to {self.most} blocks: not {LEAST_BLOCKS} or more in order"
            raise ValueError(msg)
        return self
