"""CPU that others took during the load: their processes, and the hypervisor's other guests.

The kernel counts in ticks. /proc/stat says what was busy at each tick of each CPU: the sum of
n samples, each of a variance of 1/4 at most, so that the share is known to about 1/sqrt(n), two
standard deviations. What a hypervisor took is measured, and cut to whole ticks for each CPU.
"""

import math
from dataclasses import dataclass

from benchforge.checks.limits import Limit, Thresholds
from benchforge.checks.seen import NOT_LOOKED_AT, machine_of
from benchforge.model.trial.check import Status
from benchforge.model.trial.trial import Trial
from benchforge.text.readable import amount, percent

TICK_S = 0.01  # USER_HZ is 100 wherever Python runs on Linux


@dataclass(frozen=True)
class ForeignCpu:
    """What share of the CPUs that we may use was taken, and what to say of it."""

    share: float | None
    "Share of the CPUs; None if unknown, with the reason in `why`."
    status: Status
    why: str = ""


def by_processes(trial: Trial, limits: Thresholds) -> ForeignCpu:
    """Return (busy - own parts - unassigned of the trial - sampler) / (CPUs x seconds)."""
    observation, machine = trial.observation, machine_of(trial)
    if observation is None or machine is None:
        return ForeignCpu(None, "unknown", NOT_LOOKED_AT)
    if machine.busy_s is None:
        return ForeignCpu(None, "unknown", "the kernel does not tell how busy the CPUs were")
    hidden = [usage.label for usage in observation.usage if usage.cpu_s is None]
    if hidden:
        reason = f"what {', '.join(hidden)} used is not known, so what others used is not either"
        return ForeignCpu(None, "unknown", reason)
    if not observation.seconds:
        return ForeignCpu(None, "unknown", "the load took no time")
    own_s = observation.sampler_cpu_s + (observation.unassigned_cpu_s or 0.0)
    own_s += sum(usage.cpu_s or 0.0 for usage in observation.usage)
    whole_s = machine.cpus * observation.seconds
    share = max(0.0, machine.busy_s - own_s) / whole_s
    return _judged(share, math.sqrt(TICK_S / whole_s), limits["N1"], observation.seconds)


def by_hypervisor(trial: Trial, limits: Thresholds) -> ForeignCpu:
    """Return stolen / (CPUs x seconds)."""
    observation, machine = trial.observation, machine_of(trial)
    if observation is None or machine is None:
        return ForeignCpu(None, "unknown", NOT_LOOKED_AT)
    if machine.stolen_s is None:
        return ForeignCpu(None, "unknown", "the kernel does not tell what a hypervisor took")
    if not observation.seconds:
        return ForeignCpu(None, "unknown", "the load took no time")
    share = machine.stolen_s / (machine.cpus * observation.seconds)
    return _judged(share, TICK_S / observation.seconds, limits["N4"], observation.seconds)


def at_work(trial: Trial, limits: Thresholds) -> str:
    """Return the id of the check that says who took CPU: N1 or N4; empty where nobody did."""
    taken = {"N1": by_processes(trial, limits), "N4": by_hypervisor(trial, limits)}
    return next((id_ for id_, foreign in taken.items() if foreign.status in {"warn", "fail"}), "")


def _judged(share: float, resolution: float, limit: Limit, seconds: float) -> ForeignCpu:
    """Judge a share that is known to a resolution: what is beyond a limit for sure is beyond it."""
    if limit.warn is None or resolution <= limit.warn:
        return ForeignCpu(share, limit.status(share))
    sure = limit.status(max(0.0, share - resolution))
    if sure != "pass":
        return ForeignCpu(share, sure)
    reason = f"a load of {amount('s', seconds)} tells CPU time to {percent(resolution)} only, and "
    reason += f"{percent(limit.warn)} matter: load longer"
    return ForeignCpu(None, "unknown", reason)
