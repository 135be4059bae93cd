"""What a claim says to hold: `a > b`, `a >= 2 * b`, `a == b +- 3%`, `a - b < 2ms`, `a < 25ms`."""

import math
import re
from typing import Literal, NamedTuple, cast

from benchforge.model.suite.claim import Hypothesis, Relation
from benchforge.suite.toml.bound import NUMBER, UNIT, NoBound, in_unit, named, number
from benchforge.text.readable import exact

FORMS = "a > b, a < b, a >= 2 * b, a == b +- 3%, a - b < 2ms, a < 25ms, a == 5 +- 10%"

_HOLDS = re.compile(
    r"a(?P<less>\s*-\s*b)?\s*(?P<relation>>=|<=|==|>|<)\s*"
    rf"(?:(?:(?P<factor>{NUMBER})\s*\*\s*)?(?P<b>b)|(?P<bound>{NUMBER})\s*(?P<unit>{UNIT})?)"
    rf"(?:\s*(?:\+-|±)\s*(?P<within>{NUMBER})\s*(?P<of>{UNIT})?)?"
)
_LONGEST = 200  # characters: nobody means more
_SHARE = "%"


class Amount(NamedTuple):
    """A number as written, with its unit; empty for a bare number."""

    number: float
    unit: str


def question(text: str, unit: str) -> Hypothesis:
    """Return what is asked of a metric of this unit. Raises NoBound where it is nothing.

    Bounds are converted to the unit; a bare number is in it. A tolerance in % is a share of the
    bound.
    """
    match = _HOLDS.fullmatch(text.strip()) if len(text) <= _LONGEST else None
    if match is None:
        raise NoBound(f"{text[:_LONGEST]!r} is not a condition", _hint(text))
    relation = cast("Relation", match["relation"])
    form: Literal["ratio", "difference", "value"] = "difference" if match["less"] else "value"
    if match["b"]:
        if form == "difference":
            raise NoBound("a difference is compared with a number", f"write one of: {FORMS}")
        form, bound = "ratio", number(match["factor"] or "1")
        if bound <= 0:
            raise NoBound(f"a factor is above 0, not {exact(bound)}", "write it like a >= 2 * b")
    else:
        bound = in_unit(number(match["bound"]), match["unit"] or "", unit)
    tolerance = None
    if match["within"]:
        if relation != "==":
            raise NoBound(f"{relation} has no tolerance", "leave it out, or write ==")
        within = Amount(number(match["within"]), match["of"] or "")
        tolerance = _tolerance(within, form, bound, unit)
    elif relation == "==":
        hint = f"give a tolerance: {text.strip()} +- 3%"
        raise NoBound("two measurements are never exactly equal", hint)
    return Hypothesis(
        text=text.strip(), form=form, relation=relation, bound=bound, tolerance=tolerance
    )


def _tolerance(within: Amount, form: str, bound: float, unit: str) -> float:
    if form == "ratio" and within.unit != _SHARE:
        raise NoBound("the tolerance of a ratio is a share of it", "write it like +- 3%")
    if within.unit == _SHARE:
        share = within.number / 100
        tolerance = share if form == "ratio" else share * abs(bound)
        if share > 0 and not tolerance:
            raise NoBound("no share of 0 is a tolerance", f"give it in {named(unit)}")
    else:
        tolerance = in_unit(within.number, within.unit, unit)
    if not 0 < tolerance < math.inf:
        raise NoBound(f"a tolerance is above 0, not {exact(within.number)}", "write it like +- 3%")
    return tolerance


def _hint(text: str) -> str:
    if re.match(r"\s*a\s*(=[^=]|!=|=$)", text):
        return "an equality needs a tolerance: write a == b +- 3%"
    if re.match(r"\s*b\b", text):
        return f"`a` comes first: write one of: {FORMS}"
    return f"write one of: {FORMS}"
