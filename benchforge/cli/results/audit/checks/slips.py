"""Slips of units in all rows of a source: milliseconds for seconds, bits for bytes."""

import math
import statistics
from collections.abc import Sequence

from benchforge.cli.results.audit.checks.load import busy_share, use
from benchforge.cli.results.audit.facts import amount, interval, number, shown, word
from benchforge.cli.results.audit.finding import Finding
from benchforge.cli.results.audit.units import time_slip
from benchforge.parts.reader import Row
from benchforge.text import readable

_FEWEST = 3
_MOST_ROWS = 0.9
"Share of the rows that must have the slip: one unit is that of a column."
_BITS = 8.0
_HEAD_B = (17.0, 400.0)
"Bytes of short and long heads of a response."
_LONG_B = 1000.0
"Bytes of a body beside which a head does not count."


def unit_of_times(name: str, rows: Sequence[Row]) -> Sequence[Finding] | None:
    """AX3: times are in the unit that the source says: no column is off by a power of 1,000."""
    shares = [share for row in rows if (share := _use(row)) is not None]
    if len(shares) < _FEWEST:
        return None
    middle = statistics.median(shares)
    slip = time_slip(middle)
    alike = [share for share in shares if time_slip(share) == slip]
    if not slip or len(alike) < _MOST_ROWS * len(shares):
        return []
    return [
        Finding(
            "AX3",
            "false field" if middle > 1 else "unsupported",
            "the times are in another unit",
            f"rate x mean time is {readable.figure(middle)} times the requests that the "
            f"connections hold (median of {len(shares)} rows)",
            "" if middle > 1 else "each connection sends its next request at once",
            slip,
            row=f"{len(shares)} rows",
            where=rows[0].where,
        )
    ]


def _use(row: Row) -> float | None:
    """Return the share of use: above 1 of any loop that is not open, below 1 of a closed loop."""
    share = None if word(row, "loop") == "open" else use(row)
    return share if share is None or share > 1 else busy_share(row)


def unit_of_bytes(name: str, rows: Sequence[Row]) -> Sequence[Finding] | None:
    """AX4: bytes are bytes: responses are not eight times as long as the right one."""
    factors = [factor for row in rows if (factor := _too_long(row)) is not None]
    if len(factors) < _FEWEST:
        return None
    wrong = [factor for factor in factors if factor > 0]
    if len(wrong) < _MOST_ROWS * len(factors):
        return []
    body = next(row.facts["body"] for row in rows if "body" in row.facts)
    return [
        Finding(
            "AX4",
            "unsupported",
            "the bytes are eight times those of the right responses",
            f"{amount(statistics.median(wrong), 'B')} a response (median of {len(wrong)} rows); "
            f"the right body has {shown(body)}",
            f"the head of a response has {amount(_HEAD_B[1], 'B')} at most",
            "these were bits, not bytes",
            row=f"{len(wrong)} rows",
            where=rows[0].where,
        )
    ]


def _too_long(row: Row) -> float | None:
    """Return the length of a response if it is that of the right one in bits, else 0."""
    body, rates, per = number(row, "body"), interval(row, "rate"), interval(row, "byte_rate")
    if body is None or rates is None or per is None or float(body.value) < _LONG_B:
        return None
    each = per / rates
    least, most = (_BITS * (float(body.value) + head) for head in _HEAD_B)
    return math.sqrt(each.low * each.high) if each.high >= least and each.low <= most else 0.0
