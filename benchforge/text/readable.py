"""Numbers, sizes, durations, shares and lists of names as people read them.

Decimals throughout: no value overflows, and a larger value never reads as a smaller one. Digits
that a value does not have are not shown: 1.5 stays 1.5, and 1.4996 reads 1.50.
"""

from collections.abc import Iterable, Sequence
from decimal import Context, Decimal
from typing import Final, NamedTuple

# Steps of each unit that takes prefixes, largest first, as (name, size).
_STEPS: Final = {
    "s": (("s", "1"), ("ms", "1e-3"), ("µs", "1e-6"), ("ns", "1e-9")),
    "s/response": (
        *(("s/response", "1"), ("ms/response", "1e-3"), ("µs/response", "1e-6")),
        ("ns/response", "1e-9"),
    ),
    "B": (("TB", "1e12"), ("GB", "1e9"), ("MB", "1e6"), ("kB", "1e3"), ("B", "1")),
    "B/s": (("GB/s", "1e9"), ("MB/s", "1e6"), ("kB/s", "1e3"), ("B/s", "1")),
}
# Multiples of these units.
_SAME: Final = {
    "seconds": ("s", "1"),
    "ms": ("s", "1e-3"),
    "us": ("s", "1e-6"),
    "µs": ("s", "1e-6"),
    "ns": ("s", "1e-9"),
    "bytes": ("B", "1"),
    "bytes/s": ("B/s", "1"),
}
_DIGITS: Final = 3
IN_REACH: Final = 100
"Multiple of the measured blocks beyond which advice is useless."
_PLAIN_COUNT: Final = 1000
_PLAIN_BELOW: Final = Decimal(10) ** 12
_PLAIN_FROM: Final = Decimal("1e-4")
_TWICE: Final = 2.0  # from there on a difference is a factor, and below it a share


class Scale(NamedTuple):
    """The unit of a column, and the divisor of its values."""

    unit: str
    size: Decimal = Decimal(1)
    exact: bool = False
    "True if all values are whole numbers, such as counts: then no digit is lost."

    def text(self, value: float) -> str:
        """Return a value as text, without its unit. Raises ValueError for NaN and infinity."""
        number = _decimal(value)
        if not number.is_finite():
            raise ValueError(f"{value} is no value that was measured")
        if self.exact and abs(number) < _PLAIN_BELOW:
            return exact(round(number))
        return _written(number / self.size, _DIGITS)


