"""Errors, what response times leave out, samples, and whether all answer alike (E1 to E7)."""

import hashlib
from collections.abc import Container, Iterator, Mapping, Sequence

from benchforge.checks.answers import alike, under_load
from benchforge.checks.limits import Thresholds
from benchforge.checks.percentiles import USUAL, Percentiles
from benchforge.checks.seen import by_name, not_compared, requests
from benchforge.model.trial.answers.answer import (
    Answer,
    Expect,
    content_difference,
    either,
    length_difference,
    statuses_of,
)
from benchforge.model.trial.check import Check, Status, Subject
from benchforge.model.trial.reading import Reading, SampledBody, span
from benchforge.model.trial.trial import Trial
from benchforge.text.readable import conjoined, exact, figure, percent


def of_trial(trial: Trial, limits: Thresholds, percentiles: Percentiles = USUAL) -> Iterator[Check]:
    """Yield what a measured trial shows; E2 where somebody asks a percentile or a mean."""
    tails = percentiles.tails
    yield errors(trial, limits)
    if tails:
        yield censored(trial, limits, tails)
    yield alike.answers(trial, limits)
    yield alike.size(trial, limits)
    yield under_load.answers(trial, limits)


def of_comparison(cases: Sequence[Sequence[Trial]], limits: Thresholds) -> Iterator[Check]:
    """Yield what speaks against comparing cases: the believed trials of each."""
    sides = by_name(cases)
    if len(sides) > 1:
        yield errors_between(sides, limits)
        yield from alike.between(sides, limits)
    else:
        yield from not_compared(cases, limits, "E1", "E3", "E4", "E5")


def errors(trial: Trial, limits: Thresholds) -> Check:
    """E1: which share of the requests did not end well."""
    if trial.reading is None:
        return limits.check("E1", "behaviour", None, "no load was read")
    bad = _bad(trial.reading)
    total = requests(trial.reading)
    if bad is None or not total:
        return _in_doubt(trial.reading, limits)
    if not bad:
        says = f"all {exact(total)} requests ended well"
        if trial.reading.by_length:
            says += f"; {trial.reading.by_length}"
        return limits.check("E1", "behaviour", 0, says)
    says = f"{exact(bad)} of {exact(total)} requests did not end well "
    says += f"({_classes(trial, trial.reading) or 'of no class'}): errors are "
    says += "usually faster than answers, so find out why before its speed is compared"
    return limits.check("E1", "behaviour", bad / total, says)


def _classes(trial: Trial, reading: Reading) -> str:
    """Return how many requests failed of each class; of wrong statuses, which they were."""
    counts = {name: f"{name} {exact(count)}" for name, count in reading.errors.items() if count}
    right = () if trial.good_response is None else trial.good_response.statuses
    wrong = [
        f"{exact(count)} of status {key}"
        for key, count in reading.statuses.items()
        if right and count and not any(status in span(key) for status in right)
    ]
    if wrong:
        counts.pop("status", None)
    return ", ".join([*wrong, *counts.values()])


def _in_doubt(reading: Reading, limits: Thresholds) -> Check:
    surely = reading.responses - reading.good_at_most + (reading.unanswered or 0)
    total = requests(reading)
    if total and limits["E1"].status(surely / total) == "fail":
        says = f"{exact(surely)} of {exact(total)} requests at least did not end well"
        says += f": {_doubt(reading)}"
        return limits.check("E1", "behaviour", surely / total, says)
    says = f"how many requests failed is not known: {_doubt(reading)}"
    return limits.check("E1", "behaviour", None, says)


def errors_between(sides: Mapping[str, Sequence[Trial]], limits: Thresholds) -> Check:
    """E1: whether some failed more often than others, by the share of all their requests."""
    shares: dict[str, float] = {}
    for name, trials in sides.items():
        readings = [trial.reading for trial in trials if trial.reading is not None]
        bad = [_bad(reading) for reading in readings]
        total = sum(map(requests, readings))
        if None in bad or not total:
            says = f"how many requests of {name} failed is not known"
            return limits.check("E1", "behaviour", None, says).about(scope="comparison")
        shares[name] = sum(share for share in bad if share is not None) / total
    apart = max(shares.values()) - min(shares.values())
    bad_one = max(shares, key=shares.__getitem__)
    fails = apart > limits["E1"].number("between")
    says = f"their shares of errors are {percent(apart)} apart"
    if fails:
        most = percent(shares[bad_one])
        says += f": {bad_one} has most, {most}; it did other work than the others"
    status: Status = "fail" if fails else "pass"
    return limits.check("E1", "behaviour", apart, says, status).about(scope="comparison")


