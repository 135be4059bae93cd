"""Equality of answers: single requests and the load (E3)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from benchforge.checks.answers.sizes import compared
from benchforge.checks.limits import Thresholds
from benchforge.model.trial.answers.answer import Answer
from benchforge.model.trial.check import Check
from benchforge.model.trial.trial import Failure, Trial
from benchforge.text.readable import exact

_NOT_LOOKED_AT = "no answers to single questions were kept"


def answers(trial: Trial, limits: Thresholds) -> Check:
    """E3: whether each question was answered, and the same."""
    probes = trial.probes
    if probes is None or not probes.most_frequent:
        return limits.check("E3", "behaviour", None, f"same answer: {_NOT_LOOKED_AT}")
    questions = f"{probes.before} questions before the load and {probes.after} after it"
    faults = [
        *(f"{count} were wrong: {problem}" for problem, count in probes.wrong.items()),
        *(f"{count} were not answered: {problem}" for problem, count in probes.unanswered.items()),
        *differences([(frequent.answer, trial) for frequent in probes.most_frequent]),
    ]
    if faults:
        says = f"of {questions}: {'; '.join(faults)}; a load on top of that measures a mixture"
        return limits.check("E3", "behaviour", None, says, "fail")
    if probes.distinct > 1:
        lengths = sorted(answer.answer.length for answer in probes.most_frequent)
        shortest, longest = lengths[0], lengths[-1]
        ends = f"{exact(shortest)} to {exact(longest)}"
        each = ends if shortest < longest else f"of {exact(shortest)}"
        says = f"{questions} were answered with {probes.distinct} different bodies, {each} bytes: "
        if trial.stream is not None:  # such as the tokens of a login
            says += "E6 judges the answers to each kind"
            return limits.check("E3", "behaviour", None, says, "pass")
        says += "whether they are right is for `expect` to say"
        return limits.check("E3", "behaviour", None, says, "warn")
    says = f"{questions} were all answered the same"
    if (first := probes.most_frequent[0].answer).decoded is not None:
        says += f": {first.sent}"
    return limits.check("E3", "behaviour", None, says, "pass")


def size(trial: Trial, limits: Thresholds) -> Check:
    """E3: whether the load's responses were as long as right answers."""
    if doubts := [*_doubts(trial)]:
        return limits.check("E3", "behaviour", None, "; ".join(doubts), "warn")
    single = _single(trial)
    comparison = None if single is not None and single.status else compared(trial, limits)
    if comparison is not None and comparison.status == "fail":
        says = f"{comparison.says}: the load was answered otherwise; compare what the tool gets "
        says += "with a single answer"
        return limits.check("E3", "behaviour", comparison.value, says, "fail")
    if single is not None and single.wrong:
        says = f"of {exact(single.total)} bodies of the load {exact(single.wrong)} were not of "
        says += f"{single.right}: they are not good; if they may be, say so with `expect.length`"
        return limits.check("E3", "behaviour", single.wrong / single.total, says, "warn")
    if single is not None:
        says = f"all {exact(single.total)} bodies that the load tool tells are of {single.right}"
        return limits.check("E3", "behaviour", 0, says, "pass")
    assert comparison is not None  # noqa: S101 - there is no single one
    if comparison.status == "pass":
        return limits.check("E3", "behaviour", comparison.value, comparison.says, "pass")
    says = "whether the load's responses were as long as single ones is not known"
    return limits.check("E3", "behaviour", None, f"{says}: {comparison.says}")


def _doubts(trial: Trial) -> Iterator[str]:
    """Yield of each kind how many bodies are of no length that a single answer had, if any may."""
    for label in ("",) if trial.stream is None else trial.stream.kinds:
        of_kind = trial.of_kind(label) if label else trial
        reading, right = of_kind.reading, of_kind.good_response
        if reading is None or right is None or not right.doubt:
            continue
        bodies = [body for body in reading.bodies if body.status in right.statuses]
        law = right.model_copy(update={"binding": True})
        if other := sum(body.responses for body in bodies if not law.fits(body.length)):
            total = exact(sum(body.responses for body in bodies))
            name = f"{label}: " if label else ""
            says = f"{name}{exact(other)} of {total} bodies of the load are not of {right.lengths}"
            doubt = f"whether they are right is in doubt, since {right.doubt}"
            yield f"{says}, as those of single requests: {doubt}; `expect.length` decides it"


@dataclass(frozen=True)
class _Single:
    """How many bodies were wrong, where a tool tells of each."""

    wrong: int
    total: int
    right: str
    status: bool
    "True if the tool also reports the status of each response: heads then show nothing more."


def _single(trial: Trial) -> _Single | None:
    reading, right = trial.reading, trial.good_response
    if reading is None or right is None or not right.binding or reading.own_requests:
        return None
    matching = [body for body in reading.bodies if body.status in right.statuses]
    if total := sum(body.responses for body in matching):
        wrong = sum(body.responses for body in matching if not right.fits(body.length))
        return _Single(wrong, total, right.lengths, status=True)
    exact = right.longest == right.shortest
    if exact and reading.document_bytes is not None and reading.other_lengths is not None:
        return _Single(reading.other_lengths, reading.responses, right.lengths, status=False)
    return None


def otherwise(checks: Iterable[Check], server: str) -> Failure | None:
    """Return why there is no measurement: the load was answered otherwise (E3), or wrongly (E6)."""
    for check in checks:
        if check.id in {"E3", "E6"} and check.value is not None and check.status == "fail":
            return Failure(stage="read", message=f"{server}: {check.message}", broken=True)
    return None


def differences(answers_of_trials: Sequence[tuple[Answer, Trial | None]]) -> Iterator[str]:
    """Yield the differences of answers; with declared statuses, content types may differ too."""
    statuses = sorted({answer.status for answer, _ in answers_of_trials})
    declared = all(
        trial and trial.good_response and answer.status in trial.good_response.statuses
        for answer, trial in answers_of_trials
    )
    if len(statuses) > 1 and not declared:
        yield f"statuses {', '.join(map(str, statuses))}"
    types: dict[int, set[str]] = {}
    for answer, _ in answers_of_trials:
        types.setdefault(answer.status if declared else 0, set()).add(kind(answer))
    if unlike := sorted({name for names in types.values() if len(names) > 1 for name in names}):
        yield f"content types {', '.join(unlike)}"


def kind(answer: Answer) -> str:
    """Return the content type without its parameters."""
    return type_of(answer.headers.get("content-type", ""))


def type_of(content_type: str) -> str:
    """Return a header Content-Type without its parameters."""
    return content_type.partition(";")[0].strip().lower() or "none"
