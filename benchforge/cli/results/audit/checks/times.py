"""Identities of the times of a row, and of the length of its load."""

import math

from benchforge.cli.results.audit.facts import (
    amount,
    number,
    percentiles,
    samples,
    shown,
    times_off,
    value,
)
from benchforge.cli.results.audit.finding import Evidences, Finding, check
from benchforge.parts.reader import Fact, Row
from benchforge.results.validity.identities import MORE, falling, mean_at_least, mean_at_most

_ALL = 100.0
_SEVERAL = 2
_CLOCKS_S = 1.0
"Clocks of a load differ, and the last response may come after its end."


@check("AP1", "impossible")
def order(row: Row) -> Evidences:
    """Percentiles rise, from the minimum to the maximum."""
    listed: dict[float, tuple[str, Fact]] = {
        percent: (f"p{percent:g}", fact) for percent, fact in percentiles(row).items()
    }
    if "min" in row.facts:
        listed[0.0] = ("the minimum", row.facts["min"])
    if "max" in row.facts:
        listed[_ALL] = ("the maximum", row.facts["max"])
    if len(listed) < _SEVERAL:
        return None
    bounds = {percent: (fact.low, fact.high) for percent, (_, fact) in listed.items()}
    findings = []
    for low, high in falling(bounds):
        (less, lower), (more, higher) = listed[high], listed[low]
        true_if = "the two are of different requests, or their names are exchanged"
        true_if += ", or 0 stands for unknown" * (lower.value == 0)
        numbers = f"{less} {shown(lower)} < {more} {shown(higher)}"
        findings.append(Finding(numbers, "", true_if, title=f"{less} is less than {more}"))
    return findings


@check("AM1", "impossible", "the mean is not one of these times")
def mean_between(row: Row) -> Evidences:
    """The mean is between the minimum and the maximum."""
    mean, least, most = (number(row, name) for name in ("mean", "min", "max"))
    if mean is None or (least is None and most is None):
        return None
    findings = []
    if least is not None and mean.high < least.low:
        findings.append(_mean(f"less than the minimum, {shown(least)}", mean, least.low))
    if most is not None and mean.low > most.high:
        findings.append(_mean(f"more than the maximum, {shown(most)}", mean, most.high))
    return findings


@check("AM2", "impossible", "the mean is not one of these times")
def mean_of_percentiles(row: Row) -> Evidences:
    """The mean is one that the percentiles allow."""
    mean, listed = number(row, "mean"), percentiles(row)
    if mean is None or not listed:
        return None
    lows = {percent: max(0.0, fact.low) for percent, fact in listed.items()}
    least_s = mean_at_least({**lows, 0.0: max(0.0, _low(row, "min"))}, samples(row))
    if mean.high * MORE < least_s:
        percentiles_ = ", ".join(f"p{percent:g} {shown(fact)}" for percent, fact in listed.items())
        needed = f"{amount(least_s, 's')}, which the percentiles need at least ({percentiles_})"
        return _mean(f"less than {needed}", mean, least_s)
    most = number(row, "max")
    if most is None:
        return []
    highs = {percent: fact.high for percent, fact in listed.items()}
    most_s = mean_at_most({**highs, _ALL: most.high}, samples(row))
    if mean.low <= most_s * MORE:
        return []
    allowed = f"more than {amount(most_s, 's')}, which the percentiles allow at most"
    return _mean(allowed, mean, most_s)


@check("AV1", "impossible", "the deviation is more than the extremes allow")
def deviation(row: Row) -> Evidences:
    """Times between the minimum and the maximum deviate by so much at most."""
    spread, mean, most = (number(row, name) for name in ("sd", "mean", "max"))
    if spread is None or mean is None or most is None:
        return None
    least_s = max(0.0, _low(row, "min"))
    # The bound is not monotone in the mean: it is largest halfway between the extremes.
    middle = min(max((least_s + most.high) / 2, mean.low), mean.high)
    means, count = (mean.low, middle, mean.high), samples(row)
    top_s = max(_deviation_at_most(least_s, entry, most.high, count) for entry in means)
    if spread.low <= top_s * MORE:
        return []
    allowed = f"mean {shown(mean)} and maximum {shown(most)} allow {amount(top_s, 's')} at most"
    return Finding(
        f"{allowed}, the row has {shown(spread)}",
        true_if="the mean, the maximum and the deviation are of different requests",
    )


def _deviation_at_most(least: float, mean: float, most: float, samples: float) -> float:
    """Return the largest standard deviation (Bhatia and Davis), also with n - 1."""
    variance = max(0.0, most - mean) * max(0.0, mean - least)
    return math.sqrt(variance * samples / (samples - 1) if samples > 1 else variance)


@check("AT1", "impossible", "a response took longer than the load")
def within_load(row: Row) -> Evidences:
    """No response takes longer than the load, and the wait for the last ones after it."""
    lasted, times = number(row, "duration"), _longest(row)
    if lasted is None or lasted.estimator == "asked" or times is None or not lasted.value:
        return None
    name, longest = times
    waited = f" and a wait of {shown(row.facts['wait'])}" if value(row, "wait") else ""
    if longest.low <= (lasted.high + value(row, "wait")) * MORE + _CLOCKS_S:
        return []
    return Finding(
        f"{name} {shown(longest)} > load of {shown(lasted)}{waited}",
        true_if=f"the load lasted {amount(longest.low, 's')} or more",
        factor=times_off(longest.low, lasted.high),
    )


def _longest(row: Row) -> tuple[str, Fact] | None:
    names = {f"p{percent:g}": fact for percent, fact in percentiles(row).items()}
    names |= {name: fact for name in ("mean", "max") if (fact := number(row, name)) is not None}
    return max(names.items(), key=lambda pair: pair[1].low, default=None)


def _mean(bound: str, mean: Fact, bound_s: float) -> Finding:
    true_if = "the mean and the others are of different requests"
    factor = times_off(float(mean.value), bound_s)
    return Finding(f"the mean, {shown(mean)}, is {bound}", true_if=true_if, factor=factor)


def _low(row: Row, name: str) -> float:
    fact = number(row, name)
    return fact.low if fact is not None and math.isfinite(fact.low) else 0.0
