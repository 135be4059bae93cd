"""Little's law of a row: rate x mean time is the requests under way; units by it, of all rows."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from benchforge.cli.results.audit.facts import (
    CORRECTED,
    SAMPLED,
    Interval,
    amount,
    interval,
    nominal_rate,
    number,
    on_duration,
    percentiles,
    rate,
    samples,
    shown,
    time_slip,
    times_off,
    value,
    word,
)
from benchforge.cli.results.audit.finding import Evidences, Finding, Severity, check
from benchforge.parts.reader import Fact, Row
from benchforge.results.validity.identities import mean_at_least
from benchforge.text import readable

_SLACK = 1.10
"Rates over a window without its ramp, and requests that began before it."
_CORRECTED_SLACK, _TAIL_SLACK, _ITERATIONS_SLACK = 1.05, 1.02, 1.05
_IDLE = 0.5
_MADE_UP = 1.5
_PERCENT = 100.0


@check("AL1", "impossible", "more requests were under way than the connections hold")
def under_way(row: Row) -> Evidences:
    """No more requests are under way than the connections hold."""
    mean, rates, room = _least_mean(row), _timed_rate(row), _room(row)
    if mean is None or mean.estimator.startswith(SAMPLED):
        return None
    if rates is None or room is None or word(row, "loop") == "open":
        return None
    connections, each, stated = room
    most_s = _allowed_mean(row, connections * each / rates.low, each, mean.estimator)
    if most_s is None:
        return None
    if mean.low <= most_s:
        return []
    most = amount(most_s, "s")
    busy = nominal_rate(row) * mean.nominal
    numbers = f"{_rate(row)} x {mean.shown} = {readable.figure(busy)} requests under way; "
    numbers += f"{_connections(connections)} hold {readable.exact(connections * each)}"
    if mean.estimator:
        numbers += f" (the mean may be {most} at most, since {mean.estimator})"
    needs = readable.figure(busy / connections)
    true_if = f"each connection had {needs} requests under way, or the mean were {most}"
    assumed = _rests(row, stated, mean.estimator)
    fact = row.facts["connections"]
    by_auditor = [f"{shown(fact)} connections, {fact.origin}"] * fact.origin.startswith("by the")
    rests = "; ".join((*by_auditor, *assumed))
    if "rate" in row.facts and row.facts["rate"].estimator:
        share = readable.percent(1 - most_s / mean.low)
        true_if += f", or {share} of the requests failed at once"
    if slip := time_slip(busy / (connections * each)):
        true_if += f", or {slip}"
    severity: Severity = "unsupported" if assumed else "impossible"
    factor = times_off(mean.low, most_s)
    return Finding(numbers, rests, true_if, severity=severity, factor=factor)


@dataclass(frozen=True)
class _Mean:
    """The least mean of the response times, and how it is shown."""

    low: float
    nominal: float
    shown: str
    estimator: str


def _least_mean(row: Row) -> _Mean | None:
    mean = number(row, "mean")
    if mean is not None and interval(row, "mean") is not None:
        return _Mean(mean.low, float(mean.value), shown(mean), mean.estimator)
    if mean is not None or not (listed := percentiles(row)):
        return None
    lows = {percent: max(0.0, fact.low) for percent, fact in listed.items()}
    low = mean_at_least(lows, samples(row))
    percent, first = next(iter(listed.items()))
    text = f"{amount(low, 's')} (at least, by p{percent:g} {shown(first)} and the others)"
    return _Mean(low, low, text, first.estimator) if low > 0 else None


@check("AL5", "unsupported", "the mean is longer than requests can have taken on average")
def made_up(row: Row) -> Evidences:
    """Wrk's mean is that of its requests, unless it added samples to them."""
    mean, rates, room = interval(row, "mean"), rate(row), _room(row)
    if mean is None or rates is None or room is None:
        return None
    if not row.facts["mean"].estimator.startswith(CORRECTED):
        return None
    connections, each, stated = room
    if mean.low <= connections * each / rates.low * _MADE_UP or under_way(row):
        return []
    plain = amount(connections * each / nominal_rate(row), "s")
    held = f" x {readable.exact(each)} requests" if each > 1 else ""
    rests = [] if stated else [_alone(row)]
    needs = readable.figure(nominal_rate(row) * value(row, "mean") / connections)
    most = f"{_connections(connections)}{held} / {_rate(row)} = {plain} at most"
    true_if = f"it includes samples that are not requests ({row.facts['mean'].estimator})"
    return Finding(
        f"{most}; the row has {shown(row.facts['mean'])}",
        "; ".join([*rests, *on_duration(row)]),
        true_if + ("" if stated else f", or each connection had {needs} requests under way"),
        factor=nominal_rate(row) * value(row, "mean") / (connections * each),
    )


