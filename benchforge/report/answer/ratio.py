"""Ratios of two servers in words and on an axis, the same in each form of a result."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Self

from benchforge.model.summary.ranking import Ranking
from benchforge.model.summary.verdict import Estimate

LIMIT: Final = 0.05
"A difference below it is too small to matter to most readers: a share."
USEFUL: Final = 1.5
"Of an interval, at most: the upper end by the lower. A wider one says little, and is not shown."
_TOPS: Final = (1.25, 1.5, 2.0, 4.0, 10.0, 100.0)
_DECIMALS: Final = (1, 2, 3)
_LARGE: Final = 20.0  # from there on a ratio has no decimals
_NEAR: Final = 0.25  # of the interval: rounding moves no number by more


def pair_ratio(ranking: Ranking, first: str, second: str) -> Estimate:
    """Return the interval with all other pairs, or that of the pair where only it excludes 1."""
    pair = ranking.pair(first, second)
    ends = pair.simultaneous.interval
    return pair.simultaneous if ends is not None and not ends[0] <= 1 <= ends[1] else pair.ratio


def useful(ratio: Estimate | None) -> bool:
    """Whether an interval is narrow enough to say something."""
    ends = None if ratio is None else ratio.interval
    return ends is not None and ends[0] > 0 and ends[1] / ends[0] <= USEFUL**2


def ratio_texts(values: Iterable[float]) -> list[str]:
    """Return a ratio and the ends of its interval: the fewest decimals that tell them from 1."""
    ratios = [*values]
    most = _NEAR * (max(ratios) - min(ratios)) if len(ratios) > 1 else math.inf
    texts = [f"{ratio:,.0f}" for ratio in ratios]
    for decimals in _DECIMALS if min(ratios) < _LARGE else ():
        texts = [f"{ratio:.{decimals}f}" for ratio in ratios]
        pairs = [*zip(map(float, texts), ratios, strict=True)]
        near = all(abs(text - ratio) <= most for text, ratio in pairs)
        sides = all((text > 1, text < 1) == (ratio > 1, ratio < 1) for text, ratio in pairs)
        if near and sides:
            break
    return texts


def interval_text(ratio: Estimate) -> tuple[str, str]:
    """Return a ratio and its interval: 1.50×, and 1.49× to 1.51×; empty where there is none."""
    if ratio.value is None:
        return "unknown", ""
    value, *ends = (f"{text}×" for text in ratio_texts(numbers(ratio)))
    return value, " to ".join(ends)


def numbers(ratio: Estimate | None) -> tuple[float, ...]:
    """Return a ratio and the ends of its interval, as far as they are known."""
    if ratio is None or ratio.value is None:
        return ()
    return ratio.value, *(ratio.interval or ())


@dataclass(frozen=True)
class RatioAxis:
    """A logarithmic axis with 1 in its middle; more is on the right."""

    top: float
    "Ratio at its right end; at its left end is 1 / top."
    limit: float = LIMIT
    "Share above 1 within which a difference is too small to matter; below 1 as far."

    @classmethod
    def holding(cls, ratios: Iterable[float], limit: float = LIMIT) -> Self:
        """Return the smallest of some axes with round ends that has all ratios."""
        most = max((max(ratio, 1 / ratio) for ratio in ratios if ratio > 0), default=1.0)
        return cls(next((top for top in _TOPS if most <= top), _TOPS[-1]), limit)

    def share(self, ratio: float) -> float:
        """Return where a ratio is: 0 is the left end, 1 the right one; of one beyond, the end."""
        if ratio <= 0:
            return 0.0
        return min(1.0, max(0.0, (math.log(ratio) / math.log(self.top) + 1) / 2))

    def line(self, ratio: Sequence[float], width: int) -> str:
        """Return the axis as characters: limits, 1, interval, ratio. A ratio may have no ends."""

        def column(value: float) -> int:
            return round(self.share(value) * (width - 1))

        cells = [*"─" * width]
        near, far = column(1 / (1 + self.limit)), column(1 + self.limit)
        cells[near : far + 1] = "▒" * (far + 1 - near)
        if ratio[1:]:
            middle, low, high, even = map(column, (*ratio, 1.0))
            # Both ends are beside the ratio, however narrow the interval, but never at or beyond 1.
            if ratio[1] < ratio[0] and middle not in {even, even + 1}:
                low = max(0, min(low, middle - 1))
            if ratio[2] > ratio[0] and middle not in {even, even - 1}:
                high = min(width - 1, max(high, middle + 1))
            cells[low : high + 1] = "━" * (high + 1 - low)
            cells[low], cells[high] = "├", "┤"
        cells[column(1.0)] = "┃"
        if ratio:
            cells[column(ratio[0])] = "●"
        return "".join(cells)
