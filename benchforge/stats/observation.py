"""Figures of an observation, from usage.csv and system.csv."""

import bisect
import itertools
import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any, NamedTuple

from benchforge.model.trial.observation import NetworkFlow, Observation
from benchforge.model.trial.rows import TIME, SystemRow, UsageRow, system_rows, usage_rows
from benchforge.stats.timeseries.trend import growth

COUNTER = "TcpOutSegs"
BIN_S = 0.25
_MOST_BINS = 4  # for each row: a file that names a distant moment is no reason to count to it
_BUSY = 0.5  # of a CPU's time, for its frequency to tell anything
_SEEN = 0.5  # of a load tool's CPU time, for its threads to be known


def recomputed(observation: Observation, usage_csv: str, system_csv: str) -> Observation:
    """Return an observation with each figure that the two files tell computed from them.

    Other figures stay, and a part without rows has none. An observation is right where this changes
    nothing. Raises ValueError with file and line for an unreadable file or an unknown part.
    """
    used = _by_part(observation, usage_csv)
    try:
        system = system_rows(system_csv)
    except ValueError as error:
        raise ValueError(f"system.csv: {error}") from None
    usage = tuple(
        replace(usage, **_used(used.get((usage.label, usage.role), []), observation.seconds))
        for usage in observation.usage
    )
    update: dict[str, Any] = {"usage": usage, "samples": len(system)}
    if observation.machine is not None:
        update["machine"] = observation.machine.model_copy(update=machine(system))
    update["flow"] = flow(system) if observation.network == "private" else None
    return observation.model_copy(update=update)


def _by_part(observation: Observation, usage_csv: str) -> dict[tuple[str, str], list[UsageRow]]:
    parts = {(usage.label, usage.role) for usage in observation.usage}
    by_part: dict[tuple[str, str], list[UsageRow]] = defaultdict(list)
    try:
        rows = usage_rows(usage_csv)
    except ValueError as error:
        raise ValueError(f"usage.csv: {error}") from None
    for row in rows:
        by_part[row.label, row.role].append(row)
    if strangers := by_part.keys() - parts:
        label, role = min(strangers)
        raise ValueError(f"usage.csv: the trial has no {role} {label[:40]!r}")
    return by_part


def _last(rows: Sequence[UsageRow], name: str) -> Any:
    return next((v for row in reversed(rows) if (v := getattr(row, name)) is not None), None)


def _used(rows: Sequence[UsageRow], seconds: float) -> dict[str, Any]:
    sizes = [(row.time_s, row.pss_bytes) for row in rows if row.pss_bytes is not None]
    counts = ("busy_threads", "voluntary_switches", "involuntary_switches", "major_faults")
    numbers = ("cpu_s", "processes", "ended_processes", "new_processes", *counts)
    return {
        **{name: _last(rows, name) for name in numbers},
        **_of_threads(rows),
        "peak_pss_bytes": max((size for _, size in sizes), default=None),
        "pss_samples": len(sizes),
        "memory_growth": growth(sizes, seconds),
    }


def _of_threads(rows: Sequence[UsageRow]) -> dict[str, Any]:
    """Return the figures of living processes.

    The last look at a load tool is a moment before its end, which tells its CPU time exactly. In
    between it counts as before; unknown if that is most of its time.
    """
    hottest, waited, each = (
        _until_end(rows, name) for name in ("busiest_thread_cpu_s", "cpu_wait_s", "process_cpu_s")
    )
    return {
        "busiest_thread_cpu_s": min(hottest[0], rows[-1].time_s) if hottest else None,
        "cpu_wait_s": waited[0] if waited else None,
        "process_cpu_s": each,
        "busy_threads": _last(rows, "busy_threads") if hottest else None,
    }


def _until_end(rows: Sequence[UsageRow], name: str) -> tuple[float, ...]:
    """Return the last value of a column, raised by what the part used until its end."""
    last = next((row for row in reversed(rows) if getattr(row, name) is not None), None)
    if last is None:
        return ()
    value = getattr(last, name)
    values: tuple[float, ...] = value if isinstance(value, tuple) else (value,)
    total_s, last_s = rows[-1].cpu_s, last.cpu_s
    if rows[-1].threads is not None or total_s is None or last_s is None:
        return values  # it lived at the end
    if last_s < _SEEN * total_s or not last_s:
        return ()
    return tuple(amount * max(1.0, total_s / last_s) for amount in values)


