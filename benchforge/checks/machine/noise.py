"""Noise of other programs and guests during a load, and its memory (M1 to M3, N1 to N6)."""

import math
from collections.abc import Iterator, Sequence

from benchforge.checks.limits import Thresholds
from benchforge.checks.machine import sharing
from benchforge.checks.seen import NOT_LOOKED_AT, because, cpus_of, machine_of
from benchforge.model.files.result import Header
from benchforge.model.trial.check import Check, Status
from benchforge.model.trial.observation import MachineUsage, Observation, Usage
from benchforge.model.trial.trial import Trial
from benchforge.text.readable import amount, conjoined, counted, figure, percent

_NAMED = 3
_PRESSURE = {"cpu": "cpu.some", "io": "io.some", "memory": "memory.full"}
_STOOD_STILL = {
    "cpu": "somebody waited for a CPU",
    "io": "somebody waited for a disk",
    "memory": "everybody waited for memory",
}


def of_trial(trial: Trial, limits: Thresholds) -> Iterator[Check]:
    """Yield what a measured trial shows: N1 to N5, N2 of each part but the loader.

    N2 is not asked of a part with more workers than CPUs: they wait for one another by design.
    N5 is not asked where no quota stops us.
    """
    observation, machine = trial.observation, machine_of(trial)
    yield _foreign(trial, machine, limits)
    for part in () if observation is None else observation.usage:
        crowded = trial.workers.get(part.label, 0) > (cpus_of(trial, part.role) or math.inf)
        if part.role != "loader" and not crowded:
            yield sharing.waiting(trial, part, "N2", limits)
    yield from _pressure(trial, observation, limits)
    taken = sharing.by_hypervisor(trial, limits)
    says = taken.why
    if taken.share is not None:
        says = f"the hypervisor gave {percent(taken.share)} of our CPUs to others"
    says += ": measure on a machine of its own" * (taken.status in {"warn", "fail"})
    yield limits.check("N4", "apparatus", taken.share, says, taken.status)
    yield from _quota(observation, machine, limits)


def of_session(header: Header, trials: Sequence[Trial], limits: Thresholds) -> Iterator[Check]:
    """Yield what speaks against a whole result: N6, others at work or the load before it."""
    if lock := header.facts.get("lock"):
        says = f"the lock of this machine was {lock}: both may have measured at once"
        yield limits.check("N6", "apparatus", None, says, "warn").about(scope="result")
        return
    average, cpus = header.facts.get("load_average"), header.facts.get("cpus_usable")
    first = average[0] if isinstance(average, list) and average else None
    if not isinstance(first, int | float) or not isinstance(cpus, int) or cpus < 1:
        reason = "the load average, or the number of CPUs, is not known"
        yield limits.check("N6", "apparatus", None, reason).about(scope="result")
        return
    says = f"before the first trial the load average was {figure(first)} on {cpus} CPUs"
    advice = ": other programs, or an earlier run, were at work in the minute before it"
    yield limits.advised("N6", "apparatus", first / cpus, says, advice).about(scope="result")


def _foreign(trial: Trial, machine: MachineUsage | None, limits: Thresholds) -> Check:
    taken = sharing.by_processes(trial, limits)
    if taken.share is None or machine is None:
        return limits.check("N1", "apparatus", None, taken.why)
    says = f"others used {percent(taken.share)} of the {machine.cpus} CPUs"
    unassigned_s = 0.0 if trial.observation is None else trial.observation.unassigned_cpu_s or 0.0
    if unassigned_s >= sharing.TICK_S:
        says += f", processes of the trial that belong to no part {amount('s', unassigned_s)}"
    if taken.status != "pass":
        largest = machine.foreign[:_NAMED]
        named = [f"{process.program} {amount('s', process.cpu_s)}" for process in largest]
        says += f" ({conjoined(named)})" if named else ""
        says += ": stop them, or measure on a machine of its own"
    return limits.check("N1", "apparatus", taken.share, says, taken.status)


