"""From usage.csv and system.csv to the figures of an observation."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from benchforge.model.trial.observation import Observation
from benchforge.model.trial.rows import UsageRow, system_rows, usage_rows
from benchforge.stats.observation.system import flow, machine
from benchforge.stats.timeseries.theil_sen import growth

_SEEN = 0.5  # of a load tool's CPU time, for its threads to be known


def recomputed(seen: Observation, usage_csv: str, system_csv: str) -> Observation:
    """Return an observation with each figure that the two files tell computed from them.

    What they never tell is taken over, and a part without rows has no figures. An observation is
    right where this changes nothing.
    Raises ValueError with file and line where a file cannot be read, or names a part that the
    observation does not have.
    """
    used = _by_part(seen, usage_csv)
    try:
        system = system_rows(system_csv)
    except ValueError as error:
        raise ValueError(f"system.csv: {error}") from None
    usage = tuple(
        one.model_copy(update=_used(used.get((one.label, one.role), []), seen.seconds))
        for one in seen.usage
    )
    update: dict[str, Any] = {"usage": usage, "samples": len(system)}
    if seen.machine is not None:
        update["machine"] = seen.machine.model_copy(update=machine(system))
    update["flow"] = flow(system) if seen.network == "private" else None
    return seen.model_copy(update=update)


def _by_part(seen: Observation, usage_csv: str) -> dict[tuple[str, str], list[UsageRow]]:
    parts = {(one.label, one.role) for one in seen.usage}
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
    """Return what only a living process tells.

    A load tool's last look is a moment before its end, which tells its CPU time exactly. What it
    did in between is taken to be as before; unknown if that is most of it.
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
    """Return what a column says last, as much more as the part used until its end."""
    last = next((row for row in reversed(rows) if getattr(row, name) is not None), None)
    if last is None:
        return ()
    value = getattr(last, name)
    values: tuple[float, ...] = value if isinstance(value, tuple) else (value,)
    whole, seen = rows[-1].cpu_s, last.cpu_s
    if rows[-1].threads is not None or whole is None or seen is None:
        return values  # it lived at the end
    if seen < _SEEN * whole or not seen:
        return ()
    return tuple(amount * max(1.0, whole / seen) for amount in values)
