"""The load tool: CPU, arithmetic, schedule, waiting (L1 to L5), what it misses, its timer (O)."""

from collections.abc import Iterable, Iterator
from functools import partial

from benchforge.checks.limits import Thresholds
from benchforge.checks.machine import sharing
from benchforge.checks.percentiles import TAIL, USUAL, Percentiles
from benchforge.checks.seen import because, of_roles, users_think
from benchforge.model.trial.check import Check, Subject
from benchforge.model.trial.histogram import Histogram
from benchforge.model.trial.observation import Usage
from benchforge.model.trial.reading import Load, Reading
from benchforge.model.trial.stream import Stream
from benchforge.model.trial.trial import Trial
from benchforge.text.readable import amount, exact, figure, percent


def of_trial(trial: Trial, limits: Thresholds) -> Iterator[Check]:
    """Yield what a measured trial shows: L1, L3, L4 and L5.

    L1 is for load tools alone, and not for an open loop whose tool tells how late it was: that says
    more, and such a tool may look at the clock instead of sleeping.
    """
    cpu, reading = _cpu(trial, limits), trial.reading
    schedule = None if reading is None else reading.schedule
    # A client, and a process that a tool times, is measured itself.
    is_measured = trial.load is not None and trial.load.kind == "client"
    is_measured |= reading is not None and bool(reading.process_s)
    if not (is_measured or (schedule is not None and schedule.lateness)):
        yield cpu
    yield from _under_way(trial, limits)
    yield from _schedule(trial, limits, had_cpu=cpu.status == "pass")
    for tool in of_roles(trial, "loader"):
        yield sharing.waiting(trial, tool, "L5", limits)


def in_turns(trial: Trial, limits: Thresholds) -> Iterator[Check]:
    """Yield L1 of a trial in turns: its times are unknown, and so is what hangs on them."""
    yield _cpu(trial, limits)


def _cpu(trial: Trial, limits: Thresholds) -> Check:
    observation = trial.observation
    tools = of_roles(trial, "loader")
    if observation is None or not tools or not observation.seconds:
        return limits.check("L1", "apparatus", None, "the load tool's CPU was not looked at")
    if trial.load is not None and not trial.load.sleeps:
        reason = f"{tools[0].label} uses a CPU also while it waits: that does not tell its limit"
        return limits.check("L1", "apparatus", None, reason).about(tools[0].label)
    hottest = [(_hottest_s(usage, trial), usage) for usage in tools]
    measured = [(used, usage) for used, usage in hottest if used is not None]
    share, tool = max(
        ((used / observation.seconds / _whole(usage), usage.label) for used, usage in measured),
        default=(0.0, tools[0].label),
    )
    if len(measured) < len(tools) and limits["L1"].status(share) != "fail":
        missing = next(usage for used, usage in hottest if used is None)
        reason = f"the CPU time of each thread of {missing.label} is not known{because(missing)}"
        return limits.check("L1", "apparatus", None, reason).about(missing.label)
    quota = {usage.label: usage.quota_cpus for _, usage in measured if _whole(usage) < 1}.get(tool)
    allowance = "a CPU" if quota is None else f"the {figure(quota)} CPUs of its quota"
    says = f"the hottest thread of {tool} used {percent(share)} of {allowance}"
    advice = ": give the load tool more threads, or a machine of its own"
    return limits.advised("L1", "apparatus", share, says, advice).about(tool)


def _whole(tool: Usage) -> float:
    """Return what a thread may use, in CPUs: one, or the quota of its control group."""
    return min(1.0, tool.quota_cpus or 1.0)


def _hottest_s(tool: Usage, trial: Trial) -> float | None:
    """Return the CPU time of the hottest thread, or all of the tool's where it has one thread."""
    if tool.busiest_thread_cpu_s is not None:
        return tool.busiest_thread_cpu_s
    return tool.cpu_s if trial.load is not None and trial.load.processes == 1 else None


