"""Whether a server always answered the same, single questions and the load alike (E3)."""

from collections.abc import Iterable, Iterator, Sequence

from benchforge.checks.limits import Limits
from benchforge.model.answer import Answer
from benchforge.model.check import Check
from benchforge.model.trial import Failure, Trial

_CHUNKED = "transfer-encoding"
_OF_CONNECTIONS = ("connection", "keep-alive", _CHUNKED)  # headers that depend on how it was asked
_NOT_LOOKED_AT = "no answers to single questions were kept"


def answers(trial: Trial, limits: Limits) -> Check:
    """E3: whether each question was answered, and the same."""
    probes = trial.probes
    if probes is None or not probes.alike:
        return limits.check("E3", "behaviour", None, f"same answer: {_NOT_LOOKED_AT}")
    asked = f"{probes.before} questions before the load and {probes.after} after it"
    faults = [
        *(f"{count} were wrong: {told}" for told, count in probes.wrong.items()),
        *(f"{count} were not answered: {told}" for told, count in probes.unanswered.items()),
        *differences([one.answer for one in probes.alike]),
    ]
    if faults:
        says = f"of {asked}: {'; '.join(faults)}; a load on top of that measures a mixture"
        return limits.check("E3", "behaviour", None, says, status="fail")
    if probes.kinds > 1:
        lengths = sorted(one.answer.length for one in probes.alike)
        shortest, longest = lengths[0], lengths[-1]
        each = f"of {shortest:,}" if shortest == longest else f"{shortest:,} to {longest:,}"
        says = f"{asked} were answered with {probes.kinds} different bodies, {each} bytes: "
        says += "whether they are right is for `expect` to say"
        return limits.check("E3", "behaviour", None, says, status="warn")
    says = f"{asked} were all answered the same"
    return limits.check("E3", "behaviour", None, says, status="pass")


def size(trial: Trial, limits: Limits) -> Check:
    """E3: whether the load's responses were as long as the answers to single questions."""
    reading, probes, load = trial.reading, trial.probes, trial.load
    why = ""
    if probes is None or not probes.alike:
        why = _NOT_LOOKED_AT
    elif reading is None or reading.received_bytes is None or not reading.responses:
        why = "the load tool does not tell its bytes"
    elif load is None or load.protocol not in {"HTTP/1.0", "HTTP/1.1"}:
        why = (
            f"the load tool speaks {load.protocol if load and load.protocol else 'an unknown HTTP'}"
        )
    elif reading.good != reading.responses or reading.unanswered != 0:
        why = "not all of its requests ended well"
    elif probes.kinds > 1:
        why = "the answers to single questions differ"
    first = None if why or probes is None else probes.alike[0].answer
    if first is not None and first.header_bytes is None:
        why = "the length of headers was not kept"
    if why or first is None or reading is None or load is None or reading.received_bytes is None:
        return _length_unknown(why, limits)
    each = reading.received_bytes / reading.responses
    least, most = _bounds(first, limits)
    # What had arrived of responses that were in flight at the end is counted too.
    most += most * (load.connections or 1) / reading.responses
    full = first.length + (first.header_bytes or 0)
    told = f"{each:,.1f} bytes a response of the load, {full:,} of a single answer"
    chunked = _CHUNKED in first.headers
    told += " without what frames its chunks" if chunked else ""
    if least <= each <= most:
        return limits.check("E3", "behaviour", each / full - 1, told, status="pass")
    if chunked and each > most:  # frames only add: nobody knows how much
        return _length_unknown(told, limits)
    says = (
        f"{told}: the load was answered otherwise; compare what the tool gets with a single answer"
    )
    return limits.check("E3", "behaviour", each / full - 1, says, status="fail")


def _length_unknown(why: str, limits: Limits) -> Check:
    says = f"whether the load's responses were as long as single ones is not known: {why}"
    return limits.check("E3", "behaviour", None, says)


def otherwise(checks: Iterable[Check], server: str) -> Failure | None:
    """Return why there is no measurement, where the load's responses had another length (E3)."""
    for one in checks:
        if one.id == "E3" and one.value is not None and one.status == "fail":
            return Failure(stage="read", message=f"{server}: {one.says}")
    return None


def differences(kept: Sequence[Answer]) -> Iterator[str]:
    """Yield in what answers differ that should not."""
    statuses = sorted({one.status for one in kept})
    if len(statuses) > 1:
        yield f"statuses {', '.join(map(str, statuses))}"
    types = sorted({kind(one) for one in kept})
    if len(types) > 1:
        yield f"content types {', '.join(types)}"


def kind(answer: Answer) -> str:
    """Return the content type without its parameters."""
    return answer.headers.get("content-type", "").partition(";")[0].strip().lower() or "none"


def _bounds(answer: Answer, limits: Limits) -> tuple[float, float]:
    """Return how long a response may be, in bytes: headers of the connection come and go."""
    limit = limits["E3"]
    theirs = sum(
        len(name) + len(answer.headers[name]) + len(": \r\n")
        for name in _OF_CONNECTIONS
        if name in answer.headers
    )
    without = answer.length + (answer.header_bytes or 0) - theirs
    share = limit.fail or 0.0
    return without * (1 - share), (without + limit.number("spare")) * (1 + share)
