"""Life of each process through the load (S7)."""

from collections.abc import Iterator

from benchforge.checks.limits import Thresholds
from benchforge.checks.seen import NOT_OBSERVED, of_roles, why_unknown
from benchforge.model.trial.check import Check, Status
from benchforge.model.trial.trial import Trial

_LATE: Status = "warn"
"Of a process that began late: nothing crashed, and what it did counts."


def of_trial(trial: Trial, limits: Thresholds) -> Iterator[Check]:
    """Yield whether processes of servers ended or began; backends may have one a connection."""
    servers = of_roles(trial, "server", "upstream")
    if not servers:
        yield limits.check("S7", "behaviour", None, f"whether it went on: {NOT_OBSERVED}")
    for usage in servers:
        if usage.ended_processes is None or usage.new_processes is None:
            says = why_unknown(usage, "whether all processes lived through the load")
            yield limits.check("S7", "behaviour", None, says).about(usage.label)
            continue
        ended, begun = usage.ended_processes, usage.new_processes
        count = max(ended, begun)
        status: Status | None = None
        says = f"all processes of {usage.label} lived through the load"
        if ended:
            says = f"of the processes of {usage.label}, {ended} ended and {begun} began during the "
            says += "load: it crashed, or is set to begin anew after so many requests; see its log"
        elif begun:
            status = _LATE
            says = f"of the processes of {usage.label}, none ended and {begun} began during the "
            says += "load: at first it had fewer workers; lengthen repeat.warmup"
        yield limits.check("S7", "behaviour", count, says, status).about(usage.label)
