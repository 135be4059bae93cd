"""Contradictions that rules find, and the rounding of printed numbers."""

from collections.abc import Iterable, Iterator
from decimal import Decimal

from benchforge.model.values.places import JsonPath

Contradiction = tuple[str, JsonPath]
"One sentence, and the path of the value that it is about."

BRIEF_S = 0.05
"What two clocks may differ by in a short load, and how coarse CPU time is."


def beneath(path: JsonPath, messages: Iterable[Contradiction]) -> Iterator[Contradiction]:
    """Yield what was said of a part as said of the whole, in which the part stands at a path."""
    for message, inner in messages:
        yield message, (*path, *inner)


def lowest(number: float) -> float:
    """Return the smallest number that is written like this one when it is rounded."""
    return number - _half_a_digit(number)


def highest(number: float) -> float:
    """Return the largest number that is written like this one when it is rounded."""
    return number + _half_a_digit(number)


def longest_s(seconds: float) -> float:
    """Return the longest time that is written like this: tools tell at least 0.01 s."""
    return seconds + min(0.005, _half_a_digit(seconds))


def _half_a_digit(number: float) -> float:
    """Half a unit of the last digit that is not 0: tools round, and do not say to what."""
    exponent = Decimal(repr(number)).normalize().as_tuple().exponent
    return 0.5 * 10.0**exponent if number and isinstance(exponent, int) else 0.0