def _schedule(trial: Trial, limits: Thresholds, *, had_cpu: bool) -> Iterator[Check]:
    """Yield L4 of an open loop's rate and lateness; `had_cpu`: the tool had CPU to spare.

    A missed rate is the server's doing if the tool was on time: all of its connections were busy.
    Else it is the apparatus's.
    """
    reading = trial.reading
    rate = None if trial.load is None else trial.load.rate
    if reading is not None and reading.schedule is not None:
        rate = reading.schedule.rate
    if reading is None or rate is None:
        return
    late = reading.late_share(0.99)
    on_time = late is not None and limits["L4.lateness"].status(late) == "pass"
    yield _kept(trial, reading, rate, limits, on_time=on_time or (late is None and had_cpu))
    says = "the load tool does not tell how late it sent, or too little of the response times"
    if late is not None:
        says = f"the load tool was late by {percent(late)} of the response times' 99th percentile"
    advice = ": its own lateness is in them; give it more processes, or a machine of its own"
    check = limits.advised("L4.lateness", "apparatus", late, says, advice)
    yield check.about("lateness", invalidates="latency")


def _kept(trial: Trial, reading: Reading, rate: float, limits: Thresholds, on_time: bool) -> Check:
    schedule = reading.schedule
    if schedule is not None and schedule.intended and schedule.sent is not None:
        share = schedule.sent / schedule.intended
        says = f"{schedule.sent} of {schedule.intended} requests that were due were sent"
    else:
        expected = rate * reading.seconds
        share = min(1.0, (reading.responses + _unanswered(trial, reading, rate) + 1) / expected)
        answered, wanted = exact(reading.responses), exact(round(expected))
        says = f"{answered} of {wanted} requests that were asked for were answered"
    advice = f", and it is not known that the load tool could keep {exact(rate)}/s: ask for less"
    if on_time:
        advice = f", and the load tool had time: the server cannot keep {exact(rate)}/s"
    subject: Subject = "behaviour" if on_time else "apparatus"
    return limits.advised("L4", subject, share, says, advice).about("rate")


def _unanswered(trial: Trial, reading: Reading, rate: float) -> float:
    """Return how many were sent and not answered at the end: by Little's law, where it is so."""
    mean_us = reading.mean_us
    if reading.latency is not None and reading.latency.counts:
        mean_us = reading.latency.mean()
    # Times that count from when a request was due grow without bound: the connections bound it.
    most = None if trial.load is None else trial.load.concurrency
    return min(rate * (mean_us or 0.0) / 1e6, most or 0)


def _under_way(trial: Trial, limits: Thresholds) -> Iterator[Check]:
    """Yield L3 of a closed loop that a load tool drives; nothing of a client, which is measured.

    The time that all requests spent under way, over the time that the loop had, is by Little's law
    the mean number of requests under way: X times R, with the time for thinking X times (R + Z). It
    cannot be more than the loop allows, and a loop that is driven is hardly ever idle.
    """
    reading, load = trial.reading, trial.load
    if reading is None or reading.schedule is not None or reading.process_s:
        return
    if load is not None and (load.rate is not None or load.kind == "client"):
        return
    if load is None or load.concurrency is None:
        reason = "how many requests the load tool keeps under way is not known"
        yield limits.check("L3", "apparatus", None, reason)
        return
    under_way = _under_way_us(reading, _thought_us(trial.stream, reading, load))
    if under_way is None:
        yield limits.check("L3", "apparatus", None, "the load tool tells no mean of its times")
        return
    yield _littles_law(reading, load, under_way / (reading.seconds * 1e6), limits)