def _busy_share(row: Row) -> float | None:
    """Return the share of a closed loop's connections that were busy; None where it is unknown."""
    return _use(row) if _always_busy(row) else None


def _use(row: Row) -> float | None:
    """Return the requests under way as a share of those that connections hold, if it is known."""
    mean, rates, room = interval(row, "mean"), rate(row), _room(row)
    if mean is None or rates is None or room is None or SAMPLED in row.facts["mean"].estimator:
        return None
    return (rates * mean).high / (room[0] * room[1])


@check("AL2", "unsupported", "most connections had no request under way, in a closed loop")
def idle(row: Row) -> Evidences:
    """Connections of a closed loop are busy, unless something is not stated."""
    mean, rates, room = interval(row, "mean"), rate(row), _room(row)
    if mean is None or rates is None or room is None or _busy_share(row) is None:
        return None
    connections = room[0]
    if (rates * mean).high >= _IDLE * connections:
        return []
    busy = nominal_rate(row) * value(row, "mean")
    share = readable.percent(1 - busy / connections)
    lasted = value(row, "duration_asked") * busy / connections
    slip = f", or {words}" if (words := time_slip(busy / connections)) else ""
    shorter = f"the load lasted {amount(lasted, 's')} or less, or " if on_duration(row) else ""
    rests = "each connection sends its next request at once", "no request was lost"
    return Finding(
        f"{_rate(row)} x {shown(row.facts['mean'])} = {readable.figure(busy)} requests under way, "
        f"on {_connections(connections)}: {share} of them had none",
        "; ".join((*rests, *on_duration(row))),
        f"{shorter}the load tool waited between requests, or opened a connection for each, or "
        f"{share} of the connections got no answer{slip}",
        factor=times_off(busy, connections),
    )


@check("AL3", "unsupported")
def tail(row: Row) -> Evidences:
    """Without a mean, connections / rate is the mean, and percentiles must allow it."""
    rates, room, listed = rate(row), _room(row), percentiles(row)
    if number(row, "mean") is not None or rates is None or room is None or not listed:
        return None
    if not _always_busy(row) or "max" in row.facts:
        return None
    connections, each, _ = room
    mean_s = connections * each / rates.high
    percent, last = max(listed.items())
    if mean_s <= last.high * _TAIL_SLACK:
        return []
    share = 1 - percent / _PERCENT
    tail_s = (mean_s - _below(listed)) / share
    lasted = value(row, "duration") or value(row, "duration_asked")
    longer = f", longer than the load of {amount(lasted, 's')}" if 0 < lasted < tail_s else ""
    unused = readable.percent(1 - last.high * rates.high / (connections * each))
    slowest = f"the slowest {readable.percent(share)}"
    field = f", or the field holds {last.estimator}" * bool(last.estimator)
    return Finding(
        f"{_connections(connections)} / {_rate(row)} = {amount(mean_s, 's')} on average, but "
        f"p{percent:g} is {shown(last)}: {slowest} must average {amount(tail_s, 's')}{longer}",
        "; ".join(["each connection was in use all the time", *on_duration(row)]),
        f"{unused} of the connections were idle{field}",
        title=f"{slowest} of the requests must have been very slow",
    )


