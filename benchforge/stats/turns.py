"""Servers in turns: the order of their slices, readings of loads with pauses, and waiting."""

import hashlib
import math
import random
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import NamedTuple

from benchforge.model.suite.until import LONGEST_FREEZE_S, LONGEST_S, TurnsPlanned
from benchforge.model.trial.reading import Load, Reading
from benchforge.model.trial.trial import Trial
from benchforge.model.trial.turns import ProbedSlice, Turns
from benchforge.stats.distributions import t_quantile
from benchforge.text.readable import exact

LEAST_REQUESTS = 50
"Requests of a slice, at least: else its ends, where connections are idle, have too much weight."
LEAST_OF_FROZEN = 20
"The same where the load tool is frozen with its server: no connection is idle at the ends."
LEAST_OF_SEQUENTIAL = 4
"The same where one request follows the other: a slice ends with the last response."


def seed_of(run_seed: int, block: int, comparison: str) -> int:
    """Return the seed of a joint trial, below 2^53, so that any reader of JSON keeps it."""
    text = f"turns {run_seed} {block} {comparison}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 11


def rounds_of(slice_s: float, each_s: float) -> int:
    """Return the even number of rounds in which each server has `each_s` seconds or more."""
    return 2 * max(1, math.ceil(each_s / slice_s / 2 - 1e-9))


