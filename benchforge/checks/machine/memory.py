"""Swap, kills for want of memory, and memory that grows (M1 to M3)."""

from collections.abc import Iterator, Mapping

from benchforge.checks.limits import Thresholds
from benchforge.checks.seen import NOT_LOOKED_AT, because
from benchforge.model.trial.check import Check
from benchforge.model.trial.observation import Observation, Usage
from benchforge.model.trial.trial import Trial
from benchforge.text.readable import amount, counted, percent


def of_trial(trial: Trial, limits: Thresholds) -> Iterator[Check]:
    """Yield M1 of the machine and of each service, M2, and M3 of each service.

    A load tool grows with what it notes.
    """
    observation = trial.observation
    yield _swap(observation, limits)
    yield _killed(observation, limits)
    for part in () if observation is None else observation.usage:
        if part.role != "loader":
            yield _read(part, limits)
            yield _growth(part, observation, limits)


def _swap(observation: Observation | None, limits: Thresholds) -> Check:
    paging = _paging(observation)
    if not {"pswpin", "pswpout"} <= paging.keys():
        return limits.check("M1", "apparatus", None, f"swap: {_why(observation)}")
    pages = paging["pswpin"] + paging["pswpout"]
    says = f"{counted(pages, 'page')} went to or from swap"
    says += ": end what takes the memory, or load less" if pages else ""
    return limits.check("M1", "apparatus", pages, says)


def _killed(observation: Observation | None, limits: Thresholds) -> Check:
    paging = _paging(observation)
    if "oom_kill" not in paging:
        reason = f"kills for want of memory: {_why(observation)}"
        return limits.check("M2", "apparatus", None, reason)
    killed = paging["oom_kill"]
    says = f"processes that the kernel killed for want of memory: {killed}"
    says += ": see its log (dmesg), and give them more" if killed else ""
    return limits.check("M2", "apparatus", killed, says)


def _paging(observation: Observation | None) -> Mapping[str, int]:
    return {} if observation is None or observation.machine is None else observation.machine.paging


def _why(observation: Observation | None) -> str:
    looked = observation is not None and observation.machine is not None
    return "the kernel does not tell (/proc/vmstat)" if looked else NOT_LOOKED_AT


def _read(part: Usage, limits: Thresholds) -> Check:
    """Return M1 of a part: a warning where it waited for pages of a disk."""
    if part.major_faults is None:
        reason = f"how much {part.label} read from a disk to run is not known{because(part)}"
        return limits.check("M1.read", "apparatus", None, reason).about(part.label)
    pages = counted(part.major_faults, "page")
    says = f"{part.label} had to read {pages} of its memory from a disk"
    if limits["M1.read"].status(part.major_faults) != "pass":
        says += ": give it a warm-up"
    return limits.check("M1.read", "apparatus", part.major_faults, says).about(part.label)


def _growth(part: Usage, observation: Observation | None, limits: Thresholds) -> Check:
    unassigned = None if observation is None else observation.unassigned_shared_bytes
    shared = f"; {amount('B', unassigned)} in /dev/shm belong to no part" if unassigned else ""
    if part.memory_growth is None:
        reason = f"whether the memory of {part.label} grows is not known{because(part)}{shared}"
        return limits.check("M3", "behaviour", None, reason).about(part.label)
    says = f"the memory of {part.label} changed by {percent(part.memory_growth)} during the load"
    says += shared
    if limits["M3"].status(part.memory_growth) != "pass":
        says += ": load longer, to see whether it ever ends"
    return limits.check("M3", "behaviour", part.memory_growth, says).about(part.label)
