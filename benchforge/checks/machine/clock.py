"""Clocks: the machine's and the CPUs', with heat and governor; and changed facts (F, G1, T)."""

from collections.abc import Iterator, Sequence
from statistics import fmean

from pydantic import JsonValue

from benchforge.checks.limits import Thresholds
from benchforge.checks.seen import NOT_LOOKED_AT, machine_of
from benchforge.model.files.result import Header
from benchforge.model.trial.check import Check, Status
from benchforge.model.trial.trial import Trial
from benchforge.text.readable import amount, conjoined, figure, listed, percent

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
        advice = ": some load tools time by it; let the machine's clock settle first"
        yield limits.advised("T2", "apparatus", abs(step_s), says, advice)
    unseen_s = None if machine is None else machine.longest_gap_s
    if observation is None or unseen_s is None:
        reason = NOT_LOOKED_AT if machine is None else "it was too short"
        yield limits.check("T3", "apparatus", None, f"whether all of it was watched: {reason}")
        return
    lost_s = max(0.0, unseen_s - observation.sampler_cpu_s)  # without what looking itself took
    says = f"for {amount('s', lost_s)} of the load nothing was looked at"
    stood = ": benchforge or the whole machine stood still (SIGSTOP, a suspended machine, want"
    stood += " of CPU); what happened meanwhile is not known"
    yield limits.advised("T3", "apparatus", lost_s, says, stood)


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
    count = None if unseen else float(len(others))
    status: Status = "unknown" if unseen else "fail" if others else "pass"
    says = "the machine's hard facts were the same before each trial"
    if unseen:
        says = f"whether the machine stayed the same is not known of {_named(unseen)}"
    elif others:
        names = list(dict.fromkeys(fact for trial in others for fact in trial.changed_facts))
        changes = listed(names, _SHOWN) if names else "a hard fact"
        says = f"the machine changed while it was measured ({_named(others)}: {changes})"
        says += ": begin anew, and leave its settings alone"
    yield limits.check("G1", "apparatus", count, says, status).about(scope="result")


def _named(trials: Sequence[Trial]) -> str:
    numbers = listed((str(trial.number) for trial in trials), _SHOWN)
    return f"{'trial' if len(trials) == 1 else 'trials'} {numbers}"


_FIX = "fix it (governor performance, no turbo)"
_BOOST = {"boost": "1", "no_turbo": "0"}
"What the files of the kernel say where the frequency may rise above the nominal one."


def frequency(trial: Trial, limits: Thresholds) -> Iterator[Check]:
    """Yield what a measured trial shows: F1, and F2 within the trial."""
    machine = machine_of(trial)
    hot = None if machine is None else machine.overheated
    if machine is None or hot is None:
        reason = NOT_LOOKED_AT if machine is None else "the kernel does not count it"
        yield limits.check("F1", "apparatus", None, f"slowed down for heat: {reason}")
    else:
        says = f"CPUs were slowed down {hot} times for their heat"
        yield limits.advised("F1", "apparatus", hot, says, ": cool the machine, or load it less")
    frequency = None if machine is None else machine.frequency_mhz
    if frequency is None or not frequency[1]:
        reason = NOT_LOOKED_AT if machine is None else "the kernel does not tell it"
        yield limits.check("F2", "apparatus", None, f"the frequency of the CPUs: {reason}")
        return
    lowest, mean, highest = frequency
    says = f"the CPUs ran at {figure(lowest)} to {figure(highest)} MHz"
    value = (highest - lowest) / mean
    yield limits.advised("F2", "apparatus", value, says, f": {_FIX}")


def frequencies(cases: Sequence[Sequence[Trial]], limits: Thresholds) -> Iterator[Check]:
    """Yield what speaks against comparing cases: F2, where their mean frequencies differ."""
    means = [_mean_mhz(trials) for trials in cases if trials]
    measured = [mean for mean in means if mean]
    if len(means) < 2:  # noqa: PLR2004 - one alone is compared with nothing
        return
    if len(measured) < len(means):
        reason = "the frequency of the CPUs is not known for each case"
        yield limits.check("F2.between", "apparatus", None, reason).about(scope="comparison")
        return
    value = max(measured) / min(measured) - 1
    lowest, highest = figure(min(measured)), figure(max(measured))
    says = f"the CPUs of the cases ran at {lowest} to {highest} MHz on average"
    advice = f", {percent(value)} apart: {_FIX}"
    yield limits.advised("F2.between", "apparatus", value, says, advice).about(scope="comparison")


def governor(header: Header, trials: Sequence[Trial], limits: Thresholds) -> Iterator[Check]:
    """Yield what speaks against a whole result: F3, governor, turbo and power, and F4, heat."""
    yield _governor(header.facts, limits)
    yield _temperature(trials, limits)


def _governor(facts: dict[str, JsonValue], limits: Thresholds) -> Check:
    governor = facts.get("governor")
    profile = facts.get("power_profile")
    boosts = [facts[name] == on for name, on in _BOOST.items() if facts.get(name) is not None]
    wrong = [
        *([f"the governor is {governor}"] if governor not in {None, "performance"} else []),
        *(["the CPUs may go into turbo"] if any(boosts) else []),
        *(["it runs on battery"] if facts.get("mains") is False else []),
        *([f"its power profile is {profile}"] if profile not in {None, "performance"} else []),
    ]
    status: Status = "pass"
    says = "the governor is performance, and there is no turbo"
    if wrong:
        status = "warn"
        says = f"{conjoined(wrong)}: the frequency follows load and heat; fix it"
    elif governor is None or not boosts:
        setting = "turbo" if governor else "the governor"
        guest = ": the machine is a guest" if facts.get("virtual") else ""
        status, says = "unknown", f"{setting} is not told by the kernel{guest}"
    return limits.check("F3", "apparatus", None, says, status).about(scope="result")


def _temperature(trials: Sequence[Trial], limits: Thresholds) -> Check:
    readings = [
        None if (machine := machine_of(trial)) is None else machine.temperature_c
        for trial in sorted(trials, key=lambda trial: trial.number)
        if trial.measured
    ]
    temperatures = [reading[0] for reading in readings if reading is not None]
    away = max((abs(temperature - temperatures[0]) for temperature in temperatures), default=0.0)
    few = len(temperatures) < len(readings)
    if not temperatures or (few and limits["F4"].status(away) == "pass"):
        reason = f"the temperature is known of {len(temperatures)} of {len(readings)} trials"
        return limits.check("F4", "apparatus", None, reason).about(scope="result")
    says = f"before the loads it was up to {figure(away)} degrees away from the first one's"
    advice = ": warm the machine up before, or wait between trials"
    return limits.advised("F4", "apparatus", away, says, advice).about(scope="result")


def _mean_mhz(trials: Sequence[Trial]) -> float | None:
    """Return the mean frequency of a case's trials; None where it is not known of each."""
    machines = [machine_of(trial) for trial in trials]
    means = [machine.frequency_mhz for machine in machines if machine and machine.frequency_mhz]
    return fmean(mean[1] for mean in means) if means and len(means) == len(trials) else None