def order(seed: int, servers: int, rounds: int) -> Iterator[tuple[int, ...]]:
    """Yield the order of each round, as indices of servers; each second one mirrors the first.

    What drifts evenly then cancels out in each pair of rounds.
    """
    rng = random.Random(seed)  # noqa: S311 - an order is no secret
    for _ in range(rounds // 2):
        permutation = tuple(rng.sample(range(servers), servers))
        yield permutation
        yield permutation[::-1]


def longest_s(servers: int) -> float:
    """Return how long a slice may be, in seconds: no server stands still for too long."""
    return min(LONGEST_S, LONGEST_FREEZE_S / (2 * max(1, servers - 1)))


def first_slice_s(planned: TurnsPlanned, servers: int, attempt: int) -> float:
    """Return the length of a slice to begin with, in seconds: twice that of the attempt before."""
    slice_s = float(planned.slice_s)
    return max(slice_s, min(slice_s * 2.0 ** (attempt - 1), longest_s(servers)))


def long_enough(
    slice_s: float, slowest_per_s: float, servers: int, least: int = LEAST_REQUESTS
) -> float | None:
    """Return the length of a slice in which the slowest server has enough requests, in seconds.

    It is the given one, doubled as often as needed, or the longest; None if that is not enough.
    """
    most_s = max(slice_s, longest_s(servers))
    while slowest_per_s * slice_s < least:
        if slice_s == most_s:
            return None
        slice_s = min(2 * slice_s, most_s)
    return slice_s


_OF_FILES = 16_384
"Bytes that a thread of a tool may read of files once the first has connected: a script, a locale."
WHY_UNKNOWN = "in turns: a server stands still between its slices, so that only rates are compared"
_TIME_FIELDS = (
    *("latency", "service_time", "in_flight", "series", "percentiles_us", "mean_us", "phases"),
    *("latency_samples", "latency_by_status", "censored", "censored_from_us"),
)
"Fields that hold for a load without pauses only."
_TOTAL_FIELDS = ("body_bytes", "promised_bytes", "other_lengths", "bodies", "printed")
"Fields that count more than the slices."


def _unknown(names: Sequence[str]) -> dict[str, object]:
    fields = Reading.model_fields
    return {name: fields[name].get_default(call_default_factory=True) for name in names}


def in_turns(reading: Reading, turns: Turns) -> Reading:
    """Return a reading with the seconds of the slices, and without response times."""
    kinds = {label: in_turns(of_kind, turns) for label, of_kind in reading.kinds.items()}
    reading = reading.model_copy(
        update={**_unknown(_TIME_FIELDS), "seconds": turns.seconds, "kinds": kinds}
    )
    return reading if turns.uncounted_bytes is None else _of_the_slices(reading, turns)


def _of_the_slices(reading: Reading, turns: Turns) -> Reading:
    """Return a reading of a tool that also counts responses before and after the slices.

    All bad responses may have been in the slices, or none.
    """
    bad = reading.responses - reading.good_at_least
    classes = [name for name, count in reading.statuses.items() if count == reading.responses]
    changed: dict[str, object] = {
        "responses": turns.responses,
        "unanswered": None if reading.unanswered else reading.unanswered,
        "statuses": dict.fromkeys(classes, turns.responses),
        "good_at_least": max(0, turns.responses - bad),
        "good_at_most": min(turns.responses, reading.good_at_most),
        "received_bytes": sum(slice_.received_bytes or 0 for slice_ in turns.slices),
    }
    return reading.model_copy(update={**_unknown(_TOTAL_FIELDS), **changed})


def counted_in_slices(
    reading: Reading, turns: Turns, load: Load | None
) -> tuple[Turns, str | None]:
    """Return turns with the responses of each slice, and how a tool's total contradicts them."""
    if turns.uncounted_bytes is not None:
        return by_bytes(turns, reading), contradiction(turns, reading, load)
    if reading.responses == turns.responses:
        return turns, None
    return turns, f"its slices have {turns.responses} responses, but all of it {reading.responses}"


def by_bytes(turns: Turns, reading: Reading) -> Turns:
    """Return turns whose responses are shared out by the bytes of each slice.

    `reading` is of the whole load. A response that is read in two slices counts in the second one.
    """
    read = [slice_.received_bytes for slice_ in turns.slices]
    bytes_read = [count for count in read if count is not None]
    if not bytes_read or not reading.received_bytes:
        return turns
    ends = [0, *accumulate(bytes_read)]
    counts = [end * reading.responses // reading.received_bytes for end in ends]
    slices = tuple(
        replace(item, responses=later - earlier)
        for item, (earlier, later) in zip(turns.slices, pairwise(counts), strict=True)
    )
    return turns.model_copy(update={"slices": slices})


def contradiction(turns: Turns, reading: Reading, load: Load | None) -> str | None:
    """Return how the kernel's bytes contradict those of the tool; None where they agree.

    After the last slice the tool reads the responses under way, one of each connection.
    """
    if not reading.received_bytes or not reading.responses:
        return "it reports no responses, or not how many bytes it received"
    kernel = (turns.uncounted_bytes or 0) + sum(
        slice_.received_bytes or 0 for slice_ in turns.slices
    )
    connections, threads = (1, 1) if load is None else (load.concurrency or 1, load.processes or 1)
    under_way = (connections + 1) * -(-reading.received_bytes // reading.responses)
    more, files = reading.received_bytes - kernel, _OF_FILES * (1 + threads)
    if -files <= more <= under_way + reading.byte_error:
        return None
    reported = f"it reports {exact(reading.received_bytes)} bytes"
    return f"{reported}, but the kernel {exact(kernel)} up to its last slice"


Rounds = Mapping[int, Sequence[float]]
"Logarithm of the rate in each round and its mirror, by block."


def rounds_by_block(trials: Sequence[Trial]) -> dict[int, tuple[float, ...]]:
    """Return the log-rates of each block's rounds; without blocks of which one had no response."""
    logs = {trial.block: trial.turns.log_rates for trial in trials if trial.turns is not None}
    return {block: rates for block, rates in logs.items() if len(rates) > 1}


def explained(first: Rounds, theirs: Rounds) -> float:
    """Return the deviation of a block's log-ratio that its own slices explain; 0 if unknown."""
    variances = []
    for block in first.keys() & theirs.keys():
        logs = [a - b for a, b in zip(first[block], theirs[block], strict=False)]
        if len(logs) > 1:
            variances.append(statistics.variance(logs) / len(logs))
    return math.sqrt(statistics.fmean(variances)) if variances else 0.0


# --- Servers that wait ----------------------------------------------------------------------------
# A timer runs on while its server is frozen: what waited for it is due at once when the server goes
# on. So a slice has some responses too many after the same rest, the less of it the longer it is.
# Shorter ones show them best; where a timer ends just before both, longer ones do.

SMALL = 0.05
"Share of a slice up to which waiting changes no ratio by more than that."
_TIMES, _LONGEST_PROBE_S = 4, 1.0
"By how much probed slices are shorter, and longer, than those that count, and how long at most."
_ROUNDS, _LEAST_ROUNDS = 5, 2
_SURE = 0.99


def waiting_s(concurrency: int, rate: float, busy: float) -> float:
    """Return how long a request waits by Little's law, in seconds, less what CPUs explain.

    `busy` is the time that server and load tool use a CPU or wait for one, per second: requests
    that wait for that stand still with their server.
    """
    return concurrency / rate * max(0.0, 1.0 - busy) if rate else math.inf


def probe_lengths(slice_s: float) -> Iterator[float]:
    """Yield the lengths of probed slices: one that opens, then rounds of all in mirrored order."""
    longer_s = min(_TIMES * slice_s, max(2 * slice_s, _LONGEST_PROBE_S))
    yield slice_s
    for number in range(_ROUNDS):
        yield from (slice_s / _TIMES, slice_s, longer_s)[:: -1 if number % 2 else 1]


class Excess(NamedTuple):
    """Share of the responses that slices add, by one comparison of their lengths."""

    mean: float
    least: float
    most: float
    "Ends of the interval at 99 %."


def excesses(slice_s: float, probed: Sequence[ProbedSlice]) -> list[Excess]:
    """Return the share of responses that slices of a length add, by shorter and by longer ones."""
    by_length: dict[float, list[float]] = {}
    for probe in probed:
        by_length.setdefault(probe.slice_s, []).append(probe.responses / probe.seconds)
    usual = by_length.pop(slice_s, [])
    return [
        _excess(usual, rates, slice_s / length_s - 1)
        for length_s, rates in sorted(by_length.items())
        if len(rates) == len(usual) >= _LEAST_ROUNDS and sum(usual) > 0
    ]


def _excess(usual: Sequence[float], others: Sequence[float], share: float) -> Excess:
    """Return the constant share of responses by which a slice has too many, from the rates.

    Such a constant makes rates in the other slices differ by `share` more than in the usual ones.
    """
    mean = statistics.fmean(usual)
    each = [(other - rate) / mean / share for rate, other in zip(usual, others, strict=True)]
    half = t_quantile(_SURE, len(each) - 1) * statistics.stdev(each) / math.sqrt(len(each))
    middle = statistics.fmean(each)
    return Excess(middle, middle - half, middle + half)
