"""Equality of answers, of single requests, of the load and of all that are compared (E3 to E5)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchforge.checks.answers.sizes import compared
from benchforge.checks.limits import Thresholds
from benchforge.checks.seen import of_one_server
from benchforge.model.trial.answers.answer import Answer
from benchforge.model.trial.check import Check, Status
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


def between(sides: Mapping[str, Sequence[Trial]], limits: Thresholds) -> Iterator[Check]:
    """Yield whether all sides answer alike, in their bodies and in their headers, to the same."""
    if of_one_server(sides):
        yield _same_requests(sides, limits)
        return
    firsts = {name: first_answer(trials) for name, trials in sides.items()}
    unknown = [name for name, answer in firsts.items() if answer is None]
    answers = {name: answer for name, answer in firsts.items() if answer is not None}
    if unknown:
        says = f"what {', '.join(unknown)} answered was not kept"
        yield limits.check("E3", "behaviour", None, says).about(scope="comparison")
        yield limits.check("E4", "behaviour", None, says).about(scope="comparison")
    else:
        yield _same_answers(answers, sides, limits)
        yield _same_bytes(answers, limits)
    yield _same_requests(sides, limits)


def first_answer(trials: Sequence[Trial]) -> Answer | None:
    """Return the answer that a server gave first, of probes the most frequent one."""
    probes = trials[0].probes
    if probes is not None and probes.most_frequent:
        return probes.most_frequent[0].answer
    return trials[0].answers[0] if trials[0].answers else None


def _same_answers(
    firsts: dict[str, Answer], sides: Mapping[str, Sequence[Trial]], limits: Thresholds
) -> Check:
    pairs = [(answer, sides[name][0]) for name, answer in firsts.items()]
    if faults := list(differences(pairs)):
        kinds = [f"{name}: {answer.status} {kind(answer)}" for name, answer in firsts.items()]
        alike = f"{'; '.join(faults)} ({', '.join(kinds)})"
        says = f"they do not answer alike: {alike}: compare those that do"
        return limits.check("E3", "behaviour", None, says, "fail").about(scope="comparison")
    lengths = {name: answer.length for name, answer in firsts.items()}
    apart = max(lengths.values()) - min(lengths.values())
    share = apart / max(1, min(lengths.values()))
    sizes = f"{exact(max(lengths.values()))} bytes each"
    if apart:
        sizes = ", ".join(f"{name} {exact(length)} bytes" for name, length in lengths.items())
    if _equal(sides):
        statuses = {answer.status for answer in firsts.values()}
        status = "the same status" if len(statuses) == 1 else "right statuses"
        says = f"all answer {status}, content type and body"
        return limits.check("E3", "behaviour", share, says, "pass").about(scope="comparison")
    says = f"their bodies differ ({sizes}): if they should not, say same_body = true in `expect`"
    return limits.check("E3", "behaviour", share, says, "warn").about(scope="comparison")


def _equal(sides: Mapping[str, Sequence[Trial]]) -> bool:
    firsts = {answer.content_sha256 for side in sides.values() if (answer := first_answer(side))}
    others = {
        probe.answer.content_sha256
        for trials in sides.values()
        for trial in trials
        if trial.probes is not None
        for probe in trial.probes.most_frequent
    }
    return len(firsts | others) == 1


def _same_bytes(firsts: dict[str, Answer], limits: Thresholds) -> Check:
    limit = limits["E4"]
    heads = {name: answer.header_bytes for name, answer in firsts.items()}
    sizes = {name: size for name, size in heads.items() if size is not None}
    if len(sizes) < len(firsts):
        says = "the length of headers was not kept"
        return limits.check("E4", "behaviour", None, says).about(scope="comparison")
    apart = max(sizes.values()) - min(sizes.values())
    share = apart / min(sizes[name] + answer.length for name, answer in firsts.items())
    per_side = ", ".join(f"{name} {exact(size)}" for name, size in sizes.items())
    faults = list(_other_headers(firsts))
    if limit.status(share) != "pass" or apart > limit.number("bytes"):
        faults.insert(0, f"{per_side} bytes of headers")
    status: Status = "warn" if faults else "pass"
    says = f"headers are of like length: {per_side} bytes"
    if faults:
        says = f"their headers differ: {'; '.join(faults)}: writing and sending them is work too"
    return limits.check("E4", "behaviour", share, says, status).about(scope="comparison")


def _other_headers(firsts: dict[str, Answer]) -> Iterator[str]:
    headers = {name: answer.headers for name, answer in firsts.items()}
    subjects = {
        "HTTP": {name: answer.version for name, answer in firsts.items()},
        "compression": {name: row.get("content-encoding", "none") for name, row in headers.items()},
    }
    for subject, values in subjects.items():
        if len(set(values.values())) > 1:
            yield f"{subject} ({', '.join(f'{name} {value}' for name, value in values.items())})"
    for header in ("date", "server"):
        without = [name for name, fields in headers.items() if header not in fields]
        if 0 < len(without) < len(firsts):
            yield f"no header {header.title()} from {', '.join(without)}"


def _same_requests(sides: Mapping[str, Sequence[Trial]], limits: Thresholds) -> Check:
    """E5: whether the load tool was told the same, and the same was asked."""
    all_trials = [trial for trials in sides.values() for trial in trials]
    requests = {trial.request.model_dump_json() for trial in all_trials}
    digests: dict[object, set[str]] = {}
    for trial in all_trials:
        load = trial.load
        # In a search, benchforge chooses the rate of each block.
        chosen = (trial.block, load.rate) if load and trial.search_outcome else ()
        digest = load.options_digest if load else ""
        digests.setdefault((trial.case.driver, chosen), set()).add(digest)
    changed = any(len(digests_of_server - {""}) > 1 for digests_of_server in digests.values())
    declared = len(requests) > 1 and _own_requests(all_trials)
    status: Status = "fail"
    if len(requests) > 1 and not (declared and _equal(sides)):
        requested = sorted({f"{trial.request.method} {trial.request.path}" for trial in all_trials})
        says = f"not all were asked the same: {', '.join(requested)}, or other headers or bodies"
        if declared:
            says += "; a request of its own is comparable where all bodies are the same"
    elif changed:
        says = "the load tool's options or its script changed between trials: measure all anew"
    elif any("" in digests_of_server for digests_of_server in digests.values()):
        status, says = "unknown", "whether the load tool's script stayed the same was not kept"
    elif declared:
        pairs = {trial.case.server: trial.request for trial in all_trials}
        ways = [f"{label} by {request.method} {request.path}" for label, request in pairs.items()]
        status = "pass"
        says = f"each was asked as the suite declares, and all answer the same: {', '.join(ways)}"
    else:
        status, says = "pass", "all were asked the same, by the same tool with the same script"
    return limits.check("E5", "apparatus", None, says, status).about(scope="comparison")


def _own_requests(trials: Sequence[Trial]) -> bool:
    """Return True if the suite declares one request for each server at one point."""
    points: set[tuple[str, str]] = set()
    requests: dict[str, set[str]] = {}
    for trial in trials:
        path = {key: value for key, value in trial.case.vary.items() if key.startswith("path.")}
        points.add((trial.case.scenario, str(sorted(path.items()))))
        requests.setdefault(trial.case.server, set()).add(trial.request.model_dump_json())
    return len(points) == 1 and all(len(sent) == 1 for sent in requests.values())
