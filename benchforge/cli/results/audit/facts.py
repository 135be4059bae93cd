"""Facts of a row for checks: intervals, words, rates and numbers that follow, slips of units."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from benchforge.parts.reader import Fact, Row
from benchforge.text import readable

CORRECTED = "wrk 4 adds samples"
"Prefix of the estimator of wrk's latencies."
SAMPLED = "of samples, each of a time"
"Prefix of the estimator of the latencies of an older wrk."
_FEW, _FEWEST = 100.0, 2.0
_MOST_AT_ONCE = 64.0
"Requests of which a tool may keep one time, where it sends several at once on a connection."
TIMES = ("mean", "min", "max", "sd", "wait", "duration", "duration_asked", "wall")
CHECKED_FACTS = {
    *(*TIMES, "name", "loop", "protocol", "connections", "pipeline", "users", "threads"),
    *("rate", "requests", "samples", "good_rate", "success", "iterations", "iteration_rate"),
    *("iteration_mean", "bytes", "byte_rate", "body", "link", "cpu", "cores", "connects", "closer"),
    *("failed", "left_out", "lost", "timeouts", "good_errors", "dropped", "status_total"),
    *("checks_failed", "checks_passed", "per_second", "sum", "total"),
}
"Facts that checks use, beside percentiles such as p99."
ASKED_SHARE, ASKED_S = 0.02, 0.3
"By how much more than its duration a load lasts that was set to it."


class FactsInUse(dict[str, Fact]):
    """Facts of a row, which note those that a check looks for and the row lacks."""

    __slots__ = ("lacks",)

    def __init__(self, facts: Mapping[str, Fact]) -> None:
        super().__init__(facts)
        self.lacks: tuple[str, ...] = ()  # an empty set for each row takes memory

    def __contains__(self, name: object) -> bool:
        return self.get(str(name)) is not None

    def get(self, name: str, otherwise: Any = None) -> Any:
        """Return a fact, or `otherwise`."""
        if (fact := super().get(name)) is None:
            self.lacks += (name,)
            return otherwise
        return fact

    def taken(self) -> Collection[str]:
        """Return the names that a check looked for in vain since the last call."""
        lacks, self.lacks = self.lacks, ()
        return set(lacks)


@dataclass(frozen=True)
class Interval:
    """The values that a quantity may have, given how its facts were rounded."""

    low: float
    high: float

    def __mul__(self, other: "Interval") -> "Interval":
        return Interval(self.low * other.low, self.high * other.high)

    def __truediv__(self, other: "Interval") -> "Interval":
        return Interval(self.low / other.high, self.high / other.low)


def number(row: Row, name: str) -> Fact | None:
    """Return a fact with a number; None where the row has none."""
    fact = row.facts.get(name)
    return fact if fact is not None and not isinstance(fact.value, str) else None


def value(row: Row, name: str, otherwise: float = 0.0) -> float:
    """Return the number of a fact, or `otherwise`."""
    fact = number(row, name)
    return otherwise if fact is None else float(fact.value)


def interval(row: Row, name: str) -> Interval | None:
    """Return the values that a positive fact may have; None where it is missing or zero."""
    fact = number(row, name)
    if fact is None or float(fact.value) <= 0:
        return None
    return Interval(max(fact.low, 0.0) or float(fact.value) * 1e-9, fact.high)


def rate(row: Row) -> Interval | None:
    """Return the requests per second: as printed, or requests / duration."""
    printed = interval(row, "rate")
    if printed is not None:
        return printed
    requests, duration = interval(row, "requests"), interval(row, "duration")
    if duration is None and (setting := interval(row, "duration_asked")) is not None:
        duration = Interval(setting.low, setting.high * (1 + ASKED_SHARE) + ASKED_S)
    return None if requests is None or duration is None else requests / duration


def requests(row: Row) -> float:
    """Return the number of requests: as printed, or rate x duration."""
    lasted = value(row, "duration") or value(row, "duration_asked")
    return value(row, "requests") or value(row, "rate") * lasted


def on_rate(row: Row) -> str:
    """Return how a number of requests is known that the row lacks."""
    if "requests" in row.facts:
        return ""
    return "; ".join(("the requests are rate x duration", *on_set_duration(row)))


def on_set_duration(row: Row) -> list[str]:
    """Return the assumption that a load lasted as long as it was set to, where it rests on that."""
    if "duration" in row.facts or "duration_asked" not in row.facts:
        return []
    return [f"the load lasted {shown(row.facts['duration_asked'])}, to which it was set"]


def samples(row: Row) -> float:
    """Return how many times a mean is of, at least: with fewer, checks allow more."""
    stated = number(row, "samples")
    if stated is not None:
        return max(_FEWEST, float(stated.value))
    requests = value(row, "requests")
    if not requests:
        return _FEW
    each = value(row, "pipeline") or _MOST_AT_ONCE
    return max(_FEWEST, requests / each - value(row, "timeouts"))


def nominal_rate(row: Row) -> float:
    """Return the rate as it is printed, or requests / duration: for a person, not for a check."""
    lasted = value(row, "duration") or value(row, "duration_asked")
    return value(row, "rate") or (value(row, "requests") / lasted if lasted else 0.0)


def on_duration(row: Row) -> list[str]:
    """Return the assumption on which a rate rests that no source states."""
    return [] if "rate" in row.facts else on_set_duration(row)


def word(row: Row, name: str) -> str:
    """Return the text of a fact; empty where the row has none."""
    fact = row.facts.get(name)
    return fact.value if fact is not None and isinstance(fact.value, str) else ""


def percentiles(row: Row) -> dict[float, Fact]:
    """Return the percentiles by percent, the lowest first."""
    listed = {float(name[1:]): row.facts[name] for name in row.facts if is_percentile(name)}
    if not listed:
        row.facts.get("percentiles")  # so that it is noted that the row has none
    return dict(sorted(listed.items()))


def is_percentile(name: str) -> bool:
    """Return True for the name of a percentile."""
    return name[:1] == "p" and name[1:].replace(".", "", 1).isdecimal()


def shown(fact: Fact) -> str:
    """Return a fact for a person, in the scale of its size."""
    return fact.value if isinstance(fact.value, str) else amount(float(fact.value), fact.unit)


def amount(number_: float, unit: str) -> str:
    """Return a number with its unit."""
    if unit in {"s", "B", "B/s"}:
        return readable.amount(unit, number_)
    return readable.figure(number_, 6) + {"1/s": "/s", "cores": " cores"}.get(unit, "")


def times_off(number_: float, right: float) -> float:
    """Return by how many times a number is off, in either direction, up to a million."""
    less, more = sorted((max(0.0, number_), max(0.0, right)))
    return min(1e6, more / less) if less else 1e6


_BUSY_SHARE = (0.5, 1.1)
"Shares of use of connections that are common in closed loops."
_UNITS = {
    1e3: ("ms, not s, or us, not ms", "s, not ms, or ms, not us"),
    1e6: ("us, not s, or ns, not ms", "s, not us, or ms, not ns"),
    1e9: ("ns, not s", "s, not ns"),
}
_NEAR_SLIP = 0.02
_BINARY = (1.024, 1.024**2, 1.024**3)
_BYTES = {
    8.0: "the rate were of bits, not of bytes",
    1 / 8: "the rate were of units of eight bytes",
    **dict.fromkeys(_BINARY, "units of 1,000 bytes were read as units of 1,024"),
    **{1 / unit: "units of 1,024 bytes were read as units of 1,000" for unit in _BINARY},
}


def time_slip(share: float) -> str:
    """Return the unit slip in times that explains a factor, in words; empty if none does."""
    for factor, (smaller, larger) in _UNITS.items():
        if _BUSY_SHARE[0] <= share / factor <= _BUSY_SHARE[1]:
            return f"the times were {factor:,.0f} times shorter ({smaller})"
        if _BUSY_SHARE[0] <= share * factor <= _BUSY_SHARE[1]:
            return f"the times were {factor:,.0f} times longer ({larger})"
    return ""


def byte_slip(ratio: float) -> str:
    """Return the slip in a byte rate that explains a factor, in words; empty if none does."""
    near = (words for factor, words in _BYTES.items() if abs(ratio / factor - 1) < _NEAR_SLIP)
    return next(near, "")
