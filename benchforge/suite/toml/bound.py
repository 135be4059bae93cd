"""A number with a unit, as claims and objectives write their bounds, in the unit of a metric."""

import math
import re
from collections.abc import Mapping

from benchforge.errors import BenchforgeError
from benchforge.model.values.units import Duration, Rate, Share, Size
from benchforge.suite.toml.faults import nearest
from benchforge.text.readable import exact

NUMBER = r"[+-]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
UNIT = r"[A-Za-zµ%/][A-Za-z0-9µ%/]*"
_WRITTEN = re.compile(rf"(?P<number>{NUMBER})\s*(?P<unit>{UNIT})?")
_RATE = "/s"
_UNITS: Mapping[str, Mapping[str, float]] = {
    "s": {**Duration.units, "ns": 1e-9},
    "B": Size.units,
    "B/s": {f"{name}/s": size for name, size in Size.units.items()},
    "1": Share.units,
}
"By the unit of a metric: what else it may be written in, and how many of its own that is."

_EXAMPLES = {"s": "50ms", "B": "64MiB", "B/s": "3MB/s", "1": "0.1%"}


class NoBound(BenchforgeError):
    """A text that is no number of a metric's unit, no condition or no objective."""


def bound(text: str, unit: str) -> float:
    """Return a bound such as 50ms in a metric's unit. Raises NoBound.

    Bare are only shares and rates: 50 of a time means milliseconds more often than seconds.
    """
    match = _WRITTEN.fullmatch(text.strip())
    bare = unit == "1" or (unit not in _UNITS and unit.endswith(_RATE))
    if match is None or (not match["unit"] and not bare):
        unit_name = "a share of 1" if unit == "1" else unit
        example = _EXAMPLES.get(unit, "900/s" if unit.endswith(_RATE) else f"5 {unit}")
        raise NoBound(f"it is in {unit_name}, not {text!r}", f"write it like {example}")
    return in_unit(number(match["number"]), match["unit"] or "", unit)


def number(text: str) -> float:
    """Return a finite number. Raises NoBound for one that is beyond all."""
    parsed = float(text)
    if not math.isfinite(parsed):
        raise NoBound(f"{text} is beyond all numbers", "write a smaller one")
    return parsed


def in_unit(number: float, name: str, unit: str) -> float:
    """Return a number in a metric's unit. Raises NoBound for a unit of something else."""
    others = _UNITS.get(unit, Rate.units if unit.endswith(_RATE) else {})
    factors = {"": 1.0, unit: 1.0, **others}
    if name not in factors:
        names = [unit_name for unit_name in factors if unit_name not in {"", "1"}]
        message = f"the metric is in {named(unit)}, not in {name!r}"
        raise NoBound(message, nearest(name, names, "it takes a bare number or"))
    converted = number * factors[name]
    if not math.isfinite(converted):
        raise NoBound(f"{exact(number)} {name} is beyond all numbers", "write a smaller one")
    return converted


def named(unit: str) -> str:
    """Return a metric's unit for a sentence."""
    return "bare numbers" if unit == "1" else unit
