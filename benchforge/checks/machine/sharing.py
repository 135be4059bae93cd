"""Sharing of CPUs among the parts of a trial (P1, P2) and with others, and waits that it explains.

Unless others are known to be at work, a part's waiting is a warning at most, and none where no
placement could change it. A load tool with CPUs of its own that waits has too few of them: that is
a fault of the apparatus.

The kernel counts CPU time in ticks. /proc/stat says what was busy at each tick of each CPU: the sum
of n samples, each of a variance of 1/4 at most, so that the share is known to about 1/sqrt(n), two
standard deviations. What a hypervisor took is measured, and cut to whole ticks for each CPU.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from benchforge.checks.limits import Limit, Thresholds
from benchforge.checks.seen import NOT_LOOKED_AT, because, machine_of
from benchforge.model.trial.check import Check, Status
from benchforge.model.trial.observation import Usage
from benchforge.model.trial.trial import Trial
from benchforge.model.values.case_name import Role
from benchforge.model.values.cpus import Cpus
from benchforge.text.readable import amount, conjoined, figure, percent

TICK_S = 0.01  # USER_HZ is 100 wherever Python runs on Linux


def of_trial(trial: Trial, limits: Thresholds) -> Iterator[Check]:
    """Yield what a measured trial shows: P1 of the load tool, and P2 of each part."""
    if trial.observation is None:
        yield limits.check("P1", "apparatus", None, "nobody looked which parts were there")
        yield limits.check("P2", "apparatus", None, "nobody looked at context switches")
        return
    # Of a machine without the load tool, nothing shares its CPUs.
    if not trial.hosts or any(part.role == "loader" for part in trial.observation.usage):
        yield _shared(trial, limits)
    for part in trial.observation.usage:
        yield waiting(trial, part, "P2", limits)


def _shared(trial: Trial, limits: Thresholds) -> Check:
    """Return P1: a failure only if a suite places, and leaves a part on the load tool's CPUs."""
    others = beside(trial, "loader")
    if not others:
        placed = trial.placement.in_words if trial.placement else "it was alone"
        says = f"the load tool shares its CPUs with no other part: {placed}"
        return limits.check("P1", "apparatus", 0.0, says, "pass")
    busy = _busy(trial, others)
    how_busy = "how busy they were is not known" if busy is None else f"{percent(busy)} busy"
    says = f"the load tool and {conjoined(others)} share CPUs, {how_busy}"
    if trial.placement is None:
        says += ": nobody was placed; [placement] gives each its own, where there are enough"
        return limits.check("P1", "apparatus", busy, says, "warn")
    roles: tuple[Role, ...] = ("loader", *others)
    accepted = all(cpus_of(trial, role) is not None for role in roles)
    says += ": give the load tool CPUs that nobody else may use ([placement])"
    status: Status | None = "warn" if accepted else None
    return limits.check("P1", "apparatus", busy, says, status)


def _busy(trial: Trial, others: Sequence[Role]) -> float | None:
    observation = trial.observation
    if observation is None or observation.machine is None or not observation.seconds:
        return None
    by_cpu = observation.machine.busy_by_cpu_s
    theirs = {cpu for role in others for cpu in cpus_of(trial, role) or by_cpu}
    shared = theirs.intersection(cpus_of(trial, "loader") or by_cpu)
    if not shared or not shared <= by_cpu.keys():
        return None
    return min(1.0, sum(by_cpu[cpu] for cpu in shared) / (len(shared) * observation.seconds))


def waiting(trial: Trial, part: Usage, id_: str, limits: Thresholds) -> Check:
    """Return P2, N2 or L5 of a part: how often, or how long, its threads had no CPU they wanted."""
    switched, label = id_ == "P2", part.label
    waits = part.involuntary_switches if switched else part.cpu_wait_s
    seconds = 0.0 if trial.observation is None else trial.observation.seconds
    if waits is None or not seconds:
        did = f"how often {label} had to leave" if switched else f"how long {label} waited for"
        reason = f"{did} a CPU is not known{because(part)}"
        return limits.check(id_, "apparatus", None, reason).about(label)
    value = waits / seconds / max(1, part.busy_threads or 1)
    status, reason, cause = alone(trial, limits, id_, value, part.role)
    says = "" if id_ == "L5" else "each busy thread of "
    if switched:
        says += f"{label} had to leave its CPU {figure(value)} times a second"
    else:
        says += f"{label} waited {amount('s', value)} for a CPU each second"
    if reason:
        says += ", which is part of the response times" * (id_ == "L5") + f": {reason}"
    return limits.check(id_, "apparatus", value, says, status).about(label, because=cause)


class Waiting(NamedTuple):
    """How a part waited for CPUs, what explains it, and the id of the check that tells that."""

    status: Status
    why: str = ""
    because: str = ""


def cpus_of(trial: Trial, role: Role) -> Cpus | None:
    """Return the CPUs on which a role was put; None where it may use all."""
    placed = {} if trial.placement is None else trial.placement.cpus
    return Cpus.parse(placed[role]) if role in placed else None


