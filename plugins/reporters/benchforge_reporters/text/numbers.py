"""A value and its unit as people read them: three or four significant digits, one prefix a column.

Decimals throughout: no value overflows, and a larger value never reads as a smaller one.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

# Of each unit that takes prefixes: the steps, largest first, as (name, size).
_STEPS: Final = {
    "s": (("s", "1"), ("ms", "1e-3"), ("µs", "1e-6"), ("ns", "1e-9")),
    "B": (("GB", "1e9"), ("MB", "1e6"), ("kB", "1e3"), ("B", "1")),
    "B/s": (("GB/s", "1e9"), ("MB/s", "1e6"), ("kB/s", "1e3"), ("B/s", "1")),
}
# What is a multiple of a unit above.
_SAME: Final = {
    "seconds": ("s", "1"),
    "ms": ("s", "1e-3"),
    "us": ("s", "1e-6"),
    "µs": ("s", "1e-6"),
    "ns": ("s", "1e-9"),
    "bytes": ("B", "1"),
    "bytes/s": ("B/s", "1"),
}
_THREE_DIGITS_BELOW: Final = 1000
_PLAIN_BELOW: Final = Decimal(10) ** 12
_PLAIN_FROM: Final = Decimal("1e-4")


@dataclass(frozen=True)
class Scale:
    """In what a column is given: its unit, and by what a value is divided."""

    unit: str
    size: Decimal = Decimal(1)
    exact: bool = False
    "True if all values are whole numbers, such as counts: then no digit is lost."

    def text(self, value: float) -> str:
        """Return a value as text, without its unit. Raises ValueError for NaN and infinity."""
        number = Decimal(value)
        if not number.is_finite():
            raise ValueError(f"{value} is no value that was measured")
        if self.exact and abs(number) < _PLAIN_BELOW:
            return f"{number:,.0f}"
        return _text(number / self.size)


def scale(unit: str, values: Iterable[float]) -> Scale:
    """Choose one scale for all values of a column: the middle one reads as 1 to 999."""
    base, factor = _SAME.get(unit, (unit, "1"))
    values = tuple(values)
    if base not in _STEPS:
        return Scale(unit, exact=all(float(value).is_integer() for value in values))
    sizes = sorted(abs(Decimal(value)) * Decimal(factor) for value in values if value)
    middle = sizes[len(sizes) // 2] if sizes else Decimal(1)
    steps = [(name, Decimal(size)) for name, size in _STEPS[base]]
    name, size = next((step for step in steps if middle >= step[1]), steps[-1])
    return Scale(name, size / Decimal(factor))


def _text(number: Decimal) -> str:
    size = abs(number)
    if not number:
        return "0"
    if size >= _PLAIN_BELOW or size < _PLAIN_FROM:
        return f"{number:.2e}"
    digits = 3 if size < _THREE_DIGITS_BELOW else 4
    step = Decimal(1).scaleb(size.adjusted() - digits + 1)
    # Never finer than the step: 1.23, 12.3, 123, 1,234, 12,340.
    rounded = number.quantize(step) if step <= 1 else (number / step).quantize(Decimal(1)) * step
    return f"{rounded:,f}"
