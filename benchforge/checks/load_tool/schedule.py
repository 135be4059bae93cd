"""Rate and lateness of an open loop (L4); a closed loop has none.

A missed rate is the server's doing if the tool was on time: all of its connections were busy. Else
it is the apparatus's.
"""

from collections.abc import Iterator

from benchforge.checks.limits import Thresholds
from benchforge.model.trial.check import Check, Subject
from benchforge.model.trial.histogram import Histogram
from benchforge.model.trial.reading import Reading
from benchforge.model.trial.trial import Trial
from benchforge.text.readable import exact, percent


def of_trial(trial: Trial, limits: Thresholds, *, had_cpu: bool) -> Iterator[Check]:
    """Yield L4 of an open loop's rate and lateness; `had_cpu`: the tool had CPU to spare."""
    reading, rate = trial.reading, _requested_rate(trial)
    if reading is None or rate is None:
        return
    late = reading.late_share(0.99)
    on_time = late is not None and limits["L4.lateness"].status(late) == "pass"
    yield _kept(trial, reading, rate, limits, on_time=on_time or (late is None and had_cpu))
    says = "the load tool does not tell how late it sent, or too little of the response times"
    if late is not None:
        says = f"the load tool was late by {percent(late)} of the response times' 99th percentile"
        if not on_time:
            says += ": its own lateness is in them; give it more processes, or a machine of its own"
    check = limits.check("L4.lateness", "apparatus", late, says)
    yield check.about("lateness", invalidates="latency")


def lateness(trial: Trial) -> Histogram | None:
    """Return by how much the tool itself was late, where it tells."""
    schedule = None if trial.reading is None else trial.reading.schedule
    return schedule.lateness if schedule is not None else None


def _requested_rate(trial: Trial) -> float | None:
    """Return the requests per second that were asked for; None for a closed loop."""
    if trial.reading is not None and trial.reading.schedule is not None:
        return trial.reading.schedule.rate
    return None if trial.load is None else trial.load.rate


def _kept(trial: Trial, reading: Reading, rate: float, limits: Thresholds, on_time: bool) -> Check:
    schedule = reading.schedule
    if schedule is not None and schedule.intended and schedule.sent is not None:
        share = schedule.sent / schedule.intended
        says = f"{schedule.sent} of {schedule.intended} requests that were due were sent"
    else:
        expected = rate * reading.seconds
        share = min(1.0, (reading.responses + _under_way(trial, reading, rate) + 1) / expected)
        answered, wanted = exact(reading.responses), exact(round(expected))
        says = f"{answered} of {wanted} requests that were asked for were answered"
    if limits["L4"].status(share) != "pass" and on_time:
        says += f", and the load tool had time: the server cannot keep {exact(rate)}/s"
    elif limits["L4"].status(share) != "pass":
        says += f", and it is not known that the load tool could keep {exact(rate)}/s: ask for less"
    subject: Subject = "behaviour" if on_time else "apparatus"
    return limits.check("L4", subject, share, says).about("rate")


def _under_way(trial: Trial, reading: Reading, rate: float) -> float:
    """Return how many were sent and not answered at the end: by Little's law, where it is so."""
    mean_us = reading.mean_us
    if reading.latency is not None and reading.latency.counts:
        mean_us = reading.latency.mean()
    # Times that count from when a request was due grow without bound: the connections bound it.
    most = None if trial.load is None else trial.load.concurrency
    return min(rate * (mean_us or 0.0) / 1e6, most or 0)