def _littles_law(reading: Reading, load: Load, under_way: float, limits: Thresholds) -> Check:
    allowed = load.concurrency or 1
    share = under_way / allowed
    says = f"{figure(under_way)} requests were under way on average, of {allowed} that may be"
    if limits["L3.synthetic"].status(share) == "fail":
        says += ": that cannot be, so its times or its rate are wrong; use another load tool"
        return limits.check("L3.synthetic", "apparatus", share, says)
    most = share
    if reading.in_flight is None:  # what was under way at the end is not among the times
        most += _age_us(reading) / (reading.seconds * 1e6)
    if limits["L3"].status(most) == "pass":
        return limits.check("L3", "apparatus", share, says, "pass")
    # Those that were given up may have taken to the load's end.
    beyond_us = reading.censored * max(0, reading.seconds * 1e6 - (reading.censored_from_us or 0))
    longest = most + beyond_us / (reading.seconds * 1e6) / allowed
    if hidden := _hidden(reading, explains=limits["L3"].status(longest) == "pass"):
        says += f", and {hidden}: whether it was idle is not known"
        return limits.check("L3", "apparatus", None, says)
    says += f": for {percent(1 - share)} of the time the load tool was idle, opened connections or "
    says += "waited for what never came; see its CPU, and load longer"
    return limits.check("L3", "apparatus", share, says, "warn")


def _thought_us(stream: Stream | None, reading: Reading, load: Load) -> float:
    """Return the time of all pauses: a kind's own come instead of those of the load tool."""
    thought = load.think_s * reading.responses
    for label, kind in (stream.kinds if stream else {}).items():
        if kind.think_s is not None and label in reading.kinds:
            thought += (kind.think_s - load.think_s) * reading.kinds[label].responses
    return thought * 1e6


def _under_way_us(reading: Reading, thought: float) -> float | None:
    late = reading.censored * (reading.censored_from_us or 0)
    young = reading.in_flight.sum_us if reading.in_flight else 0
    if reading.latency is not None and reading.latency.counts:
        return reading.latency.sum_us + late + young + thought
    if reading.mean_us is None:
        return None
    return reading.mean_us * (reading.latency_samples or reading.responses) + late + young + thought


def _age_us(reading: Reading) -> float:
    """Return how old a request is at the load's end, on average.

    Long ones are met more often: sum of squares over twice the sum (residual life of a renewal
    process). Without a histogram it is the mean, as if the times were exponential.
    """
    if reading.latency is None or not reading.latency.sum_us:
        return reading.mean_us or 0.0
    squares = sum(value * value * count for value, count in reading.latency.values())
    return squares / (2 * reading.latency.sum_us)


def _hidden(reading: Reading, *, explains: bool) -> str:
    """Return whose time is not told; "" where all is, or what is late does not explain it."""
    if reading.censored and explains:
        return f"{reading.censored} requests took longer than it records"
    if reading.unanswered is None:
        return "how many requests got no response is not told"
    # Of some tools what took too long is a response, of others it is none.
    timed = 0 if reading.latency is None else reading.latency.count
    late = max(0, reading.censored - max(0, reading.responses - timed))
    lost = reading.unanswered - late
    return f"how long {lost} requests without a response took is not told" if lost > 0 else ""


P = TAIL / 100
_FINE_S = 0.1  # bins that the gap test needs
_TIMES_MEDIAN = 10
_COARSE = "wrk2:1ms-timer"
_UNCORRECTED = "uncorrected_p50_us"


def omission(trial: Trial, limits: Thresholds, percentiles: Percentiles = USUAL) -> Iterator[Check]:
    """Yield O1 of a closed loop and O2 of wrk2.

    O1 needs a tail or a mean: below them, requests that are slow by their kind look like a server
    that stood still.
    """
    reading, tails = trial.reading, percentiles.tails
    if reading is None:
        return
    if _COARSE in reading.defects:
        yield _timer(reading, limits)
    load = trial.load  # of a client and at a rate no user waits in a closed loop
    is_open_or_client = load is not None and (load.rate is not None or load.kind == "client")
    closed = not (reading.schedule or reading.process_s or is_open_or_client)
    if closed and tails and tails[-1] >= TAIL:
        yield _omission(reading, users_think(trial), limits).about(invalidates="latency")


