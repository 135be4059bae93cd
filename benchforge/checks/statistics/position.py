"""Effect of the position in a round on the speed of a server (I4)."""

import math
import statistics
from collections.abc import Iterator, Sequence

from benchforge.checks.limits import Thresholds
from benchforge.model.trial.check import Check, Status
from benchforge.model.trial.trial import Trial
from benchforge.stats.distributions import two_sided
from benchforge.stats.turns import order
from benchforge.text.readable import percent

_SURE = 0.001
_LEAST = 20  # slices: with fewer, one odd slice would decide


def position_effect(trials: Sequence[Trial], limits: Thresholds) -> Check:
    """Return I4: by how much servers are faster in the last place of a round than in the first.

    Each second round mirrors the one before, so what is even over the places cancels out; what
    one server leaves behind for the next does not.
    """
    points = [point for trial in trials for point in _points(trial)]
    if len(points) < _LEAST:
        says = f"{len(points)} slices are too few to see whether their place in a round matters"
        return limits.check("I4", "apparatus", None, says).about(scope="comparison")
    slope, p = _slope(points)
    moved = math.expm1(slope)
    moves = f"{percent(abs(moved))} {'slower' if moved < 0 else 'faster'}"
    says = f"servers are {moves} in the last place of a round than in the first"
    status: Status = limits["I4"].status(abs(moved)) if p < _SURE else "pass"
    if status == "pass":
        says = "the place in a round does not decide how fast a server is"
    value = abs(moved) if p < _SURE else 0.0
    return limits.check("I4", "apparatus", value, says, status).about(scope="comparison")


def _points(trial: Trial) -> Iterator[tuple[float, float]]:
    """Yield each slice's position, -0.5 to 0.5, and its log-rate less the server's mean here."""
    turns = trial.turns
    if turns is None or trial.number not in turns.trials:
        return
    me, servers = turns.trials.index(trial.number), len(turns.trials)
    orders = order(turns.seed, servers, turns.rounds)
    logs = [
        (indices.index(me) / (servers - 1) - 0.5, math.log(slice_.responses / slice_.seconds))
        for slice_, indices in zip(turns.slices, orders, strict=False)
        if slice_.responses and slice_.seconds
    ]
    middle = statistics.fmean(log for _, log in logs) if logs else 0.0
    for position, log in logs:
        yield position, log - middle


def _slope(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the least-squares slope, and the p of no slope."""
    xs, ys = zip(*points, strict=True)
    middle = statistics.fmean(xs)
    spread = sum((x - middle) ** 2 for x in xs)
    if not spread:
        return 0.0, 1.0
    slope, offset = statistics.linear_regression(xs, ys)
    residue = sum((y - offset - slope * x) ** 2 for x, y in points)
    df = len(points) - 2
    if not residue:
        return slope, 0.0 if slope else 1.0
    return slope, two_sided(slope / math.sqrt(residue / df / spread), df)
