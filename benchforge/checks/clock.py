"""The clock's source, and whether it was set meanwhile (T1, T2)."""

from collections.abc import Iterator, Sequence

from benchforge.checks.limits import Limits
from benchforge.checks.words import NOT_LOOKED_AT
from benchforge.model.check import Check
from benchforge.model.result import Header
from benchforge.model.trial import Trial

_GOOD = ("tsc", "kvm-clock", "arch_sys_counter")
_GOOD_FAMILY = "hyperv_clocksource_"


def of_trial(trial: Trial, limits: Limits) -> Iterator[Check]:
    """Yield what a measured trial shows: T2, how far the wall clock was moved."""
    machine = None if trial.observation is None else trial.observation.machine
    step_s = None if machine is None else machine.clock_step_s
    if step_s is None:
        why = NOT_LOOKED_AT if machine is None else "the two clocks were not compared"
        yield limits.check("T2", "apparatus", None, f"whether the clock was set: {why}")
        return
    says = f"the wall clock moved by {abs(step_s) * 1000:.3g} ms against the monotonic one"
    if limits["T2"].status(abs(step_s)) != "pass":
        says += ": some load tools time by it; let the machine's clock settle first"
    yield limits.check("T2", "apparatus", abs(step_s), says)


def of_session(header: Header, trials: Sequence[Trial], limits: Limits) -> Iterator[Check]:
    """Yield what speaks against a whole result: T1, a clock that is slow to read or unsteady.

    It is a failure for response times, which are microseconds.
    """
    source = header.facts.get("clocksource")
    if not isinstance(source, str) or not source:
        why = "the kernel does not tell its clock source"
        yield limits.check("T1", "apparatus", None, why, scope="session", numbers="latency")
        return
    good = source in _GOOD or source.startswith(_GOOD_FAMILY)
    says = f"the kernel's clock source is {source}"
    if not good:
        says += ": it is slow to read, which is part of short response times; use another machine"
    yield limits.check(
        "T1",
        "apparatus",
        None,
        says,
        status="pass" if good else "fail",
        scope="session",
        numbers="latency",
    )