def residual_us(histogram: Histogram, p: float) -> float | None:
    """Return the microseconds t with S_R(t) = 1 - p: what p of all random moments would wait.

    S_R(t) is the sum of max(v - t, 0) over that of v, the residual life of a renewal process. It is
    made of straight lines between the values, which are walked from the largest.
    """
    values = [(value, count) for value, count in histogram.values() if value]
    shorter = (1 - p) * sum(value * count for value, count in values)
    longer = weight = 0
    for index in range(len(values) - 1, -1, -1):
        value, count = values[index]
        longer, weight = longer + count, weight + value * count
        t = (weight - shorter) / longer
        if t >= (values[index - 1][0] if index else 0):
            return t
    return None


def _omission(reading: Reading, thinks: bool, limits: Thresholds) -> Check:
    check = partial(limits.check, "O1", "apparatus")
    if reading.latency is None or not reading.latency.counts:
        reason = "the load tool gives no histogram of its response times"
        return check(None, f"{reason}: whether it missed is unknown")
    if reading.censored and reading.censored_from_us is None:
        return check(None, f"{reading.censored} requests took longer than the load tool records")
    # Requests without a response time took at least so long.
    late = Histogram.of({reading.censored_from_us or 0: reading.censored})
    young = () if reading.in_flight is None else (reading.in_flight,)
    times = Histogram.added((reading.latency, late, *young))
    raw_us, waits_us = times.quantile(P), residual_us(times, P)
    if not raw_us or waits_us is None:
        return check(None, "the response times are too short for the load tool's clock")
    value = waits_us / raw_us
    # Of what took longer than is recorded only this is known: the truth is above both numbers.
    more = "more than " if reading.censored else ""
    longest = amount("us", reading.censored_from_us or 0)
    if reading.latency.quantile(P, reading.censored) is None:
        return check(None, f"p99 itself is longer than the {longest} that the load tool records")
    says = f"at random moments p99 would be {more}{amount('us', waits_us)}, {more}{figure(value)} "
    says += "times that of the closed loop"
    if more:
        says += f", which records no response time above {longest}"
    # A pause of users ends nothing for other reasons, too.
    stalls = "" if thinks else _stalls(reading, times.quantile(0.5) or 0, waits_us)
    advice = f"{stalls}: measure response times at a rate, with pace"
    return limits.advised("O1", "apparatus", value, says, advice)


def _stalls(reading: Reading, median_us: float, waits_us: float) -> str:
    """Say whether the whole server stood still: by gaps of all connections that are long enough."""
    series = reading.series
    if series is None or series.bin_s > _FINE_S * 1.001:
        return ""
    longest = _longest_gap(series.completed) * series.bin_s
    if longest >= max(_FINE_S, _TIMES_MEDIAN * median_us / 1e6, waits_us / 1e6 / 2):
        return f"; the whole server stood still, for {amount('s', longest)} at the longest"
    return "; single requests were slow while others were answered"


def _longest_gap(completed: Iterable[int]) -> int:
    """Return the most bins in a row in which nothing ended, between two in which something did."""
    bins = "".join("1" if count else " " for count in completed).strip()
    return max(map(len, bins.split("1")))


def _timer(reading: Reading, limits: Thresholds) -> Check:
    median_us = (reading.percentiles_us or {}).get("50")
    uncorrected = reading.printed.get(_UNCORRECTED)
    if median_us is None or not isinstance(uncorrected, int | float):
        reason = "wrk2 told no times from the real sending, so how late its timer was is not known"
        return limits.check("O2", "apparatus", None, reason).about(invalidates="latency")
    value = max(0.0, median_us - uncorrected) / 1e6
    says = f"half of the response times have {amount('s', value)} or more of wrk2's own timer"
    check = limits.advised("O2", "apparatus", value, says, ": use pace, which is built in")
    return check.about(invalidates="latency")
