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
    """Blocks are added until intervals are narrow enough; significance is never looked at."""

    width: float = Field(gt=0, lt=1)
    "How far each interval of 95 % may reach from its ratio, to a side and on the log scale."
    least: PositiveInt = LEAST_BLOCKS
    "Blocks that are measured in any case."
    most: PositiveInt = MOST_BLOCKS
    "Blocks after which it ends, however wide the intervals are."

    @property
    def in_words(self) -> str:
        """The width for a person: 3 %."""
        return percent(self.width)

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if not LEAST_BLOCKS <= self.least <= self.most:
            msg = f"{self.least} to {self.most} blocks: not {LEAST_BLOCKS} or more in order"
            raise ValueError(msg)
        return self
