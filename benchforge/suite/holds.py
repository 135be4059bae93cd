"""What a claim says to hold: `a > b`, `a >= 2 * b`, `a == b +- 3%`, `a - b < 2ms`, `a < 25ms`."""

import math
import re
from collections.abc import Mapping
from typing import Literal, NamedTuple, cast

from benchforge.model.claim import Question, Relation
from benchforge.suite.faults import nearest

FORMS = "a > b, a < b, a >= 2 * b, a == b +- 3%, a - b < 2ms, a < 25ms, a == 5 +- 10%"

_NUMBER = r"[+-]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_UNIT = r"[A-Za-zµ%/][A-Za-z0-9µ%/]*"
_HOLDS = re.compile(
    r"a(?P<less>\s*-\s*b)?\s*(?P<relation>>=|<=|==|>|<)\s*"
    rf"(?:(?:(?P<factor>{_NUMBER})\s*\*\s*)?(?P<b>b)|(?P<bound>{_NUMBER})\s*(?P<unit>{_UNIT})?)"
    rf"(?:\s*(?:\+-|±)\s*(?P<within>{_NUMBER})\s*(?P<of>{_UNIT})?)?"
)
_LONGEST = 200  # characters: nobody means more
_SHARE = "%"
_BYTES = {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30}
_UNITS: Mapping[str, Mapping[str, float]] = {
    "s": {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9, "min": 60.0},
    "B": _BYTES,
    "B/s": {f"{name}/s": size for name, size in _BYTES.items()},
    "requests/s": {"/s": 1.0, "k/s": 1e3, "M/s": 1e6, "requests/s": 1.0},
    "1": {_SHARE: 0.01},
}
"By the unit of a metric: what else it may be written in, and how many of its own that is."


class NoQuestion(Exception):
    """A text that asks nothing: message and hint."""


class Amount(NamedTuple):
    """A number as written, with its unit; empty for a bare number."""

    number: float
    unit: str


def question(text: str, unit: str) -> Question:
    """Return what is asked of a metric of this unit. Raises NoQuestion where it is nothing.

    Bounds are converted to the unit; a bare number is in it. A tolerance in % is a share of the
    bound.
    """
    found = _HOLDS.fullmatch(text.strip()) if len(text) <= _LONGEST else None
    if found is None:
        raise NoQuestion(f"{text[:_LONGEST]!r} asks nothing", _hint(text))
    relation = cast("Relation", found["relation"])
    form: Literal["ratio", "difference", "value"] = "difference" if found["less"] else "value"
    if found["b"]:
        if form == "difference":
            raise NoQuestion("a difference is compared with a number", f"write one of: {FORMS}")
        form, bound = "ratio", _number(found["factor"] or "1")
        if bound <= 0:
            raise NoQuestion(f"a factor is above 0, not {bound:g}", "write it like a >= 2 * b")
    else:
        bound = _amount(found["bound"], found["unit"], unit)
    tolerance = None
    if found["within"]:
        if relation != "==":
            raise NoQuestion(f"{relation} has no tolerance", "leave it out, or write ==")
        within = Amount(_number(found["within"]), found["of"] or "")
        tolerance = _tolerance(within, form, bound, unit)
    elif relation == "==":
        hint = f"say how near is near enough: {text.strip()} +- 3%"
        raise NoQuestion("no two measurements are equal", hint)
    return Question(
        text=text.strip(), form=form, relation=relation, bound=bound, tolerance=tolerance
    )


def _tolerance(within: Amount, form: str, bound: float, unit: str) -> float:
    if form == "ratio" and within.unit != _SHARE:
        raise NoQuestion("the tolerance of a ratio is a share of it", "write it like +- 3%")
    if within.unit == _SHARE:
        share = within.number / 100
        tolerance = share if form == "ratio" else share * abs(bound)
        if share > 0 and not tolerance:
            raise NoQuestion("no share of 0 is a tolerance", f"give it in {_named(unit)}")
    else:
        tolerance = _converted(within, unit)
    if not 0 < tolerance < math.inf:
        raise NoQuestion(f"a tolerance is above 0, not {within.number:g}", "write it like +- 3%")
    return tolerance


def _amount(number: str, name: str | None, unit: str) -> float:
    converted = _converted(Amount(_number(number), name or ""), unit)
    if not math.isfinite(converted):
        raise NoQuestion(f"{number} is beyond all numbers", "write a smaller one")
    return converted


def _converted(amount: Amount, unit: str) -> float:
    known = {"": 1.0, unit: 1.0, **_UNITS.get(unit, {})}
    if amount.unit not in known:
        names = [name for name in known if name not in {"", "1"}]
        message = f"the metric is in {_named(unit)}, not in {amount.unit!r}"
        raise NoQuestion(message, nearest(amount.unit, names, "it takes a bare number or"))
    return amount.number * known[amount.unit]


def _number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise NoQuestion(f"{text} is beyond all numbers", "write a smaller one")
    return number


def _named(unit: str) -> str:
    return "bare numbers" if unit == "1" else unit


def _hint(text: str) -> str:
    if re.match(r"\s*a\s*(=[^=]|!=|=$)", text):
        return "what is equal is so within something: write a == b +- 3%"
    if re.match(r"\s*b\b", text):
        return f"begin with a: write one of: {FORMS}"
    return f"write one of: {FORMS}"
