"""Identities of all rows of a source: units, and durations of loads."""

import math
import statistics
from collections.abc import Sequence

from benchforge.cli.results.audit.checks.load import busy_share, use
from benchforge.cli.results.audit.facts import amount, interval, number, shown, time_slip, word
from benchforge.cli.results.audit.finding import Evidences, Finding, check
from benchforge.parts.reader import Row
from benchforge.text import readable

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
    shares = sorted(share for row in loads if (share := busy_share(row)) is not None)
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
    shares = [share for row in rows if (share := _use(row)) is not None]
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


def _use(row: Row) -> float | None:
    """Return the share of use: above 1 of any loop that is not open, below 1 of a closed loop."""
    share = None if word(row, "loop") == "open" else use(row)
    return share if share is None or share > 1 else busy_share(row)


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
