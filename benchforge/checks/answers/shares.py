"""Shares of a mix's kinds (R1), and the tool's proof of them (R2)."""

import math
from collections.abc import Iterator, Mapping

from benchforge.checks.limits import Thresholds
from benchforge.model.trial.check import Check
from benchforge.model.trial.reading import Reading
from benchforge.model.trial.stream import Stream
from benchforge.model.trial.trial import Trial
from benchforge.text.readable import counted, exact, figure

_SIGMAS = 5


def of_trial(trial: Trial, limits: Thresholds) -> Iterator[Check]:
    """Yield R1 and R2 of a mix; nothing for one request."""
    if trial.stream is not None and trial.reading is not None:
        yield _shares(trial, trial.stream, trial.reading, limits)
        yield _taken(trial, trial.reading, limits)


def _shares(trial: Trial, stream: Stream, reading: Reading, limits: Thresholds) -> Check:
    """R1: whether the completed requests of each kind have its share, to within one deck.

    A flow counts once. Its later steps have its share with those that were not reached.
    """
    ended = {
        label: reading_.responses + (reading_.unanswered or 0) + (reading_.not_reached or 0)
        for label, reading_ in reading.kinds.items()
    }
    begins = {label: kind.share for label, kind in stream.kinds.items() if kind.after is None}
    total, sum_of_all = sum(ended.get(label, 0) for label in begins), sum(begins.values())
    if not total:
        says = "the load tool does not say how many requests of each kind were answered"
        return limits.check("R1", "apparatus", None, says)
    shares = {label: kind.share / sum_of_all for label, kind in stream.kinds.items()}
    slack = _slack(trial, stream, reading, shares)
    apart = {
        label: abs(ended.get(label, 0) - total * share) - slack[label]
        for label, share in shares.items()
    }
    worst = max(apart, key=lambda label: apart[label])
    got, share = ended.get(worst, 0) / total, shares[worst]
    unit = "requests" if len(begins) == len(stream.kinds) else "flows and other requests"
    says = f"{worst} has {figure(100 * got)} % of {exact(total)} {unit}, "
    says += f"declared are {figure(100 * share)} %"
    beyond = max(0.0, apart[worst]) / total
    if beyond:
        says += ": the load was another mix"
    return limits.check("R1", "apparatus", beyond, says)


def _taken(trial: Trial, reading: Reading, limits: Thresholds) -> Check:
    """R2: whether the tool says which records it sent, and that agrees with what was answered."""
    stream = trial.stream
    if not reading.records_taken or stream is None:
        says = "the load tool does not report which requests it sent: compare others, such as wrk"
        return limits.check("R2", "apparatus", None, says, "warn")
    taken = sum(reading.records_taken)
    ended = reading.responses + (reading.unanswered or 0)
    over = taken - ended
    says = f"{exact(taken)} records of the stream were taken, {exact(ended)} requests ended"
    if taken < reading.responses or over > _at_once(trial):
        says += f": {exact(abs(over))} {'more' if over > 0 else 'fewer'} than that"
        return limits.check("R2", "apparatus", None, says, "fail")
    if reading.stream_began_again:
        again = counted(reading.stream_began_again, "time")
        says += f"; the stream of {exact(stream.records)} records began again {again}"
    return limits.check("R2", "apparatus", None, says, "pass")


def _slack(
    trial: Trial, stream: Stream, reading: Reading, shares: Mapping[str, float]
) -> dict[str, float]:
    """Return how far the number of each kind may be from its share, by label.

    It may be a deck for each process, and what is under way at the end. What one process took more
    than another is a sample of the stream, and a step of a flow may wait for the end of a pause:
    by Little's law their mean is the rate times the pause. Both numbers are within five standard
    deviations but in one case of a million.
    """
    taken = reading.records_taken or (0,)
    always = stream.deck * len(taken) + _at_once(trial)
    uneven = sum(taken) - len(taken) * min(taken)
    waiting: dict[str, float] = {}
    for label, kind in stream.kinds.items():
        parent = reading.kinds.get(kind.after or "")
        mean = (parent.responses if parent else 0) / reading.seconds * (kind.think_s or 0.0)
        waiting[label] = waiting.get(kind.after or "", 0.0) + mean + _SIGMAS * math.sqrt(mean)
    return {
        label: always + waiting[label] + _SIGMAS * math.sqrt(max(0.0, uneven * share * (1 - share)))
        for label, share in shares.items()
    }


def _at_once(trial: Trial) -> int:
    load = trial.load
    return 1 if load is None else max(load.concurrency or 0, load.connections or 0, 1)
