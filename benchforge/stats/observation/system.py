"""From the rows of system.csv to what the machine did, and what the network sent."""

import bisect
import itertools
import math
from collections.abc import Sequence
from operator import itemgetter
from typing import Any

from benchforge.model.trial.observation import NetworkFlow
from benchforge.model.trial.rows import TIME, SystemRow

COUNTER = "TcpOutSegs"
BIN_S = 0.25
_MOST_BINS = 4  # for each row: a file that names a distant moment is no reason to count to it
_BUSY = 0.5  # of a CPU's time, for its frequency to tell anything


def machine(rows: Sequence[SystemRow]) -> dict[str, Any]:
    """Return the fields of Machine that the rows tell; None for those that they do not."""
    last: dict[str, float] = {name: value for row in rows for name, value in row.items()}
    first: dict[str, float] = {name: value for row in reversed(rows) for name, value in row.items()}
    busy = _below(last, "cpu.", ".busy_s")
    stolen = _below(last, "cpu.", ".stolen_s")
    heat = [row["heat.celsius"] for row in rows if "heat.celsius" in row]
    return {
        "busy_s": sum(busy.values()) if busy else None,
        "stolen_s": sum(stolen.values()) if stolen else None,
        "busy_by_cpu_s": {int(cpu): seconds for cpu, seconds in busy.items() if cpu.isdecimal()},
        "pressure": _below(last, "pressure.", "_s"),
        "paging": {name: round(grown) for name, grown in _below(last, "paging.").items()},
        "throttled": _whole(last.get("group.throttled")),
        "overheated": _whole(last.get("heat.throttled")),
        "frequency_mhz": _frequency(rows),
        "temperature_c": (heat[0], heat[-1]) if heat else None,
        "load_average": first.get("load.average"),
        "clock_step_s": max((row["clock.step_s"] for row in rows if "clock.step_s" in row), key=abs)
        if "clock.step_s" in last
        else None,
        "longest_gap_s": _unseen(rows),
        "time_wait_sockets": _whole(last.get("net.time_wait")),
    }


def _unseen(rows: Sequence[SystemRow]) -> float | None:
    """Return the longest time between two rows; the last comes once the load tool is cleared up."""
    times = [row[TIME] for row in rows[:-1]]
    gaps = [round(after - before, 6) for before, after in itertools.pairwise(times)]
    return max(0.0, *gaps) if gaps else None


def _below(row: SystemRow, prefix: str, suffix: str = "") -> dict[str, float]:
    return {
        name.removeprefix(prefix).removesuffix(suffix): max(0.0, value)
        for name, value in row.items()
        if name.startswith(prefix) and name.endswith(suffix)
    }


def _whole(value: float | None) -> int | None:
    return None if value is None else max(0, round(value))


def _frequency(rows: Sequence[SystemRow]) -> tuple[float, float, float] | None:
    """Return the lowest, the mean and the highest of CPUs that were busy until it was read."""
    rows_with_mhz = [row for row in rows if any(name.endswith(".mhz") for name in row)]
    seen: list[float] = []
    for before, row in itertools.pairwise(rows_with_mhz):
        for cpu, mhz in _below(row, "cpu.", ".mhz").items():
            name = f"cpu.{cpu}.busy_s"
            busy = row.get(name, 0.0) - before.get(name, 0.0)
            if busy >= _BUSY * (row[TIME] - before[TIME]) > 0:
                seen.append(mhz)
    return (min(seen), math.fsum(seen) / len(seen), max(seen)) if seen else None


def flow(rows: Sequence[SystemRow]) -> NetworkFlow | None:
    """Return how much was sent in each whole bin, by lines between the moments of the rows."""
    name = f"net.{COUNTER}"
    points = [(row[TIME], row[name]) for row in rows if name in row]
    if len(points) <= 1:
        return None
    gaps = sorted(after - before for (before, _), (after, _) in itertools.pairwise(points))
    bin_s = BIN_S * max(1, round(gaps[len(gaps) // 2] / BIN_S))
    bins = min(int(points[-1][0] / bin_s), _MOST_BINS * len(points))
    ends = [round(_at(points, bin_s * number)) for number in range(bins + 1)]
    sent = tuple(max(0, after - before) for before, after in itertools.pairwise(ends))
    return NetworkFlow(bin_s=bin_s, sent=sent, counter=COUNTER) if sent else None


def _at(points: Sequence[tuple[float, float]], time_s: float) -> float:
    """Return the counter at a moment, on the line between the two looks around it."""
    place = bisect.bisect_left(points, time_s, key=itemgetter(0))
    if place in (0, len(points)):
        return points[max(0, place - 1)][1]
    (before, low), (after, high) = points[place - 1 : place + 1]
    return low + (high - low) * (time_s - before) / (after - before)
