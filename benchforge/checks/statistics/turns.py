"""Quality of turns: only one server ran, and all met the same noise (I1 to I6, I9).

I7 of the design is in I1: each server's backend is frozen with it, and one for all is refused.
"""

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from benchforge.checks.limits import Thresholds
from benchforge.checks.seen import by_name, compared
from benchforge.model.trial.check import Check, Status
from benchforge.model.trial.trial import Trial
from benchforge.model.trial.turns import Turns
from benchforge.stats.distributions import two_sided
from benchforge.stats.timeseries.trend import mann_kendall, theil_sen
from benchforge.stats.turns import SMALL, excesses, order, waiting_s
from benchforge.text.readable import amount, change, exact, percent

_SURE = 0.01  # p of no drift
_LEAST_ROUNDS = 6  # of fewer, no order is so improbable
_SURE_OF_PLACE = 0.001  # p of no effect
_LEAST_SLICES = 20  # with fewer, one odd slice would decide
_LENGTHS = 2
"Lengths of slices beside the usual one that together hide no timer: shorter, and longer."
_ALONE = 'measure it without turns: interleave = "off"'


def of_trial(trial: Trial, limits: Thresholds) -> Iterator[Check]:
    """Yield what the slices of one server show: I1, I3 and I6."""
    turns = trial.turns
    if turns is None or not turns.slices:
        return
    server = compared(trial)
    yield _idle_work(turns, server, limits)
    sequential = trial.load is not None and trial.load.concurrency == 1
    if not sequential:  # else a slice ends with its last response, and no connection was idle
        yield _ends(turns, server, limits)
    if turns.uncounted_bytes is None and not sequential:  # nor if the tool is frozen with it
        middle = statistics.median(slice_.responses for slice_ in turns.slices)
        says = f"the median slice of {server} has {exact(middle)} responses"
        yield limits.check("I3.requests", "apparatus", middle, says).about("requests")
    empty = sum(not slice_.responses for slice_ in turns.slices) / len(turns.slices)
    says = f"{percent(empty)} of the slices of {server} had no response"
    advice = f": it stands still at times; {_ALONE}"
    yield limits.advised("I6", "apparatus", empty, says, advice).about(server)


def _idle_work(turns: Turns, server: str, limits: Thresholds) -> Check:
    if not turns.frozen_s:
        says = f"{server} was never frozen between two slices"
        return limits.check("I1", "apparatus", None, says).about(server)
    share = turns.frozen_cpu_s / turns.frozen_s
    used, frozen = amount("s", turns.frozen_cpu_s), amount("s", turns.frozen_s)
    says = f"{server} used {used} of CPU in the {frozen} in which it was frozen"
    advice = f": it worked in the turns of others; {_ALONE}"
    return limits.advised("I1", "apparatus", share, says, advice).about(server)


def _ends(turns: Turns, server: str, limits: Thresholds) -> Check:
    ends = sum(slice_.drained_s for slice_ in turns.slices) / turns.seconds
    says = f"{percent(ends)} of the slices of {server} passed after their last request was started"
    advice = f": use longer slices or fewer connections, or {_ALONE}"
    return limits.advised("I3", "apparatus", ends, says, advice).about(server)


def of_comparison(cases: Sequence[Sequence[Trial]], limits: Thresholds) -> Iterator[Check]:
    """Yield I2, I4, I5 and I9: the same noise for all, no drift of ratios, timers that go on."""
    sides = by_name(cases)
    if len(sides) < len(("a", "b")):
        return
    turns = {key: [it.turns for it in trials if it.turns] for key, trials in sides.items()}
    yield _exposure(turns, limits)
    yield position_effect([trial for trials in sides.values() for trial in trials], limits)
    for (a, first_trials), (b, theirs) in combinations(sides.items(), 2):
        yield _drift(a, first_trials, b, theirs, limits)
    yield from waits(sides, limits)


def _exposure(sides: dict[str, list[Turns]], limits: Thresholds) -> Check:
    """Return I2: by how much the shares of the CPUs differ that others used in the slices.

    A server that computes more leaves less to others, and one that computes less leaves more: noise
    met one side more only where others also used another share of what was left to them.
    """
    of_all: dict[str, float] = {}
    of_left: dict[str, float] = {}
    for name, turns in sides.items():
        slices = [slice_ for turns_of_trial in turns for slice_ in turns_of_trial.slices]
        measured = [slice_.foreign_cpu_s for slice_ in slices if slice_.foreign_cpu_s is not None]
        cpus_s = sum(turns_of_trial.seconds * turns_of_trial.cpus for turns_of_trial in turns)
        if len(measured) < len(slices) or not cpus_s:
            says = f"what others used in the slices of {name} is not known"
            return limits.check("I2", "apparatus", None, says).about(scope="comparison")
        foreign_s = max(0.0, sum(measured))
        left_s = cpus_s - sum(slice_.cpu_s + slice_.loader_cpu_s for slice_ in slices)
        of_all[name] = foreign_s / cpus_s
        of_left[name] = min(1.0, foreign_s / left_s) if left_s > 0 else 1.0
    apart = min(_apart(of_all), _apart(of_left))
    words = ", ".join(f"{percent(share)} of {name}" for name, share in of_all.items())
    says = f"in their slices others used of the CPUs: {words}"
    advice = ": noise did not meet all alike; measure more blocks, or stop other programs"
    return limits.advised("I2", "apparatus", apart, says, advice).about(scope="comparison")


