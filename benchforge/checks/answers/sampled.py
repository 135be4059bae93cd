"""Comparison of a random sample of the load's answers with single ones (E7)."""

import hashlib
from collections.abc import Container, Iterator, Sequence

from benchforge.checks.limits import Thresholds
from benchforge.model.trial.answers.answer import (
    Answer,
    Expect,
    content_difference,
    either,
    length_difference,
    statuses_of,
)
from benchforge.model.trial.check import Check
from benchforge.model.trial.reading import Reading, SampledBody
from benchforge.model.trial.trial import Trial
from benchforge.text.readable import conjoined, exact, percent

_NAMED = 2
_BEGIN = 60  # characters of a wrong body in a message
_NONE_OF = 3.0
"Of n answers none is wrong: 19 times in 20, fewer than 3/n of all are (Hanley and Lippman-Hand)."


def of_trial(trial: Trial, limits: Thresholds) -> Iterator[Check]:
    """Yield E7 where the load tool compared a sample."""
    reading, right = trial.reading, trial.good_response
    if reading is None or not reading.sampled:
        return
    count = sum(answer.responses for answer in reading.sampled) + reading.sampled_others
    if trial.stream is not None:
        says = f"which of {exact(count)} sampled answers are right is not known: the load has "
        says += "several kinds of requests, each with an answer of its own; E6 judges them"
        yield limits.check("E7", "behaviour", None, says)
        return
    if right is None:
        return
    wrong = [answer for answer in reading.sampled if answer.wrong]
    unjudged = sum(answer.responses for answer in reading.sampled if answer.wrong is None)
    unjudged += reading.sampled_others
    bad = sum(answer.responses for answer in wrong)
    if bad:
        says = f"{exact(bad)} of {exact(count)} sampled answers of the load are wrong: "
        says += conjoined([f"{_named(answer)}: {answer.wrong}" for answer in wrong[:_NAMED]])
        yield limits.check("E7", "behaviour", bad / count, says)
        return
    if unjudged:
        says = f"whether {exact(unjudged)} of {exact(count)} sampled answers are right is not "
        says += "known: no single request had their bodies, and these were not kept whole"
        yield limits.check("E7", "behaviour", None, says)
        return
    digests = {answer.sha256 for answer in trial.answers}
    strange = [answer for answer in reading.sampled if answer.sha256 not in digests]
    if strange and len(digests) == 1:
        odd = sum(answer.responses for answer in strange)
        says = f"{exact(odd)} of {exact(count)} sampled answers of the load have another body than "
        says += f"single requests: {_named(strange[0])}: whether it is right is for `expect` to say"
        yield limits.check("E7", "behaviour", 0.0, says, "warn")
        return
    most = percent(min(1.0, _NONE_OF / count))
    says = f"none of {exact(count)} sampled answers of the load is wrong: at most {most} are"
    yield limits.check("E7", "behaviour", 0.0, says)


def judged(reading: Reading, expect: Expect, answers: Sequence[Answer]) -> Reading:
    """Return a reading whose sampled bodies are judged: by single requests, else by `expect`."""
    digests = {answer.sha256 for answer in answers}
    sampled = tuple(body.like(wrong=_wrong(body, expect, digests)) for body in reading.sampled)
    return reading.like(sampled=sampled)


def _wrong(body: SampledBody, expect: Expect, digests: Container[str]) -> str | None:
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
