"""Swap, kills for want of memory, and memory that grows (M1 to M3)."""

from collections.abc import Iterator

from benchforge.checks.limits import Thresholds
from benchforge.checks.seen import NOT_LOOKED_AT, because, machine_of
from benchforge.model.trial.check import Check
from benchforge.model.trial.observation import Observation, Usage
from benchforge.model.trial.trial import Trial
from benchforge.text.readable import amount, counted, percent


def of_trial(trial: Trial, limits: Thresholds) -> Iterator[Check]:
    """Yield M1 of the machine and of each service, M2, and M3 of each service.

    A load tool grows with what it notes.
    """
    observation, machine = trial.observation, machine_of(trial)
    paging = {} if machine is None else machine.paging
    why = NOT_LOOKED_AT if machine is None else "the kernel does not tell (/proc/vmstat)"
    if {"pswpin", "pswpout"} <= paging.keys():
        pages = paging["pswpin"] + paging["pswpout"]
        says = f"{counted(pages, 'page')} went to or from swap"
        check = limits.check("M1", "apparatus", pages, says)
        yield check.advising(": end what takes the memory, or load less")
    else:
        yield limits.check("M1", "apparatus", None, f"swap: {why}")
    if (killed := paging.get("oom_kill")) is None:
        yield limits.check("M2", "apparatus", None, f"kills for want of memory: {why}")
    else:
        says = f"processes that the kernel killed for want of memory: {killed}"
        check = limits.check("M2", "apparatus", killed, says)
        yield check.advising(": see its log (dmesg), and give them more")
    for part in () if observation is None else observation.usage:
        if part.role != "loader":
            yield _read(part, limits)
            yield _growth(part, observation, limits)


def _read(part: Usage, limits: Thresholds) -> Check:
    if part.major_faults is None:
        reason = f"how much {part.label} read from a disk to run is not known{because(part)}"
        return limits.check("M1.read", "apparatus", None, reason).about(part.label)
    pages = counted(part.major_faults, "page")
    says = f"{part.label} had to read {pages} of its memory from a disk"
    check = limits.check("M1.read", "apparatus", part.major_faults, says).about(part.label)
    return check.advising(": give it a warm-up")


def _growth(part: Usage, observation: Observation | None, limits: Thresholds) -> Check:
    unassigned = None if observation is None else observation.unassigned_shared_bytes
    shared = f"; {amount('B', unassigned)} in /dev/shm belong to no part" if unassigned else ""
    if part.memory_growth is None:
        reason = f"whether the memory of {part.label} grows is not known{because(part)}{shared}"
        return limits.check("M3", "behaviour", None, reason).about(part.label)
    says = f"the memory of {part.label} changed by {percent(part.memory_growth)} during the load"
    check = limits.check("M3", "behaviour", part.memory_growth, says + shared).about(part.label)
    return check.advising(": load longer, to see whether it ever ends")