def _apart(shares: dict[str, float]) -> float:
    return max(shares.values(), default=0.0) - min(shares.values(), default=0.0)


def _drift(
    a: str, first_trials: Sequence[Trial], b: str, theirs: Sequence[Trial], limits: Thresholds
) -> Check:
    """Return I5: whether the ratio of two servers changes from the first round to the last."""
    courses = _courses(first_trials, theirs)
    component = f"{a} / {b}"
    rounds = min(map(len, courses), default=0)
    if rounds < _LEAST_ROUNDS:
        says = f"{rounds} rounds of slices: too few to see whether the ratio {component} drifts"
        return limits.check("I5", "behaviour", None, says).about(component, "comparison")
    course = [statistics.fmean(course[number] for course in courses) for number in range(rounds)]
    slope = theil_sen(list(enumerate(course))) or 0.0
    moved = math.expm1(slope * (rounds - 1))
    sure = mann_kendall(course) < _SURE
    says = f"the ratio {component} changes by {change(moved)} over the rounds of slices"
    drifts = sure and limits["I5"].status(abs(moved)) != "pass"
    if drifts:
        says += f": one of them warms up, or grows; lengthen repeat.warmup, or {_ALONE}"
    status: Status = "warn" if drifts else "pass"
    return limits.check("I5", "behaviour", abs(moved) if sure else 0.0, says, status).about(
        component, "comparison"
    )


def _courses(first_trials: Sequence[Trial], theirs: Sequence[Trial]) -> list[list[float]]:
    """Return the log-ratio of each round with responses of both, for each joint trial of both."""
    by_block = {trial.block: trial.turns for trial in theirs}
    courses = []
    for trial in first_trials:
        other = by_block.get(trial.block)
        if trial.turns is None or other is None or trial.turns.trials != other.trials:
            continue
        rates = [
            (slice_.responses / slice_.seconds, two.responses / two.seconds)
            for slice_, two in zip(trial.turns.slices, other.slices, strict=False)
            if slice_.responses and two.responses
        ]
        courses.append([math.log(rate / two) for rate, two in rates])
    return courses


def position_effect(trials: Sequence[Trial], limits: Thresholds) -> Check:
    """Return I4: by how much servers are faster in the last place of a round than in the first.

    Each second round mirrors the one before, so what is even over the places cancels out; what
    one server leaves behind for the next does not.
    """
    points = [point for trial in trials for point in _points(trial)]
    if len(points) < _LEAST_SLICES:
        says = f"{len(points)} slices are too few to see whether their place in a round matters"
        return limits.check("I4", "apparatus", None, says).about(scope="comparison")
    slope, p = _slope(points)
    moved = math.expm1(slope)
    moves = f"{percent(abs(moved))} {'slower' if moved < 0 else 'faster'}"
    says = f"servers are {moves} in the last place of a round than in the first"
    status: Status = limits["I4"].status(abs(moved)) if p < _SURE_OF_PLACE else "pass"
    if status == "pass":
        says = "the place in a round does not decide how fast a server is"
    value = abs(moved) if p < _SURE_OF_PLACE else 0.0
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


def waits(sides: Mapping[str, Sequence[Trial]], limits: Thresholds) -> Iterator[Check]:
    """Yield I9 of each server: whether its rate depends on how long its slices are."""
    for name, trials in sides.items():
        value, says = _judged(name, trials, limits)
        yield limits.check("I9", "apparatus", value, says).about(name, "comparison")


def _judged(name: str, trials: Sequence[Trial], limits: Thresholds) -> tuple[float | None, str]:
    """Return which share of its responses turns add, or None, and the finding."""
    pairs = [pair for pair in map(_waiting, trials) if pair is not None]
    if not pairs:
        return None, f"how many requests {name} has in service is not known: nor whether they wait"
    wait_s, share = (statistics.median(values) for values in zip(*pairs, strict=True))
    says = f"a request to {name} waits {amount('s', wait_s)} beside its CPU time by Little's law"
    says += f", {percent(share)} of a slice"
    if share <= SMALL:
        return 0.0, says
    probed = next((trial.turns for trial in trials if trial.turns and trial.turns.probed), None)
    if not (results := excesses(probed.slice_s, probed.probed) if probed else []):
        return None, f"{says}: whether its rate is another in other slices was not measured"
    limit, most = limits["I9"], max(result.most for result in results)
    worst = max(results, key=lambda result: result.mean * (result.least > 0))
    says += "; by slices of other lengths, turns add"
    if limit.status(worst.mean) != "pass" and worst.least > 0:
        says += f" {percent(worst.mean)} of its responses: its timers go on while it is frozen"
        return worst.mean, f"{says}; {_ALONE}"
    says += f" at most {percent(max(0.0, most))} of its responses (99 %)"
    if len(results) < _LENGTHS or most > limit.number("bound"):
        return None, f"{says}, but may add less: {_ALONE}"
    return max(0.0, worst.mean), says


def _waiting(trial: Trial) -> tuple[float, float] | None:
    """Return how long a request waits, in seconds and as a share of a slice; None if unknown."""
    turns, load = trial.turns, trial.load
    if turns is None or load is None or load.concurrency is None or not turns.responses:
        return None
    busy_s = turns.cpu_wait_s + sum(slice_.cpu_s + slice_.loader_cpu_s for slice_ in turns.slices)
    busy, rate = busy_s / turns.seconds, turns.responses / turns.seconds
    wait_s = waiting_s(load.concurrency, rate, busy)
    return wait_s, wait_s / turns.slice_s