def censored(trial: Trial, limits: Thresholds, tails: Sequence[float]) -> Check:
    """E2: whether requests that are in no distribution reach into percentiles; the last counts.

    They timed out, or were in flight at the end: by their ages, else one for each connection.
    """
    reading = trial.reading
    recorded = None if reading is None else _recorded(reading)
    if reading is None or not recorded:
        says = "what response times leave out is not known: the tool tells none"
        return limits.check("E2", "apparatus", None, says).about(invalidates="latency")
    late = max(reading.censored, reading.errors.get("timeout", 0))
    flying = [_in_flight(trial, reading, percent / 100, late) for percent in tails]
    lost = [late + number for number in flying if number is not None]
    if not lost:
        says = "how many requests were in flight at the end is not known"
        return limits.check("E2", "apparatus", None, says).about(invalidates="latency")
    slowest = [(100 - percent) / 100 for percent in tails]
    of_each = [longest * (recorded + number) for longest, number in zip(slowest, lost, strict=True)]
    limit, value, beyond = limits["E2"], lost[-1] / of_each[-1], of_each[-1]
    fails = [limit.status(n / begun) == "fail" for n, begun in zip(lost, of_each, strict=True)]
    least = tails[fails.index(True) if fails[-1] else -1]
    unfinished, slow = exact(lost[-1] - late), percent(1 - tails[-1] / 100)
    says = f"{exact(late)} requests timed out and {unfinished} were in flight at the end, in no "
    says += f"distribution; the slowest {slow} are {figure(beyond)}"
    if fails[-1]:
        says += f": p{exact(least)} is not known, it is more than the largest time"
    if limit.status(value) != "pass":
        says += "; load for longer, or with fewer connections, or a longer time-out"
    about_server = limit.status(late / beyond) == limit.status(value) != "pass"
    subject: Subject = "behaviour" if about_server else "apparatus"
    return limits.check("E2", subject, value, says).about(f"p{least:g}", invalidates="latency")


def _bad(reading: Reading) -> int | None:
    if reading.good is None or reading.unanswered is None:
        return None
    return reading.responses - reading.good + reading.unanswered


def _doubt(reading: Reading) -> str:
    if reading.good is None:
        return reading.bounds
    return "the tool does not tell how many were not answered"


def _recorded(reading: Reading) -> int | None:
    return reading.latency.count if reading.latency is not None else reading.latency_samples


def _in_flight(trial: Trial, reading: Reading, share: float, late: int) -> int | None:
    """Return how many were in flight for longer than the percentile, at most."""
    if reading.in_flight is not None and reading.latency is not None:
        quantile = reading.latency.quantile(share, late, reading.in_flight)
        pending = reading.in_flight
        return pending.count if quantile is None else pending.between(quantile, float("inf"))
    if trial.load is None:
        return None
    # Over a connection of HTTP/2 there may be several.
    return trial.load.concurrency or trial.load.connections


_NAMED = 2
_BEGIN = 60  # characters of a wrong body in a message
_NONE_OF = 3.0
"Of n answers none is wrong: 19 times in 20, fewer than 3/n of all are (Hanley and Lippman-Hand)."


def sampled(trial: Trial, limits: Thresholds) -> Iterator[Check]:
    """Yield E7 where the load tool compared a sample."""
    reading, right = trial.reading, trial.good_response
    if reading is None or not reading.sampled or (right is None and trial.stream is None):
        return
    count = sum(answer.responses for answer in reading.sampled) + reading.sampled_others
    wrong = [answer for answer in reading.sampled if answer.wrong]
    unjudged = sum(answer.responses for answer in reading.sampled if answer.wrong is None)
    unjudged += reading.sampled_others
    bad = sum(answer.responses for answer in wrong)
    digests = {answer.sha256 for answer in trial.answers}
    strange = [answer for answer in reading.sampled if answer.sha256 not in digests]
    value: float | None = bad / max(1, count)
    status: Status | None = None
    if trial.stream is not None:
        value, says = None, f"which of {exact(count)} sampled answers are right is not known: the "
        says += "load has several kinds of requests, each with an answer of its own; E6 judges them"
    elif bad:
        says = f"{exact(bad)} of {exact(count)} sampled answers of the load are wrong: "
        says += conjoined([f"{_named(answer)}: {answer.wrong}" for answer in wrong[:_NAMED]])
    elif unjudged:
        value, says = (
            None,
            f"whether {exact(unjudged)} of {exact(count)} sampled answers are right ",
        )
        says += "is not known: no single request had their bodies, and these were not kept whole"
    elif strange and len(digests) == 1:
        status, odd = "warn", exact(sum(answer.responses for answer in strange))
        says = f"{odd} of {exact(count)} sampled answers of the load have another body than single "
        says += f"requests: {_named(strange[0])}: whether it is right is for `expect` to say"
    else:
        most = percent(min(1.0, _NONE_OF / count))
        says = f"none of {exact(count)} sampled answers of the load is wrong: at most {most} are"
    yield limits.check("E7", "behaviour", value, says, status)


def judged(reading: Reading, expect: Expect, answers: Sequence[Answer]) -> Reading:
    """Return a reading whose sampled bodies are judged: by single requests, else by `expect`."""
    digests = {answer.sha256 for answer in answers}
    sampled = tuple(body.like(wrong=_mistake(body, expect, digests)) for body in reading.sampled)
    return reading.like(sampled=sampled)


def _mistake(body: SampledBody, expect: Expect, digests: Container[str]) -> str | None:
    if body.status not in statuses_of(expect.status):
        return f"expected status {either(expect.status)}, got {body.status}"
    if body.sha256 in digests:
        return ""
    if expect.same_body or expect.body is not None:
        return "it is not the body of single requests"
    if mismatch := length_difference(expect.length, body.length):
        return mismatch
    content = (body.begin or "").encode()
    if hashlib.sha256(content).hexdigest() == body.sha256:
        return content_difference(expect, content) or ""
    return None if expect.reads_body else ""


def _named(body: SampledBody) -> str:
    begin = "" if body.begin is None else f", {body.begin[:_BEGIN]!r}"
    return f"{exact(body.responses)} of status {body.status} with {exact(body.length)} bytes{begin}"