def scale(unit: str, values: Iterable[float]) -> Scale:
    """Choose one scale for all values of a column: the middle one reads as 1 to 999."""
    values = tuple(values)
    if _SAME.get(unit, (unit,))[0] not in _STEPS:
        return Scale(unit, exact=all(float(value).is_integer() for value in values))
    sizes = sorted(abs(value) for value in values if value)
    return _scale(unit, sizes[len(sizes) // 2] if sizes else 0)


def amounts(unit: str, *values: float) -> list[str]:
    """Return values in one unit, the one that fits the largest; the last of them names it."""
    fitting = _scale(unit, max(map(abs, values), default=0))
    texts = [_written(_decimal(value) / fitting.size, _DIGITS) for value in values]
    return [*texts[:-1], f"{texts[-1]} {'' if unit == '1' else fitting.unit}".rstrip()]


def amount(unit: str, value: float) -> str:
    """Return one value with its unit: 524 kB, 1.5 s, 1,234 requests/s."""
    return amounts(unit, value)[0]


def compared(unit: str, value: float) -> str:
    """Return one value with its unit and six digits: a limit that it is held to may be near."""
    fitting = _scale(unit, abs(value))
    text = exact(float(_decimal(value) / fitting.size))
    return text if unit == "1" else f"{text} {fitting.unit}"


def figure(value: float, digits: int = _DIGITS) -> str:
    """Return a number with three significant digits, and with four from 1,000 on."""
    return _written(_decimal(value), digits)


def times(ratio: float) -> str:
    """Return a ratio with four significant digits: near 1, the last ones matter."""
    return figure(ratio, 4)


def exact(value: float | None) -> str:
    """Return a number that is compared or was declared: a whole one in full, else six digits."""
    number = _decimal(value or 0)
    digits = max(6, min(number.adjusted() + 1, 18))
    return "unknown" if value is None else _written(number.normalize(Context(digits)), digits)


def counted(number: int, noun: str) -> str:
    """Return a number of things: 1 trial, 2 trials."""
    return f"{exact(number)} {noun}{'' if number == 1 else 's'}"


def blocks_that_tell(needed: int, measured: int) -> str:
    """Return how many blocks would answer a question, or that no number in reach would.

    Such an estimate has two digits at most: it rests on the scatter of few blocks.
    """
    if needed > IN_REACH * max(measured, 1):
        return "too near the limit for more blocks to tell"
    about = float(f"{needed:.2g}") if needed >= _PLAIN_COUNT else needed
    return f"about {exact(about)} blocks would tell"


def too_many(number: int, most: int, things: str) -> str:
    """Return that something has more things than benchforge reads."""
    return f"has {exact(number)} {things}, and at most {exact(most)} are read"


def percent(share: float) -> str:
    """Return a share: 0.03121 is 3.12 %. A share below 1 never reads 100 %."""
    number = 100 * _decimal(share)
    gap = 100 - abs(number)
    return f"{_written(number, max(_DIGITS, 2 - gap.adjusted()) if gap > 0 else _DIGITS)} %"


def change(share: float) -> str:
    """Return a share by which something is more or less: +3.12 %, -5 %."""
    return f"{'+' if share >= 0 else ''}{percent(share)}"


def apart(ratio: float) -> str:
    """Return how far apart two values of a ratio above 1 are: 12 %, and 2.4× from 2 on."""
    return f"{figure(100 * (ratio - 1), 2)} %" if ratio < _TWICE else f"{figure(ratio, 2)}×"


def spoken(seconds: float) -> str:
    """Return a duration: 500 ms, 45 s, 2 min 30 s, 1 h 5 min."""
    if 0 < seconds < 1:
        return amount("s", seconds)
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{exact(hours)} h {minutes} min" if minutes else f"{exact(hours)} h"
    if minutes:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    return f"{rest} s"


def listed(names: Iterable[str], most: int = 12) -> str:
    """Return names: a, b, c; of many, the first and how many more there are."""
    names = tuple(names)
    rest = len(names) - most
    return ", ".join(names[:most]) + (f", and {exact(rest)} more" if rest > 0 else "") or "none"


def conjoined(names: Iterable[str], word: str = "and") -> str:
    """Return names as a sentence has them: a, b and c."""
    *first, last = names
    return f"{', '.join(first)} {word} {last}" if first else last


def cut(text: str, most: int) -> str:
    """Return a text, or its first `most` characters and ... where it has more."""
    return text if len(text) <= most else f"{text[:most]}..."


def fitted(blocks: Iterable[tuple[int, Sequence[str]]], most: int) -> list[str]:
    """Return the lines of blocks, without the most dispensable ones if they are more than `most`.

    A block has a rank: 0 always stays, and the highest rank goes first.
    """
    chosen = [*blocks]
    while sum(len(lines) for _, lines in chosen) > most and any(rank for rank, _ in chosen):
        chosen.remove(max(chosen, key=lambda block: block[0]))
    lines = [line for _, lines in chosen for line in lines]
    return [line for line, then in zip(lines, [*lines[1:], ""], strict=False) if line or then]


def _scale(unit: str, largest: float) -> Scale:
    """Return the step that a value reads best in: it is 1 to 999 there, also once rounded."""
    base, factor = _SAME.get(unit, (unit, "1"))
    steps = [Scale(name, Decimal(size) / Decimal(factor)) for name, size in _STEPS.get(base, ())]
    value = _decimal(largest)
    three = Context(prec=_DIGITS)
    fitting = (step for step in steps if three.divide(value, step.size) >= 1)
    return next(fitting, steps[-1] if steps and value else Scale(unit))


def _decimal(value: float) -> Decimal:
    """Return a number with the digits that it has; those after the fifteenth are noise."""
    if isinstance(value, int):
        return Decimal(value)
    return Decimal(repr(float(value))).normalize(Context(15))


def _written(number: Decimal, digits: int) -> str:
    if not number or not number.is_finite():
        return "0" if number.is_zero() else str(number).lower()
    size = abs(number)
    precision = digits if size < 1000 else max(digits, 4)  # noqa: PLR2004 - 1,234, not 1,230
    rounded = Context(precision).plus(number.normalize())
    plain = size >= _PLAIN_FROM and (size < _PLAIN_BELOW or size.adjusted() < digits)
    return f"{rounded:,f}" if plain else f"{rounded:e}"
