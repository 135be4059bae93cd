"""Sharing of CPUs with the load tool, and preemption (P1, P2)."""

from collections.abc import Iterator, Sequence

from benchforge.checks.limits import Thresholds
from benchforge.checks.machine import colocation
from benchforge.checks.seen import because
from benchforge.model.trial.check import Check, Status
from benchforge.model.trial.observation import Role, Usage
from benchforge.model.trial.trial import Trial
from benchforge.model.values.cpus import Cpus
from benchforge.text.readable import conjoined, figure, percent


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
        yield _preempted(trial, part, trial.observation.seconds, limits)


def _shared(trial: Trial, limits: Thresholds) -> Check:
    """Return P1: a failure only if a suite places, and leaves a part on the load tool's CPUs."""
    others = colocation.beside(trial, "loader")
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
    accepted = all(colocation.cpus_of(trial, role) is not None for role in roles)
    says += ": give the load tool CPUs that nobody else may use ([placement])"
    status: Status | None = "warn" if accepted else None
    return limits.check("P1", "apparatus", busy, says, status)


def _busy(trial: Trial, others: Sequence[Role]) -> float | None:
    """Return how busy the CPUs were that the load tool shares, of all of their time."""
    observation = trial.observation
    if observation is None or observation.machine is None or not observation.seconds:
        return None
    by_cpu = observation.machine.busy_by_cpu_s
    loader_cpus = _numbers(colocation.cpus_of(trial, "loader"), by_cpu)
    theirs = [_numbers(colocation.cpus_of(trial, role), by_cpu) for role in others]
    shared = loader_cpus.intersection(set[int]().union(*theirs))
    if not shared or not shared <= by_cpu.keys():
        return None
    return min(1.0, sum(by_cpu[cpu] for cpu in shared) / (len(shared) * observation.seconds))


def _numbers(cpus: Cpus | None, all_cpus: dict[int, float]) -> set[int]:
    return set(all_cpus) if cpus is None else set(cpus)


def _preempted(trial: Trial, part: Usage, seconds: float, limits: Thresholds) -> Check:
    """Return P2 of a part: how often its threads had to leave a CPU that they wanted to keep."""
    if part.involuntary_switches is None or not seconds:
        reason = f"how often {part.label} had to leave a CPU is not known{because(part)}"
        return limits.check("P2", "apparatus", None, reason).about(part.label)
    rate = part.involuntary_switches / seconds / max(1, part.busy_threads or 1)
    status, reason, cause = colocation.alone(trial, limits, "P2", rate, part.role)
    says = f"each busy thread of {part.label} had to leave its CPU {figure(rate)} times a second"
    says += f": {reason}" if reason else ""
    return limits.check("P2", "apparatus", rate, says, status).about(part.label, because=cause)