@check("AL4", "impossible", "more iterations were under way than there were users")
def iterations(row: Row) -> Evidences:
    """A user of k6 has one iteration at a time."""
    rates, mean = interval(row, "iteration_rate"), interval(row, "iteration_mean")
    users = value(row, "users")
    if rates is None or mean is None or not users:
        return None
    busy = (rates * mean).low
    if busy <= users * _ITERATIONS_SLACK:
        return []
    return Finding(
        f"{readable.exact(value(row, 'iteration_rate'))} iterations/s x "
        f"{amount(value(row, 'iteration_mean'), 's')} = {readable.figure(busy)} under way; "
        f"{readable.exact(users)} users at most",
        true_if=f"{readable.exact(busy)} users ran",
    )


def _room(row: Row) -> tuple[float, float, bool] | None:
    """Return the connections, the requests on each at once, and whether the latter is stated."""
    connections = value(row, "connections")
    if not connections:
        return None
    each = value(row, "pipeline")
    return connections, each or 1.0, bool(each)


def _timed_rate(row: Row) -> Interval | None:
    """Return the rate of the requests whose times are in the mean."""
    rates, timed, requests = rate(row), number(row, "samples"), interval(row, "requests")
    if rates is None or timed is None or requests is None:
        return rates
    share = min(1.0, float(timed.value) / requests.high)
    return Interval(rates.low * share, rates.high * share)


def _allowed_mean(row: Row, plain_s: float, each: float, estimator: str) -> float | None:
    """Return the largest mean; None where nothing bounds it.

    wrk 4 adds x / E samples below each time x longer than E = connections / rate, with a mean of
    x / 2. If all times add up to what the connections had, the mean is E + max / 2 at most.
    """
    if estimator.startswith(CORRECTED):
        longest = number(row, "max")
        if longest is None:
            return None
        return (plain_s + each * longest.high / 2) * _CORRECTED_SLACK
    longest_s, lasted = value(row, "max"), value(row, "duration")
    edge = min(1.0, longest_s / lasted) if lasted else 0.0
    return plain_s * _SLACK * (1 + edge)


def _alone(row: Row) -> str:
    reason = word(row, "one_if")
    return "1 request at a time on a connection" + (f", as {reason}" if reason else "")


def _rests(row: Row, stated: bool, estimator: str) -> list[str]:
    rests = [] if stated else [_alone(row)]
    if estimator.startswith(CORRECTED) and "release" not in row.facts:
        rests.append("wrk 4 or later printed it (`wrk -v` names the version)")
    if estimator and not estimator.startswith(CORRECTED):
        rests.append(f"the mean is not {estimator}")
    counted = row.facts["rate"].estimator if "rate" in row.facts else ""
    return [*rests, *on_duration(row), *[f"no request failed ({counted})"] * bool(counted)]


def _always_busy(row: Row) -> bool:
    lost = (number(row, name) for name in ("lost", "timeouts", "other_failed", "left_out"))
    return word(row, "loop") == "closed" and not any(entry and entry.value for entry in lost)


def _below(listed: dict[float, Fact]) -> float:
    """Return the most that times up to the last percentile add to the mean."""
    steps = pairwise([0.0, *listed])
    return sum((upper - lower) / _PERCENT * listed[upper].high for lower, upper in steps)


def _rate(row: Row) -> str:
    return f"{readable.exact(nominal_rate(row))}/s"


def _connections(count: float) -> str:
    return readable.counted(int(count), "connection")


_FEWEST = 3
_MOST_ROWS = 0.9
"Share of the rows that must have the slip: one unit is that of a column."
_FEWEST_LOADS = 30
_EDGE, _NEAR, _ENOUGH, _BUSY = 0.2, 0.06, 0.25, 0.75
_BITS = 8.0
_HEAD_B = (17.0, 400.0)
"Bytes of short and long heads of a response."
_LONG_B = 1000.0
"Bytes of a body beside which a head does not count."