def beside(trial: Trial, role: Role) -> tuple[Role, ...]:
    """Return the other roles of the trial that may use some of a role's CPUs."""
    used = () if trial.observation is None else trial.observation.usage
    cpus = cpus_of(trial, role)
    others: dict[Role, Cpus | None] = {
        usage.role: cpus_of(trial, usage.role) for usage in used if usage.role != role
    }
    return tuple(key for key, its in others.items() if not cpus or not its or {*cpus} & {*its})


def alone(trial: Trial, limits: Thresholds, limit: str, value: float, role: Role) -> Waiting:
    """Judge how a part waited for CPUs, and say what of the trial itself explains it.

    It fails only where others are known to have taken CPU (N1 or N4), or the load tool waits on
    CPUs of its own.
    """
    status = limits[limit].status(value)
    if status == "pass":
        return Waiting(status)
    taken = {"N1": by_processes(trial, limits), "N4": by_hypervisor(trial, limits)}
    takers = (id_ for id_, foreign in taken.items() if foreign.status in {"warn", "fail"})
    if taker := next(takers, ""):
        return Waiting(status, "others used CPU meanwhile, see foreign-cpu and steal", taker)
    others = beside(trial, role)
    if others:
        reason = f"the {role} shares its CPUs with {conjoined(others)}"
        with_tool = "loader" in {role, *others}
        if not with_tool and _crowded(trial):
            return Waiting("pass", f"{reason}: there are fewer CPUs than parts")
        cause = "P1" if with_tool else ""
        return Waiting("warn", f"{reason}: place them apart ([placement])", cause)
    if role == "loader":
        return Waiting(status, "its CPUs are too few for its threads: give it more ([placement])")
    reason = "nobody else is known to have used its CPUs: its own threads wait for one another"
    return Waiting("warn", reason)


def _crowded(trial: Trial) -> bool:
    """Return True if there are fewer CPUs than parts: no placement gives each its own."""
    observation = trial.observation
    if observation is None or observation.machine is None:
        return False
    return observation.machine.cpus < len({part.role for part in observation.usage})


class ForeignCpu(NamedTuple):
    """What share of the CPUs that we may use was taken, and what to say of it."""

    share: float | None = None
    "Share of the CPUs; None if unknown, with the reason in `why`."
    status: Status = "unknown"
    why: str = ""


def used_by_others(trial: Trial) -> tuple[float | None, str]:
    """Return (busy - own parts - unassigned of the trial - sampler) / (CPUs x seconds).

    None where it is unknown, and why.
    """
    observation, machine = trial.observation, machine_of(trial)
    if observation is None or machine is None:
        return None, NOT_LOOKED_AT
    if machine.busy_s is None:
        return None, "the kernel does not tell how busy the CPUs were"
    hidden = [usage.label for usage in observation.usage if usage.cpu_s is None]
    if hidden:
        reason = f"what {', '.join(hidden)} used is not known, so what others used is not either"
        return None, reason
    if not observation.seconds:
        return None, "the load took no time"
    own_s = observation.sampler_cpu_s + (observation.unassigned_cpu_s or 0.0)
    own_s += sum(usage.cpu_s or 0.0 for usage in observation.usage)
    return max(0.0, machine.busy_s - own_s) / (machine.cpus * observation.seconds), ""


def foreign_share(trial: Trial) -> float | None:
    """Return the share of the CPUs that others used; of turns, in the server's own."""
    if trial.turns is None:
        return used_by_others(trial)[0]
    used = [slice_.foreign_cpu_s for slice_ in trial.turns.slices]
    if not used or None in used:
        return None
    cpu_s = sum(seconds for seconds in used if seconds is not None)
    return max(0.0, cpu_s / (trial.turns.seconds * trial.turns.cpus))


def by_processes(trial: Trial, limits: Thresholds) -> ForeignCpu:
    """Return the judged share of the CPUs that others used."""
    share, why = used_by_others(trial)
    observation, machine = trial.observation, machine_of(trial)
    if share is None or observation is None or machine is None:
        return ForeignCpu(why=why)
    resolution = math.sqrt(TICK_S / (machine.cpus * observation.seconds))
    return _judged(share, resolution, limits["N1"], observation.seconds)


def by_hypervisor(trial: Trial, limits: Thresholds) -> ForeignCpu:
    """Return stolen / (CPUs x seconds)."""
    observation, machine = trial.observation, machine_of(trial)
    if observation is None or machine is None:
        return ForeignCpu(why=NOT_LOOKED_AT)
    if machine.stolen_s is None:
        return ForeignCpu(why="the kernel does not tell what a hypervisor took")
    if not observation.seconds:
        return ForeignCpu(why="the load took no time")
    share = machine.stolen_s / (machine.cpus * observation.seconds)
    return _judged(share, TICK_S / observation.seconds, limits["N4"], observation.seconds)


def _judged(share: float, resolution: float, limit: Limit, seconds: float) -> ForeignCpu:
    """Judge a share that is known to a resolution: what is beyond a limit for sure is beyond it."""
    if limit.warn is None or resolution <= limit.warn:
        return ForeignCpu(share, limit.status(share))
    sure = limit.status(max(0.0, share - resolution))
    if sure != "pass":
        return ForeignCpu(share, sure)
    reason = f"a load of {amount('s', seconds)} tells CPU time to {percent(resolution)} only, and "
    reason += f"{percent(limit.warn)} matter: load longer"
    return ForeignCpu(why=reason)
