"""Facts that the auditor knows and the result does not state."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError

from benchforge.errors import Unusable
from benchforge.model.values.units import Duration
from benchforge.parts.reader import Fact

_BITS = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
ORIGIN = "by the auditor"


def number(name: str) -> Callable[[str], Fact]:
    """Return what turns the text of an option into a fact. It raises Unusable for no number."""

    def fact(text: str) -> Fact:
        if not re.fullmatch(r"\d{1,12}(\.\d{1,6})?", text) or not float(text):
            raise Unusable(f"--{name} {text}: not a number above 0", f"write it like --{name} 64")
        unit = {"body": "B", "cores": "cores"}.get(name, "1")
        return Fact(float(text), unit, origin=ORIGIN)

    return fact


def duration(text: str) -> Fact:
    """Return a duration as a fact. Raises Unusable for what is none."""
    try:
        seconds = float(TypeAdapter(Duration).validate_python(text))
    except ValidationError:
        seconds = 0.0
    if seconds <= 0:
        raise Unusable(f"--duration {text}: not a duration", "write it like --duration 15s")
    return Fact(seconds, "s", 0.0, "asked", ORIGIN)


def link(text: str) -> Fact:
    """Return the speed of a link as a fact in bytes per second. Raises Unusable for no speed."""
    match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,6})?)\s*([kKMGT]?)bit/s", text)
    if not match or not float(match[1]):
        raise Unusable(f"--link {text}: not a speed", "write it like --link 10Gbit/s")
    return Fact(float(match[1]) * _BITS[match[2]] / 8, "B/s", origin=ORIGIN)


def column(text: str) -> tuple[str, str]:
    """Return fact and column of FACT=TITLE. Raises Unusable where there is no `=`."""
    fact, equals, title = text.partition("=")
    if not equals or not fact or not title:
        raise Unusable(f"--column {text}: not FACT=TITLE", "write it like --column mean=avg_ms:ms")
    return fact, title


_FACTS: Mapping[str, Callable[[str], Fact]] = {
    **{name: number(name) for name in ("connections", "pipeline", "cores", "body")},
    "duration": duration,
    "link": link,
}


def facts(options: Mapping[str, Any]) -> dict[str, Fact]:
    """Return the facts that options state, by the name of the fact."""
    return {
        name: fact(text) for name, fact in _FACTS.items() if (text := options[name]) is not None
    }
