"""Length of a load's responses against right answers, by the bytes that a tool counts."""

from collections.abc import Iterator
from dataclasses import dataclass

from benchforge.checks.limits import Thresholds
from benchforge.model.trial.answers.good_response import GoodResponse
from benchforge.model.trial.answers.monitor import Sizes
from benchforge.model.trial.check import Status
from benchforge.model.trial.reading import Reading
from benchforge.model.trial.trial import Trial
from benchforge.text.readable import exact, figure

_CHUNKED = "transfer-encoding"
_COMES_AND_GOES = ("connection", "keep-alive")  # headers that depend on how it was asked
_REASON = 8  # bytes by which the head of another status is longer, at least
_COMPARABLE = {"HTTP/1.0", "HTTP/1.1"}
_WORST: tuple[Status, ...] = ("fail", "unknown", "pass")


@dataclass(frozen=True)
class SizeComparison:
    """What a comparison of bytes says."""

    status: Status
    says: str
    value: float | None = None
    "Mean excess of the load's responses over a right response, as a share of it."
    heads: bool = False
    "True if heads were compared too, which shows another status."


@dataclass(frozen=True)
class _Mean:
    """How many bytes of a response there were on average, and how many of a right one."""

    what: str
    each: float
    least: float
    most: float
    varies: float = 0.0
    "Possible deviation to each side for other reasons."


def compared(trial: Trial, limits: Thresholds) -> SizeComparison:
    """Compare the mean length of the load's responses with that of right answers."""
    reading, right = trial.reading, trial.good_response
    if (reason := _why_not(trial)) or reading is None or right is None or trial.probes is None:
        return SizeComparison("unknown", reason)
    sizes = trial.probes.sizes
    if sizes is None:
        return SizeComparison("unknown", "the length of heads was not kept")
    bodies, heads = list(_bodies(trial, reading, right)), list(_heads(trial, reading, right, sizes))
    if not bodies and not heads:
        return SizeComparison("unknown", _no_bytes(trial, reading, right))
    comparisons = [_judged(mean, trial, reading, right, limits) for mean in (*bodies, *heads)]
    worst = min(comparisons, key=lambda comparison: _WORST.index(comparison.status))
    says = "; ".join(row.says for row in comparisons) if worst is comparisons[0] else worst.says
    return SizeComparison(worst.status, says, worst.value, heads=bool(heads))


def _why_not(trial: Trial) -> str:
    reading, probes = trial.reading, trial.probes
    if probes is None or not probes.most_frequent:
        return "no answers to single questions were kept"
    if trial.good_response is None:
        return "what counts as right was not kept"
    if reading is None or not reading.responses:
        return "no response was read"
    if reading.own_requests:
        return "the load tool asks what a script of its own says"
    if reading.unanswered is None:
        return "the load tool does not tell how many were not answered"
    return ""


def _no_bytes(trial: Trial, reading: Reading, right: GoodResponse) -> str:
    if right.longest is None:
        return "`expect` leaves the length of bodies free"
    protocol = trial.load.protocol if trial.load is not None else None
    if reading.received_bytes is not None and protocol not in _COMPARABLE:
        return f"the load tool speaks {protocol or 'an unknown HTTP'}"
    return "the load tool does not tell its bytes"


def _bodies(trial: Trial, reading: Reading, right: GoodResponse) -> Iterator[_Mean]:
    first = reading.document_bytes
    if reading.other_lengths is not None and first == right.shortest == right.longest:
        return  # the tool counts bodies of another length
    read = reading.body_bytes
    if read is None and not _chunked(trial):
        read = reading.promised_bytes
    if read is not None and right.longest is not None and trial.request.method != "HEAD":
        yield _Mean("body", read / reading.responses, right.shortest, right.longest)


