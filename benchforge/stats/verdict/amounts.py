"""Numbers of a verdict as a person reads them: with their unit, and no more digits than that."""

from collections.abc import Sequence

_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))
_SIZES = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
_UNIT_SIZES = {
    "s": _TIMES,
    "B": (*_SIZES, (1.0, "B")),
    "B/s": (*((size, f"{name}/s") for size, name in _SIZES), (1.0, "B/s")),
}
_PLAIN_BELOW = 1e15


def number(value: float) -> str:
    """Return a number with four significant digits, whole ones in full."""
    size = abs(value)
    if size >= _PLAIN_BELOW or 0 < size < 1e-4:  # noqa: PLR2004 - many zeros are not read
        return f"{value:.3e}"
    return f"{value:,.0f}" if size >= 1000 else f"{value:.4g}"  # noqa: PLR2004 - four digits


def amounts(unit: str, *values: float) -> list[str]:
    """Return values in one unit, the one that fits the largest; the last of them names it."""
    size, name = _scale(unit, values)
    texts = [number(value / size) for value in values]
    return [*texts[:-1], f"{texts[-1]} {name}".rstrip()]


def amount(unit: str, value: float) -> str:
    """Return one value with its unit."""
    return amounts(unit, value)[0]


def percent(share: float) -> str:
    """Return a share in percent."""
    return f"{number(100 * share)} %"


def _scale(unit: str, values: Sequence[float]) -> tuple[float, str]:
    largest = max((abs(value) for value in values), default=0.0)
    steps = _UNIT_SIZES.get(unit, ((1.0, "" if unit == "1" else unit),))
    return next((step for step in steps if largest >= step[0]), steps[-1])