def _pressure(trial: Trial, observation: Observation | None, limits: Thresholds) -> Iterator[Check]:
    """Yield N3 of CPU, disk and memory: the share of time in which somebody stood still."""
    for resource, name in _PRESSURE.items():
        limit = f"N3.{resource}"
        if observation is None or observation.machine is None:
            yield limits.check(limit, "apparatus", None, NOT_LOOKED_AT).about(resource)
            continue
        stood = observation.machine.pressure.get(name)
        if stood is None or not observation.seconds:
            reason = f"the kernel does not tell its pressure (/proc/pressure/{resource})"
            yield limits.check(limit, "apparatus", None, reason).about(resource)
            continue
        share, cause = stood / observation.seconds, ""
        status: Status = limits[limit].status(share)
        says = f"for {percent(share)} of the time {_STOOD_STILL[resource]}"
        if status != "pass" and resource == "cpu":
            status, reason, cause = sharing.alone(trial, limits, limit, share, "server")
            says += f": {reason}"
        elif status != "pass":
            says += ": see what else uses it, and the backend's own settings"
        yield limits.check(limit, "apparatus", share, says, status).about(resource, because=cause)


def _quota(
    observation: Observation | None, machine: MachineUsage | None, limits: Thresholds
) -> Iterator[Check]:
    """Yield N5 of our own group, and of a load tool's: that of a server is what is measured."""
    for tool in () if observation is None else observation.usage:
        if tool.role == "loader" and tool.throttled:
            says = f"the CPU quota of the control group of {tool.label} stopped it "
            says += f"{counted(tool.throttled, 'time')}: give the load tool none"
            yield limits.check("N5", "apparatus", tool.throttled, says).about(tool.label)
    if machine is None:
        yield limits.check("N5", "apparatus", None, NOT_LOOKED_AT)
    elif machine.throttled is not None:
        says = f"the CPU quota of our control group stopped us {machine.throttled} times"
        advice = ": measure without one (cpu.max, or docker run --cpus)"
        yield limits.advised("N5", "apparatus", machine.throttled, says, advice)


def memory(trial: Trial, limits: Thresholds) -> Iterator[Check]:
    """Yield M1 of the machine and of each service, M2, and M3 of each service.

    A load tool grows with what it notes.
    """
    observation, machine = trial.observation, machine_of(trial)
    paging = {} if machine is None else machine.paging
    why = NOT_LOOKED_AT if machine is None else "the kernel does not tell (/proc/vmstat)"
    pages, says = None, f"swap: {why}"
    if {"pswpin", "pswpout"} <= paging.keys():
        pages = paging["pswpin"] + paging["pswpout"]
        says = f"{counted(pages, 'page')} went to or from swap"
    advice = ": end what takes the memory, or load less"
    yield limits.advised("M1", "apparatus", pages, says, advice)
    killed, says = paging.get("oom_kill"), f"kills for want of memory: {why}"
    if killed is not None:
        says = f"processes that the kernel killed for want of memory: {killed}"
    advice = ": see its log (dmesg), and give them more"
    yield limits.advised("M2", "apparatus", killed, says, advice)
    for part in () if observation is None else observation.usage:
        if part.role != "loader":
            yield _read(part, limits)
            yield _growth(part, observation, limits)


def _read(part: Usage, limits: Thresholds) -> Check:
    faults, advice = part.major_faults, ": give it a warm-up"
    says = f"how much {part.label} read from a disk to run is not known{because(part)}"
    if faults is not None:
        says = f"{part.label} had to read {counted(faults, 'page')} of its memory from a disk"
    return limits.advised("M1.read", "apparatus", faults, says, advice).about(part.label)


def _growth(part: Usage, observation: Observation | None, limits: Thresholds) -> Check:
    unassigned = None if observation is None else observation.unassigned_shared_bytes
    shared = f"; {amount('B', unassigned)} in /dev/shm belong to no part" if unassigned else ""
    growth, advice = part.memory_growth, ": load longer, to see whether it ever ends"
    says = f"whether the memory of {part.label} grows is not known{because(part)}"
    if growth is not None:
        says = f"the memory of {part.label} changed by {percent(growth)} during the load"
    return limits.advised("M3", "behaviour", growth, says + shared, advice).about(part.label)