def _heads(trial: Trial, reading: Reading, right: GoodResponse, sizes: Sizes) -> Iterator[_Mean]:
    """Yield the mean of heads where bodies are told apart, else that of whole responses.

    Heads are asked for another status: where a tool tells that, they say no more.
    """
    received, load = reading.received_bytes, trial.load
    if received is None or load is None or load.protocol not in {None, *_COMPARABLE}:
        return
    varies = _by_connections(trial)
    if reading.body_bytes is not None and trial.request.method != "HEAD":
        if any(str(status) in reading.statuses for status in right.statuses):
            return
        # A tool may count parts of bodies at the end in one number and not in the other.
        varies += (right.longest or 0) * _under_way(trial, reading) / reading.responses
        each = (received - reading.body_bytes) / reading.responses
        if load.protocol is None and not sizes.shortest_head <= each <= sizes.longest_head:
            return
        yield _Mean("head", each, sizes.shortest_head, sizes.longest_head, varies)
    elif right.longest is not None:
        least, most = sizes.shortest_head + right.shortest, sizes.longest_head + right.longest
        each = received / reading.responses
        if load.protocol is not None or least <= each <= most:  # exact, over whatever HTTP
            yield _Mean("response", each, least, most, varies)


def _judged(
    mean: _Mean, trial: Trial, reading: Reading, right: GoodResponse, limits: Thresholds
) -> SizeComparison:
    limit = limits["E3"]
    responses = reading.responses
    rounding = reading.byte_error / responses
    even = limit.number("even") * mean.most + rounding
    # What had come of responses that were not whole is counted too.
    partial = mean.most * _under_way(trial, reading) / responses
    reach = mean.most - mean.least + rounding  # a slack of so many bytes on each response
    body = _REASON if mean.what == "head" else max(right.shortest, 1)
    ends = dict.fromkeys(exact(round(bytes_)) for bytes_ in (mean.least, mean.most))
    full = f"{' to '.join(ends)} in a right answer"
    says = f"{exact(mean.each)} bytes of {mean.what} in the load, {full}"
    away = max(mean.least - mean.each, mean.each - mean.most, 0)
    share = away / max(mean.most, 1) * (1 if mean.each > mean.most else -1)
    # In turns it is not known whether they came in the slices; the mean is that of all the load.
    others = max(responses - reading.good_at_most, reading.errors.get("status", 0))
    loose = (limit.fail or 0.0) * mean.most + mean.varies
    status: Status = "unknown"
    if reach >= body:
        says += f": right ones differ by {figure(reach)}, too much to tell"
    elif mean.least - even <= mean.each <= mean.most + even:
        status = "pass"
    elif mean.most < mean.each <= mean.most + even + partial:
        status = "pass" if partial + reach < body else "unknown"
        says += f", where {figure(partial)} may be of responses that were not whole"
    elif others:
        says += f", and {exact(others)} had another status"
    elif mean.least - loose <= mean.each <= mean.most + loose + partial:
        says += ": too near to tell"
    elif right.doubt:
        says += f": {right.doubt}; `expect.length` decides whether they are right"
    else:
        status = "fail"
    return SizeComparison(status, says, None if status == "unknown" else share)


def _under_way(trial: Trial, reading: Reading) -> int:
    """Return how many responses may have come in part, at most."""
    at_once = (trial.load.concurrency or trial.load.connections or 1) if trial.load else 1
    return at_once + (reading.unanswered or 0)


def _by_connections(trial: Trial) -> float:
    """Return by how much heads may differ: 0 if probes and load used connections alike."""
    probes, load = trial.probes, trial.load
    alike = probes and load and load.keep_alive is not None and probes.version == load.protocol
    if probes is None or alike:
        return 0.0
    headers = probes.most_frequent[0].answer.headers
    lines = [f"{name}: {headers[name]}\r\n" for name in _COMES_AND_GOES if name in headers]
    return max(len("".join(lines)), len("Connection: keep-alive\r\n") + len("HTTP/1.1"))


def _chunked(trial: Trial) -> bool:
    return trial.probes is not None and any(
        _CHUNKED in frequent.answer.headers for frequent in trial.probes.most_frequent
    )
