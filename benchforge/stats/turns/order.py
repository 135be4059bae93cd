"""In which order servers take turns: a random order, then its reverse, and so on."""

import hashlib
import math
import random
from collections.abc import Iterator

from benchforge.model.suite.turns import LONGEST_FREEZE_S, LONGEST_S, TurnsPlanned

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
        there = tuple(rng.sample(range(servers), servers))
        yield there
        yield there[::-1]


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

    It is the given one, doubled as often as it takes, or the longest. None where not even the
    longest is enough.
    """
    most_s = max(slice_s, longest_s(servers))
    while slowest_per_s * slice_s < least:
        if slice_s == most_s:
            return None
        slice_s = min(2 * slice_s, most_s)
    return slice_s
