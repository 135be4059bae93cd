"""Little's law held against what a closed loop tells (L3).

The time that all requests spent under way, over the time that the loop had, is the mean number of
requests under way: X times R, with the time for thinking X times (R + Z). It cannot be more than
the loop allows, and a loop that is driven is hardly ever idle.
"""

from collections.abc import Iterator

from benchforge.checks.limits import Thresholds
from benchforge.model.trial.check import Check
from benchforge.model.trial.reading import Reading
from benchforge.model.trial.stream import Stream
from benchforge.model.trial.trial import Load, Trial
from benchforge.text.readable import figure, percent


def of_trial(trial: Trial, limits: Thresholds) -> Iterator[Check]:
    """Yield L3 of a closed loop that a load tool drives; nothing of a client, which is measured."""
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
    yield _judged(reading, load, under_way / (reading.seconds * 1e6), limits)


def _judged(reading: Reading, load: Load, under_way: float, limits: Thresholds) -> Check:
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
    """Return the time of all requests together, at least, and of the pauses."""
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
