"""Rules for the values of one trial."""

import math
import re
from collections.abc import Iterator
from itertools import pairwise

from benchforge.model.trial.answers.answer import Answer
from benchforge.model.trial.reading import Reading
from benchforge.model.trial.trial import Load, Trial
from benchforge.model.trial.turns import Turns
from benchforge.results.validity.contradiction import Contradiction, beneath
from benchforge.results.validity.counts import counts, moments, windows
from benchforge.results.validity.times import times
from benchforge.results.validity.usage import MachineBounds, used
from benchforge.text.readable import exact

_CRUMB_S = 0.001
_BEFORE_AND_AFTER = 2
_NO_BODY = (204, 304)


def meaning(trial: Trial, machine: MachineBounds) -> Iterator[Contradiction]:
    """Say what in a trial cannot be."""
    if trial.reading is None and trial.failure is None:
        yield "a trial has a reading, or a failure that says why not", ("reading",)
    if (reading := trial.reading) is not None:
        if trial.request.method == "HEAD":
            reading = reading.model_copy(update={"document_bytes": None})
        yield from beneath(("reading",), counts(reading))
        yield from beneath(("reading",), times(reading, _at_once(trial.load)))
    if trial.monitor is not None:
        yield from beneath(("monitor",), moments(trial.monitor))
    if trial.load_answers is not None:
        yield from beneath(("load_answers",), windows(trial.load_answers))
    if trial.turns is not None:
        yield from beneath(("turns",), _slices(trial.turns, trial))
    yield from used(trial, machine)
    yield from _phases(trial)
    for number, answer in enumerate(trial.answers):
        yield from beneath(("answers", number), _answer(answer, trial.request.method))
    if trial.measured:
        yield from _measured(trial)


def _at_once(load: Load | None) -> int | None:
    """Return the most requests under way at once; None where times hold more.

    With a rate, times may count from before the send; a client's from before a connection is free.
    """
    if load is None or load.rate is not None or load.concurrency is None:
        return None
    return load.concurrency if load.kind == "loader" or load.concurrency == 1 else None


def _phases(trial: Trial) -> Iterator[Contradiction]:
    phases_s = sum(trial.phases.values())
    if phases_s > trial.seconds + _CRUMB_S:
        yield f"{exact(trial.seconds)} s, but its phases take {exact(phases_s)} s", ("seconds",)
    asked_s = sum(answer.seconds for answer in trial.answers)
    phase_s = sum(trial.phases.get(name, 0.0) for name in ("ask", "finish"))
    if "ask" in trial.phases and asked_s > phase_s + _CRUMB_S:
        yield f"{exact(phase_s)} s, but its questions took {exact(asked_s)} s", ("phases", "ask")


def _document(trial: Trial, reading: Reading, first_answer: Answer) -> Iterator[Contradiction]:
    length = reading.document_bytes
    if length is None or trial.stream is not None or trial.request.method == "HEAD":
        return
    right, expected = trial.good_response, f"{first_answer.length}"
    fits = length == first_answer.length
    if right is not None:
        fits, expected = bool(reading.bodies) or right.fits(length), f"{right.lengths}"
    if not fits:
        message = f"the tool took {length} bytes as right, we {expected}"
        yield message, ("reading", "document_bytes")


def _answer(answer: Answer, method: str) -> Iterator[Contradiction]:
    if not re.fullmatch("[0-9a-f]{64}", answer.sha256):
        yield "is no SHA-256 in hexadecimal digits", ("sha256",)
    if answer.seconds < 0:
        yield f"{exact(answer.seconds)} s are less than nothing", ("seconds",)
    stated = answer.headers.get("content-length", "")
    has_body = method != "HEAD" and answer.status not in _NO_BODY
    counted = has_body and "transfer-encoding" not in answer.headers and stated.isdecimal()
    if counted and stated != str(answer.length):
        yield f"{answer.length} bytes, but its header told {stated}", ("length",)


def _measured(trial: Trial) -> Iterator[Contradiction]:
    reading = trial.reading
    if reading is None:
        return
    if not reading.responses:
        yield "a measured trial has responses", ("reading", "responses")
    if trial.observation is None:
        yield "a measured trial was observed", ("observation",)
    if len(trial.answers) != _BEFORE_AND_AFTER:
        count = len(trial.answers)
        message = f"a measured trial has one before and one after the load, here are {count}"
        yield message, ("answers",)
        return
    (earlier, later), right = trial.answers, trial.good_response
    statuses = {earlier.status, later.status}
    if len(statuses) > 1 and not (right and statuses <= {*right.statuses}):
        message = f"the status was {earlier.status} before the load and {later.status} after it"
        yield message, ("answers", 1, "status")
    yield from _document(trial, reading, earlier)


def _slices(turns: Turns, trial: Trial) -> Iterator[Contradiction]:
    """Say which slices cannot be: a round is missing, two overlap, sums are others."""
    if trial.number not in turns.trials:
        yield f"does not hold {trial.number}, the number of this trial", ("trials",)
    if [slice_.round for slice_ in turns.slices] != [*range(1, turns.rounds + 1)]:
        yield f"are not one for each of {turns.rounds} rounds", ("slices",)
        return
    for number, slice_ in enumerate(turns.slices):
        if slice_.end_s < slice_.start_s:
            yield "ends before it starts", ("slices", number, "end_s")
        ended = slice_.responses + (slice_.failed or 0)
        if slice_.sent is not None and ended > slice_.sent:
            yield f"{ended} requests ended, but {slice_.sent} were sent", ("slices", number, "sent")
    for number, (earlier, later) in enumerate(pairwise(turns.slices), 1):
        if later.start_s < earlier.end_s:
            yield "starts before the one before it ends", ("slices", number, "start_s")
    if trial.reading is not None:
        yield from _in_slices(turns, trial.reading)


def _in_slices(turns: Turns, reading: Reading) -> Iterator[Contradiction]:
    if turns.responses != reading.responses:
        message = f"have {turns.responses} responses, but the load tool {reading.responses}"
        yield message, ("slices",)
    if not math.isclose(turns.seconds, reading.seconds, rel_tol=1e-9, abs_tol=1e-9):
        message = f"take {exact(turns.seconds)} s, but the reading {exact(reading.seconds)} s"
        yield message, ("slices",)
