"""Turns: the order of slices, how long one takes, and what they add up to."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made.observed import reading
from made.quiet_trial import trial
from made.turns import turns

from benchforge.model.suite.until import TurnsPlanned, longest_freeze_s
from benchforge.model.trial.turns import Turns
from benchforge.stats.turns import (
    LEAST_REQUESTS,
    by_bytes,
    contradiction,
    first_slice_s,
    in_turns,
    long_enough,
    longest_s,
    order,
    rounds_of,
    seed_of,
)

SEEDS = st.integers(0, 2**53)
SERVERS = st.integers(2, 12)
ROUNDS = st.integers(1, 15).map(lambda pairs: 2 * pairs)


@given(SEEDS, SERVERS, ROUNDS)
def test_each_second_round_mirrors_the_one_before_it(seed: int, servers: int, rounds: int) -> None:
    drawn = list(order(seed, servers, rounds))
    assert len(drawn) == rounds
    assert all(sorted(item) == list(range(servers)) for item in drawn)
    assert all(drawn[index + 1] == drawn[index][::-1] for index in range(0, rounds, 2))
    assert drawn == list(order(seed, servers, rounds))


@given(SEEDS, SERVERS, ROUNDS)
def test_no_server_waits_for_longer_than_is_said(seed: int, servers: int, rounds: int) -> None:
    sequence = [index for item in order(seed, servers, rounds) for index in item]
    for server in range(servers):
        index_ = [path for path, index in enumerate(sequence) if index == server]
        between = [later - earlier - 1 for earlier, later in pairwise(index_)]
        assert max(between, default=0) <= longest_freeze_s(servers, 1.0)


@given(st.integers(0, 2**63), st.integers(1, 1000), st.text(max_size=20))
def test_a_seed_is_a_number_that_every_reader_of_json_keeps(run: int, block: int, key: str) -> None:
    seed = seed_of(run, block, key)
    assert seed == int(float(seed))
    assert seed == seed_of(run, block, key)
    assert seed != seed_of(run, block + 1, key)


@given(st.floats(0.02, 1.0), st.floats(0.04, 60.0))
def test_rounds_are_even_and_enough(slice_s: float, each_s: float) -> None:
    rounds = rounds_of(slice_s, each_s)
    assert rounds % 2 == 0
    assert rounds * slice_s >= each_s * (1 - 1e-6)
    assert rounds == 2 or (rounds - 2) * slice_s < each_s


@given(st.floats(0.02, 1.0), st.floats(0.1, 1e6), SERVERS)
def test_a_slice_is_doubled_until_enough(slice_s: float, rate: float, servers: int) -> None:
    actual = long_enough(TurnsPlanned(slice_s=slice_s, each_s=2.0).slice_s, rate, servers)
    if actual is None:
        shortest = LEAST_REQUESTS / rate
        assert shortest > max(slice_s, longest_s(servers)) * (1 - 1e-9)
    else:
        assert rate * actual >= LEAST_REQUESTS
        assert actual == slice_s or rate * actual / 2 < LEAST_REQUESTS
        assert actual <= max(slice_s, longest_s(servers))


@given(st.floats(0.02, 1.0), SERVERS, st.integers(1, 9))
def test_each_attempt_doubles_its_slices(slice_s: float, servers: int, attempt: int) -> None:
    first = first_slice_s(TurnsPlanned(slice_s=slice_s, each_s=2.0), servers, attempt)
    assert first in {slice_s, slice_s * 2 ** (attempt - 1), longest_s(servers)}
    assert slice_s <= first <= max(slice_s, longest_s(servers))
    assert first == slice_s * 2 ** (attempt - 1) or 2 * first > longest_s(servers)


@given(st.lists(st.integers(0, 500), min_size=2, max_size=20))
def test_a_reading_in_turns_has_the_seconds_of_the_slices_and_no_times(counts: list[int]) -> None:
    took = turns(*counts)
    full = reading(responses=sum(counts), seconds=99.0)
    observed = in_turns(full, took)
    assert observed.seconds == took.seconds
    assert took.responses == observed.responses == sum(counts)
    assert (observed.latency, observed.series, observed.percentiles_us) == (None, None, None)
    assert observed.errors == full.errors


@given(st.lists(st.integers(0, 200_000), min_size=2, max_size=20), st.integers(1, 5000))
def test_responses_by_bytes_are_those_of_all_slices(counts: list[int], size: int) -> None:
    took = by_counts(counts)
    read = sum(counts)
    full = reading(responses=read // size + 1, seconds=1.0, received_bytes=read + size)
    shared = by_bytes(took, full)
    assert shared.responses == read * full.responses // (read + size)
    each = (read + size) / full.responses
    for slice_, count in zip(shared.slices, counts, strict=True):
        assert abs(slice_.responses - count / each) < 2


@pytest.mark.parametrize(
    ("expected", "agrees"), [(100_000, True), (100_900, True), (101_000, False), (60_000, False)]
)
def test_what_the_kernel_counts_is_held_against_the_tool(expected: int, agrees: bool) -> None:
    took = by_counts([40_000, 60_000])
    load = trial().load
    assert load is not None
    load = load.model_copy(update={"concurrency": 8, "processes": 1})
    full = reading(responses=expected // 100, seconds=1.0, received_bytes=expected)
    assert (contradiction(took, full, load) is None) is agrees


def by_counts(counts: list[int]) -> Turns:
    """Turns of a tool that is frozen with its server, by the bytes that it read."""
    took = turns(*[0] * len(counts), uncounted_bytes=0)
    pairs = zip(took.slices, counts, strict=True)
    slices = tuple(replace(item, received_bytes=count) for item, count in pairs)
    return took.model_copy(update={"slices": slices})
