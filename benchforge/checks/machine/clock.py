"""The clock (T1 to T3), and changes of the machine between trials (G1)."""

from collections.abc import Iterator, Sequence

from benchforge.checks.limits import Thresholds
from benchforge.checks.seen import NOT_LOOKED_AT, machine_of
from benchforge.model.files.result import Header
from benchforge.model.trial.check import Check, Status
from benchforge.model.trial.trial import Trial
from benchforge.text.readable import amount, listed

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


_SHOWN = 3


def unchanged(header: Header, trials: Sequence[Trial], limits: Thresholds) -> Iterator[Check]:
    """Yield G1: whether each trial began on the machine that the header tells of."""
    if not header.fingerprint:
        says = "whether the machine stayed the same was not looked at: an older benchforge measured"
        yield limits.check("G1", "apparatus", None, says).about(scope="result")
        return
    others = [trial for trial in trials if trial.fingerprint != header.fingerprint]
    unseen = [trial for trial in others if not trial.fingerprint]
    if unseen:
        says = f"whether the machine stayed the same is not known of {_named(unseen)}"
        yield limits.check("G1", "apparatus", None, says).about(scope="result")
    elif others:
        names = list(dict.fromkeys(fact for trial in others for fact in trial.changed_facts))
        changes = listed(names, _SHOWN) if names else "a hard fact"
        says = f"the machine changed while it was measured ({_named(others)}: {changes})"
        says += ": begin anew, and leave its settings alone"
        count = float(len(others))
        yield limits.check("G1", "apparatus", count, says, "fail").about(scope="result")
    else:
        says = "the machine's hard facts were the same before each trial"
        yield limits.check("G1", "apparatus", 0.0, says, "pass").about(scope="result")


def _named(trials: Sequence[Trial]) -> str:
    numbers = listed((str(trial.number) for trial in trials), _SHOWN)
    return f"{'trial' if len(trials) == 1 else 'trials'} {numbers}"
