"""The clock's source, whether it was set meanwhile, and whether time was lost (T1, T2, T3)."""

from collections.abc import Iterator, Sequence

from benchforge.checks.limits import Thresholds
from benchforge.checks.seen import NOT_LOOKED_AT, machine_of
from benchforge.model.files.result import Header
from benchforge.model.trial.check import Check, Status
from benchforge.model.trial.trial import Trial
from benchforge.text.readable import amount

_GOOD = ("tsc", "kvm-clock", "arch_sys_counter")
_GOOD_FAMILY = "hyperv_clocksource_"


def of_trial(trial: Trial, limits: Thresholds) -> Iterator[Check]:
    """Yield what a measured trial shows: T2 and T3."""
    observation, machine = trial.observation, machine_of(trial)
    step_s = None if machine is None else machine.clock_step_s
    if step_s is None:
        reason = NOT_LOOKED_AT if machine is None else "the two clocks were not compared"
        yield limits.check("T2", "apparatus", None, f"whether the clock was set: {reason}")
    else:
        says = f"the wall clock moved by {amount('s', abs(step_s))} against the monotonic one"
        check = limits.check("T2", "apparatus", abs(step_s), says)
        yield check.advising(": some load tools time by it; let the machine's clock settle first")
    unseen_s = None if machine is None else machine.longest_gap_s
    if observation is None or unseen_s is None:
        reason = NOT_LOOKED_AT if machine is None else "it was too short"
        yield limits.check("T3", "apparatus", None, f"whether all of it was watched: {reason}")
        return
    lost_s = max(0.0, unseen_s - observation.sampler_cpu_s)  # without what looking itself took
    says = f"for {amount('s', lost_s)} of the load nothing was looked at"
    stood = ": benchforge or the whole machine stood still (SIGSTOP, a suspended machine, want"
    stood += " of CPU); what happened meanwhile is not known"
    yield limits.check("T3", "apparatus", lost_s, says).advising(stood)


def of_session(header: Header, trials: Sequence[Trial], limits: Thresholds) -> Iterator[Check]:
    """Yield what speaks against response times of a result: T1, a clock that is slow to read."""
    source = header.facts.get("clocksource")
    status: Status = "unknown"
    says = "the kernel does not tell its clock source"
    if isinstance(source, str) and source:
        status = "pass" if source in _GOOD or source.startswith(_GOOD_FAMILY) else "fail"
        says = f"the kernel's clock source is {source}"
    if status == "fail":
        says += ": it is slow to read, which is part of short response times; use another machine"
    check = limits.check("T1", "apparatus", None, says, status)
    yield check.about(scope="result", invalidates="latency")
