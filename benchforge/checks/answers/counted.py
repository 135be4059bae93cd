"""Good responses of a load, readings that cannot be true, and the shares of kinds (R1, R2)."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from benchforge.checks.answers.sizes import SizeComparison, compared
from benchforge.checks.limits import Thresholds
from benchforge.errors import ServerBroken
from benchforge.model.trial.answers.good_response import GoodResponse
from benchforge.model.trial.check import Check
from benchforge.model.trial.reading import Reading, span
from benchforge.model.trial.stream import Stream
from benchforge.model.trial.trial import Trial
from benchforge.model.values.case_name import CaseName
from benchforge.text import readable
from benchforge.text.readable import amount, exact, figure, listed

_BAD_FROM = 400  # of a status: a tool that tells none takes those below as good


@dataclass(frozen=True)
class _Count:
    """How many responses are right, at least and at most."""

    least: int
    most: int
    why: str = ""
    "Reason why the two differ."


def counted(trial: Trial, reading: Reading, right: GoodResponse, limits: Thresholds) -> Reading:
    """Return a trial's reading with the good responses by the suite's `expect`.

    Responses without a status of their own are good only if heads and bodies are as long as those
    of right answers.
    """
    if reading.own_requests:
        return reading
    status = _of_status(reading, right)
    lengths = _wrong_lengths(reading, right)
    # What the tool itself is in doubt of, whatever the status.
    doubtful = reading.good_at_most - reading.good_at_least
    if reading.bodies or not right.binding or right.longest != right.shortest:
        doubtful = max(0, doubtful - (reading.other_lengths or 0))
    least, by_length, reason = status.least, "", status.why
    # A tool that reports each body gives their number; of another only the mean is known.
    with_most = trial.like(reading=reading.like(good_at_most=status.most))
    sizes = None if reading.bodies else compared(with_most, limits)
    if sizes is not None and sizes.status == "fail":
        least, reason = 0, f"{status.why}{' and ' if status.why else ''}{_not_shown(sizes)}"
    elif sizes is not None and status.least < status.most:
        if sizes.status == "pass" and sizes.heads:
            least = status.most
            by_length = f"{status.why}: they are taken as good by their length, {sizes.says}"
        else:
            reason = f"{status.why} and {_not_shown(sizes)}"
    least = max(0, least - doubtful - lengths.most)
    most = max(0, status.most - lengths.least)
    reasons = (reason, lengths.why, "" if reading.bodies else reading.doubt)
    doubt = "; ".join(filter(None, reasons)) if least < most else ""
    errors = _errors(reading, status, lengths)
    counts = {"good_at_least": min(least, most), "good_at_most": most}
    return reading.like(**counts, doubt=doubt, by_length=by_length, errors=errors)


def counted_kinds(trial: Trial, reading: Reading, stream: Stream, limits: Thresholds) -> Reading:
    """Return the reading of a mix with the good responses of each kind, and of all together."""
    rights = {label: kind.good_response for label, kind in stream.kinds.items()}
    sound = {label: right for label, right in rights.items() if right is not None}
    if len(sound) < len(rights):
        return reading
    if not reading.kinds:
        statuses = [status for right in sound.values() for status in right.statuses]
        return _of_all_kinds(reading, statuses)
    kinds = {
        label: counted(trial.of_kind(label), kind, sound[label], limits)
        for label, kind in reading.kinds.items()
    }
    errors = dict(reading.errors)
    for name in ("status", "length"):
        if any(name in kind.errors for kind in kinds.values()):
            errors[name] = sum(kind.errors.get(name, 0) for kind in kinds.values())
    return reading.like(
        kinds=kinds,
        good_at_least=sum(kind.good_at_least for kind in kinds.values()),
        good_at_most=sum(kind.good_at_most for kind in kinds.values()),
        doubt="; ".join(dict.fromkeys(kind.doubt for kind in kinds.values() if kind.doubt)),
        errors=errors,
    )


def _of_all_kinds(reading: Reading, statuses: list[int]) -> Reading:
    """Return the reading of a tool that tells no kind: what it takes as good is below 400."""
    if any(status >= _BAD_FROM for status in statuses):
        reason = "the load tool does not tell which kind a response answers, nor its status"
        return reading.like(good_at_least=0, good_at_most=reading.responses, doubt=reason)
    reason = "statuses below 400 are taken as good: the load tool tells neither kinds nor lengths"
    return reading.like(by_length=reason)


def _of_status(reading: Reading, right: GoodResponse) -> _Count:
    if not reading.statuses:
        low, high = reading.good_at_most, reading.responses - reading.good_at_least
        most = low * (min(right.statuses) < _BAD_FROM) + high * (max(right.statuses) >= _BAD_FROM)
        reason = f"the load tool does not tell which responses were {right.either}"
        return _Count(0, min(most, reading.responses), reason)
    least = most = 0
    reason, rest = "", {*right.statuses}
    for key, count in reading.statuses.items():
        if not (inside := rest.intersection(among := span(key))):
            continue
        rest -= inside
        most += count
        if len(among) == 1:
            least += count
        else:
            reason = f"the load tool tells {key} only, not how many responses were {right.either}"
    if rest and (others := reading.responses - sum(reading.statuses.values())):
        most += others
        reason = f"the load tool does not tell how many responses were {right.either}"
    return _Count(least, most, reason)


def _wrong_lengths(reading: Reading, right: GoodResponse) -> _Count:
    if not reading.bodies:
        return _Count(0, 0)
    matching = [body for body in reading.bodies if body.status in right.statuses]
    wrong = sum(body.responses for body in matching if not right.fits(body.length))
    responses = sum(body.responses for body in matching)
    keys = [str(status) for status in right.statuses if str(status) in reading.statuses]
    rest = sum(reading.statuses[key] for key in keys) - responses if keys else 0
    if not rest or not right.binding or (right.longest is None and not right.shortest):
        return _Count(wrong, wrong)
    return _Count(wrong, wrong + rest, "the load tool did not keep the lengths of all bodies")


def _not_shown(sizes: SizeComparison) -> str:
    if sizes.status == "pass":
        return "the length of bodies alone does not show it"
    if sizes.status == "fail":
        return f"they are no right answers: {sizes.says}"
    return f"their length does not show it: {sizes.says}"


def _errors(reading: Reading, status: _Count, lengths: _Count) -> dict[str, int]:
    """Return the classes of errors, with those that `expect` makes of complete responses."""
    errors = dict(reading.errors)
    if reading.overlapping_errors:
        return errors
    others = reading.responses - status.most
    if others or "status" in errors:
        errors["status"] = others
    if reading.bodies and (lengths.least or "length" in errors):
        errors["length"] = lengths.least
    return errors


_SHOWN = 4


def believable(reading: Reading, case: CaseName, right: GoodResponse | None) -> None:
    """Raise ServerBroken when the tool got no good answer, or other bodies than are right."""
    if reading.responses == 0:
        classes = ", ".join(f"{count} {name}" for name, count in reading.errors.items() if count)
        raise ServerBroken(
            "drive",
            f"{case.server}: no response was completed in {amount('s', reading.seconds)} "
            f"(errors: {classes or 'none'})",
            "the server answers single requests, but none of the load's; see both logs",
        )
    if reading.good_at_most == 0:
        wanted = "" if right is None else f", expected were {right.either} and {right.lengths}"
        raise ServerBroken(
            "drive",
            f"{case.server}: none of {exact(reading.responses)} responses was "
            f"good: {_got(reading)}{wanted}",
            "the server answers single requests rightly, but none of the load's; see both logs",
        )
    length = reading.document_bytes
    if length is not None and right and not reading.bodies and not right.fits(length):
        raise ServerBroken(
            "read",
            f"{case.server}: {case.driver} was answered with {length} bytes of body, "
            f"right are {right.lengths}",
            "the server answers this tool differently; if bodies may differ in length, set "
            "`expect.length`",
        )


def _got(reading: Reading) -> str:
    if reading.bodies:
        return ", ".join(
            f"{exact(body.responses)} of status {body.status} with {exact(body.length)} bytes"
            for body in reading.bodies[:_SHOWN]
        )
    statuses = [f"{exact(n)} of status {key}" for key, n in reading.statuses.items() if n]
    return listed(statuses, _SHOWN) if statuses else "of another status"


_SIGMAS = 5


def shares(trial: Trial, limits: Thresholds) -> Iterator[Check]:
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
        again = readable.counted(reading.stream_began_again, "time")
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