@check("AL6", "false field", "the loads were shorter than their duration", scope="source")
def duration(name: str, rows: Sequence[Row]) -> Evidences:
    """Loads of closed loops lasted as long as the source says.

    Rows differ, and no load can use its connections for longer than it lasts. So where many rows
    have one share of use below 1, and few have less, the duration is too long by that share.
    """
    loads = [row for row in rows if "duration" not in row.facts and "duration_asked" in row.facts]
    shares = sorted(share for row in loads if (share := _busy_share(row)) is not None)
    if len(shares) < _FEWEST_LOADS:
        return None
    edge = shares[int(_EDGE * len(shares))]
    near = [share for share in shares if abs(share / edge - 1) <= _NEAR]
    if edge > _BUSY or len(near) < _ENOUGH * len(shares):
        return []
    middle = near[len(near) // 2]
    setting = loads[0].facts["duration_asked"]
    really = amount(float(setting.value) * middle, "s")
    return Finding(
        f"by {shown(setting)}, connections were busy for {readable.percent(middle)} of the time "
        f"(+-{readable.percent(_NEAR)}) in {len(near)} of {len(shares)} rows of servers that have "
        "nothing else in common",
        "each connection sends its next request at once",
        f"the loads lasted {really}, not {shown(setting)}",
        row=f"{len(shares)} rows",
        where=setting.origin,
    )


@check("AX3", "unsupported", "the times are in another unit", scope="source")
def unit_of_times(name: str, rows: Sequence[Row]) -> Evidences:
    """Times are in the unit that the source says: no column is off by a power of 1,000."""
    shares = [share for row in rows if (share := _share_of_use(row)) is not None]
    if len(shares) < _FEWEST:
        return None
    middle = statistics.median(shares)
    slip = time_slip(middle)
    alike = [share for share in shares if time_slip(share) == slip]
    if not slip or len(alike) < _MOST_ROWS * len(shares):
        return []
    return Finding(
        f"rate x mean time is {readable.figure(middle)} times the requests that the "
        f"connections hold (median of {len(shares)} rows)",
        "" if middle > 1 else "each connection sends its next request at once",
        slip,
        row=f"{len(shares)} rows",
        where=rows[0].where,
        severity="false field" if middle > 1 else "unsupported",
    )


def _share_of_use(row: Row) -> float | None:
    """Return the share of use: above 1 of any loop that is not open, below 1 of a closed loop."""
    share = None if word(row, "loop") == "open" else _use(row)
    return share if share is None or share > 1 else _busy_share(row)


@check(
    "AX4", "unsupported", "the bytes are eight times those of the right responses", scope="source"
)
def unit_of_bytes(name: str, rows: Sequence[Row]) -> Evidences:
    """Bytes are bytes: responses are not eight times as long as the right one."""
    factors = [factor for row in rows if (factor := _too_long(row)) is not None]
    if len(factors) < _FEWEST:
        return None
    wrong = [factor for factor in factors if factor > 0]
    if len(wrong) < _MOST_ROWS * len(factors):
        return []
    body = next(row.facts["body"] for row in rows if "body" in row.facts)
    return Finding(
        f"{amount(statistics.median(wrong), 'B')} a response (median of {len(wrong)} rows); "
        f"the right body has {shown(body)}",
        f"the head of a response has {amount(_HEAD_B[1], 'B')} at most",
        "these were bits, not bytes",
        row=f"{len(wrong)} rows",
        where=rows[0].where,
    )


def _too_long(row: Row) -> float | None:
    """Return the length of a response if it is that of the right one in bits, else 0."""
    body, rates, per = number(row, "body"), interval(row, "rate"), interval(row, "byte_rate")
    if body is None or rates is None or per is None or float(body.value) < _LONG_B:
        return None
    each = per / rates
    least, most = (_BITS * (float(body.value) + head) for head in _HEAD_B)
    return math.sqrt(each.low * each.high) if each.high >= least and each.low <= most else 0.0
