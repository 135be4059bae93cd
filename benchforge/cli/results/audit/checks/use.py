"""How busy connections are in all rows of a source: closed loops keep them busy."""

from collections.abc import Sequence

from benchforge.cli.results.audit.checks.load import busy_share
from benchforge.cli.results.audit.facts import amount, shown
from benchforge.cli.results.audit.finding import Finding
from benchforge.parts.reader import Row
from benchforge.text import readable

_FEWEST = 30
_EDGE, _NEAR, _ENOUGH, _BUSY = 0.2, 0.06, 0.25, 0.75


def duration(name: str, rows: Sequence[Row]) -> Sequence[Finding] | None:
    """AL6: loads of closed loops lasted as long as the source says.

    Rows differ, and no load can use its connections for longer than it lasts. So where many rows
    have one share of use below 1, and few have less, the duration is too long by that share.
    """
    loads = [row for row in rows if "duration" not in row.facts and "duration_asked" in row.facts]
    shares = sorted(share for row in loads if (share := busy_share(row)) is not None)
    if len(shares) < _FEWEST:
        return None
    edge = shares[int(_EDGE * len(shares))]
    near = [share for share in shares if abs(share / edge - 1) <= _NEAR]
    if edge > _BUSY or len(near) < _ENOUGH * len(shares):
        return []
    middle = near[len(near) // 2]
    setting = loads[0].facts["duration_asked"]
    really = amount(float(setting.value) * middle, "s")
    return [
        Finding(
            "AL6",
            "false field",
            "the loads were shorter than their duration",
            f"by {shown(setting)}, connections were busy for {readable.percent(middle)} of the "
            "time "
            f"(+-{readable.percent(_NEAR)}) in {len(near)} of {len(shares)} rows of servers that "
            "have "
            "nothing else in common",
            "each connection sends its next request at once",
            f"the loads lasted {really}, not {shown(setting)}",
            row=f"{len(shares)} rows",
            where=setting.origin,
        )
    ]
