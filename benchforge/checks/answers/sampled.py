"""Whether the load's own answers are those of single requests, by a random sample (E7)."""

from collections.abc import Iterator

from benchforge.checks.limits import Thresholds
from benchforge.model.trial.check import Check
from benchforge.model.trial.reading import SampledBody
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
    count = sum(one.responses for one in reading.sampled) + reading.sampled_others
    if trial.stream is not None:
        says = (
            f"which of {exact(count)} sampled answers are right is not known: the load has several "
            "kinds of requests, each with an answer of its own; E6 judges them"
        )
        yield limits.check("E7", "behaviour", None, says)
        return
    if right is None:
        return
    digests = {answer.sha256 for answer in trial.answers}
    if len(digests) != 1:
        says = (
            f"which of {exact(count)} sampled answers are right is not known: single requests "
            "have different bodies before and after the load"
        )
        yield limits.check("E7", "behaviour", None, says)
        return
    wrong = [
        one
        for one in reading.sampled
        if one.status not in right.statuses or one.sha256 not in digests
    ]
    bad = sum(one.responses for one in wrong) + reading.sampled_others
    if not bad:
        most = percent(min(1.0, _NONE_OF / count))
        says = f"none of {exact(count)} sampled answers of the load is wrong: at most {most} are"
        yield limits.check("E7", "behaviour", 0.0, says)
        return
    says = (
        f"{exact(bad)} of {exact(count)} sampled answers of the load are not those of single "
        f"requests: {conjoined([_named(one) for one in wrong[:_NAMED]])}"
    )
    yield limits.check("E7", "behaviour", bad / count, says)


def _named(body: SampledBody) -> str:
    begin = "" if body.begin is None else f", {body.begin[:_BEGIN]!r}"
    return f"{exact(body.responses)} of status {body.status} with {exact(body.length)} bytes{begin}"