def machine(rows: Sequence[SystemRow]) -> dict[str, Any]:
    """Return the fields of Machine that the rows tell; None for those that they do not."""
    last: dict[str, float] = {name: value for row in rows for name, value in row.items()}
    first: dict[str, float] = {name: value for row in reversed(rows) for name, value in row.items()}
    busy = _below(last, "cpu.", ".busy_s")
    stolen = _below(last, "cpu.", ".stolen_s")
    heat = [row["heat.celsius"] for row in rows if "heat.celsius" in row]
    clock_steps = [row["clock.step_s"] for row in rows if "clock.step_s" in row]
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
        "clock_step_s": max(clock_steps, key=abs, default=None),
        "longest_gap_s": _unseen(rows),
        "time_wait_sockets": _whole(last.get("net.time_wait")),
    }


def _unseen(rows: Sequence[SystemRow]) -> float | None:
    """Return the longest time between two rows; the last comes once the load tool is cleared up."""
    times = [row[TIME] for row in rows[:-1]]
    gaps = [round(later - earlier, 6) for earlier, later in itertools.pairwise(times)]
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
    frequencies: list[float] = []
    for earlier, row in itertools.pairwise(rows_with_mhz):
        for cpu, mhz in _below(row, "cpu.", ".mhz").items():
            name = f"cpu.{cpu}.busy_s"
            busy = row.get(name, 0.0) - earlier.get(name, 0.0)
            if busy >= _BUSY * (row[TIME] - earlier[TIME]) > 0:
                frequencies.append(mhz)
    if not frequencies:
        return None
    return min(frequencies), math.fsum(frequencies) / len(frequencies), max(frequencies)


def flow(rows: Sequence[SystemRow]) -> NetworkFlow | None:
    """Return how much was sent in each whole bin, by lines between the moments of the rows."""
    name = f"net.{COUNTER}"
    points = [(row[TIME], row[name]) for row in rows if name in row]
    if len(points) <= 1:
        return None
    gaps = sorted(later - earlier for (earlier, _), (later, _) in itertools.pairwise(points))
    bin_s = BIN_S * max(1, round(gaps[len(gaps) // 2] / BIN_S))
    bins = min(int(points[-1][0] / bin_s), _MOST_BINS * len(points))
    ends = [round(_at(points, bin_s * number)) for number in range(bins + 1)]
    sent = tuple(max(0, later - earlier) for earlier, later in itertools.pairwise(ends))
    return NetworkFlow(bin_s=bin_s, sent=sent, counter=COUNTER) if sent else None


def _at(points: Sequence[tuple[float, float]], time_s: float) -> float:
    """Return the counter at a moment, on the line between the two looks around it."""
    index = bisect.bisect_left(points, time_s, key=itemgetter(0))
    if index in (0, len(points)):
        return points[max(0, index - 1)][1]
    (earlier_s, low), (later_s, high) = points[index - 1 : index + 1]
    return low + (high - low) * (time_s - earlier_s) / (later_s - earlier_s)


class Spread(NamedTuple):
    """The spread of a number over rounds, in its own unit."""

    median: float
    high: float
    "The 99 % quantile: of fewer than 100 rounds it is the largest."
    largest: float


def spread(values: Sequence[float]) -> Spread:
    """Return median, 99 % quantile and largest of one value at least.

    A quantile p of n values is the smallest of which p·n are not above.
    """
    ordered = sorted(values)
    return Spread(_quantile(ordered, 0.5), _quantile(ordered, 0.99), ordered[-1])


def _quantile(ordered: Sequence[float], p: float) -> float:
    return ordered[max(0, math.ceil(p * len(ordered)) - 1)]


OF_USAGE, OF_MACHINE = tuple(_used([], 1.0)), tuple(machine([]))
"Names of the figures of a part and of the machine that the two files tell."
