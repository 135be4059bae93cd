"""An axis: where a value is, in per cent of a drawing's width, and which round values mark it."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Self

_ROUND = (1, 2, 5, 10)
_LOG_MARKS = (1, 2, 5)
_MOST_DECADES = 6
"Of a logarithmic axis: with more of them, only powers of ten are marked."


@dataclass(frozen=True)
class ChartAxis:
    """From the lowest to the highest value. Decimals: the distance of two floats may be none."""

    low: Decimal
    high: Decimal
    logarithmic: bool = False
    room: tuple[float, float] = (0.0, 4.0)
    "Per cent of the width that stay free on the left and on the right."

    @classmethod
    def from_zero(cls, values: Iterable[float]) -> Self:
        """Return an axis that has zero and all values."""
        numbers = [Decimal(value) for value in values]
        return cls(min([Decimal(0), *numbers]), max([Decimal(0), *numbers]))

    @classmethod
    def of_ratios(cls, values: Iterable[float]) -> Self:
        """Return a logarithmic axis that has 1 and all positive values."""
        numbers = [Decimal(value) for value in values if value > 0]
        low, high = min([Decimal("0.8"), *numbers]), max([Decimal("1.25"), *numbers])
        return cls(low * Decimal("0.95"), high * Decimal("1.05"), True, (1.0, 4.0))

    def at(self, value: float | Decimal) -> float:
        """Return the position of a value in per cent; of one beyond the axis, its end."""
        before, behind = self.room
        return round(before + (100 - before - behind) * min(1.0, max(0.0, self._share(value))), 2)

    def _share(self, value: float | Decimal) -> float:
        number = Decimal(value)
        if self.logarithmic:
            if number <= 0:
                return 0.0
            return float((number / self.low).ln() / (self.high / self.low).ln())
        return float((number - self.low) / ((self.high - self.low) or Decimal(1)))

    def ticks(self, most: int = 4) -> list[Decimal]:
        """Return round values: 1, 2 or 5 times a power of ten apart, or such values themselves."""
        return list(self._decades() if self.logarithmic else self._steps(most))

    def _steps(self, most: int) -> Iterator[Decimal]:
        length = (self.high - self.low) or Decimal(1)
        power = Decimal(1).scaleb((length / most).adjusted())
        step = next(power * by for by in _ROUND if power * by * most >= length)
        number = (self.low / step).to_integral_value(rounding="ROUND_CEILING")
        while number * step <= self.high:
            yield number * step
            number += 1

    def _decades(self) -> Iterator[Decimal]:
        first, last = self.low.adjusted(), self.high.adjusted()
        marks = _LOG_MARKS if last - first < _MOST_DECADES else _LOG_MARKS[:1]
        apart = max(1, math.ceil((last - first) / _MOST_DECADES))
        for power in range(first, last + 1, apart):
            for by in marks:
                if self.low <= (tick := Decimal(by).scaleb(power)) <= self.high:
                    yield tick
