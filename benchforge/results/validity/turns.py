"""What the slices of a trial must be to one another and to its reading."""

import math
from collections.abc import Iterator
from itertools import pairwise

from benchforge.model.trial.reading import Reading
from benchforge.model.trial.trial import Trial
from benchforge.model.trial.turns import Turns
from benchforge.results.validity.contradiction import Contradiction
from benchforge.text.readable import exact


def slices(turns: Turns, trial: Trial) -> Iterator[Contradiction]:
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
        yield from _reading(turns, trial.reading)


def _reading(turns: Turns, reading: Reading) -> Iterator[Contradiction]:
    if turns.responses != reading.responses:
        message = f"have {turns.responses} responses, but the load tool {reading.responses}"
        yield message, ("slices",)
    if not math.isclose(turns.seconds, reading.seconds, rel_tol=1e-9, abs_tol=1e-9):
        message = f"take {exact(turns.seconds)} s, but the reading {exact(reading.seconds)} s"
        yield message, ("slices",)
