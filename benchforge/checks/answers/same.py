"""Equality of requests and answers of all that are compared (E3 to E5)."""

from collections.abc import Iterator, Mapping, Sequence

from benchforge.checks.answers.alike import differences, kind
from benchforge.checks.limits import Thresholds
from benchforge.checks.seen import of_one_server
from benchforge.model.trial.answers.answer import Answer
from benchforge.model.trial.check import Check
from benchforge.model.trial.trial import Trial
from benchforge.text.readable import exact


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
    if not faults:
        says = f"headers are of like length: {per_side} bytes"
        return limits.check("E4", "behaviour", share, says, "pass").about(scope="comparison")
    says = f"their headers differ: {'; '.join(faults)}: writing and sending them is work too"
    return limits.check("E4", "behaviour", share, says, "warn").about(scope="comparison")


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
    if len(requests) > 1 and not (declared and _equal(sides)):
        requested = sorted({f"{trial.request.method} {trial.request.path}" for trial in all_trials})
        says = f"not all were asked the same: {', '.join(requested)}, or other headers or bodies"
        if declared:
            says += "; a request of its own is comparable where all bodies are the same"
        return limits.check("E5", "apparatus", None, says, "fail").about(scope="comparison")
    if changed:
        says = "the load tool's options or its script changed between trials: measure all anew"
        return limits.check("E5", "apparatus", None, says, "fail").about(scope="comparison")
    if any("" in digests_of_server for digests_of_server in digests.values()):
        says = "whether the load tool's script stayed the same was not kept"
        return limits.check("E5", "apparatus", None, says).about(scope="comparison")
    says = "all were asked the same, by the same tool with the same script"
    if declared:
        pairs = {trial.case.server: trial.request for trial in all_trials}
        ways = [f"{label} by {request.method} {request.path}" for label, request in pairs.items()]
        says = f"each was asked as the suite declares, and all answer the same: {', '.join(ways)}"
    return limits.check("E5", "apparatus", None, says, "pass").about(scope="comparison")


def _own_requests(trials: Sequence[Trial]) -> bool:
    """Return True if the suite declares one request for each server at one point."""
    points: set[tuple[str, str]] = set()
    requests: dict[str, set[str]] = {}
    for trial in trials:
        path = {key: value for key, value in trial.case.vary.items() if key.startswith("path.")}
        points.add((trial.case.scenario, str(sorted(path.items()))))
        requests.setdefault(trial.case.server, set()).add(trial.request.model_dump_json())
    return len(points) == 1 and all(len(sent) == 1 for sent in requests.values())
