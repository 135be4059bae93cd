"""When noise is not waited for any more: a pure function of trials, which are made by hand."""

from collections.abc import Sequence
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from made.made_result import NOISE, case, header, trial

from benchforge.model.trial.check import Check
from benchforge.model.trial.trial import ATTEMPTS, Trial
from benchforge.stats.summary.completeness import missing, needs_no_more, settled_places
from benchforge.stats.timeseries.noise import MOST, Noise, noise_of

ONE, TWO = case("one"), case("two")
LOUD = NOISE.model_copy(update={"value": 0.6, "transient": True})
PAGED = NOISE.model_copy(update={"id": "M1", "topic": "", "transient": True})
LOOKED = NOISE.model_copy(update={"id": "quiet", "status": "warn", "topic": "quiet"})


def made(number: int, *checks: Check, block: int = 1, attempt: int = 1) -> Trial:
    return trial(number, block, 1, ONE, 100.0, checks=checks, attempt=attempt)


def walked(spoilt: Sequence[bool], places: int, trials: Sequence[Trial] = ()) -> list[Trial]:
    """Measure places as a run does: each trial is spoilt or not, as the list says, in turns."""
    items = list(trials)
    noise = noise_of(items)
    for block in range(1, places + 1):
        attempts = [item for item in items if item.block == block]
        if (block, 1) in settled_places(items):
            continue
        while not needs_no_more(attempts, noise):
            number = len(items) + 1
            checks = [LOUD] if spoilt[(number - 1) % len(spoilt)] else []
            item = made(number, *checks, block=block, attempt=len(attempts) + 1)
            noise = noise.after(item)
            attempts, items = [*attempts, item], [*items, item]
    return items


def test_noise_that_does_not_end_costs_the_attempts_of_one_place() -> None:
    steps = walked([True], 6)
    assert [item.attempt for item in steps] == [1, 2, 3, 1, 1, 1, 1, 1]
    assert missing(header([ONE], 6), steps, None) == 0


def test_what_was_not_spoilt_gives_the_attempts_back() -> None:
    steps = walked([True] * 4 + [False] + [True] * 20, 5)
    assert [item.attempt for item in steps] == [1, 2, 3, 1, 1, 1, 2, 3, 1]


@given(st.lists(st.booleans(), min_size=1, max_size=9), st.integers(1, 6), st.integers(0, 20))
def test_a_kill_changes_no_decision(spoilt: list[bool], places: int, cut: int) -> None:
    steps = walked(spoilt, places)
    assert walked(spoilt, places, steps[:cut]) == steps
    assert missing(header([ONE], places), steps, None) == 0


@given(st.lists(st.booleans(), min_size=1, max_size=9), st.integers(1, 6))
def test_a_place_has_three_attempts_at_most(spoilt: list[bool], places: int) -> None:
    steps = walked(spoilt, places)
    assert max(item.attempt for item in steps) <= ATTEMPTS
    for index, (item, following) in enumerate(pairwise(steps)):
        recent = steps[max(0, index + 1 - MOST) : index + 1]
        lasts = len(recent) == MOST and all(each.noisy for each in recent)
        assert not lasts or following.block == item.block + 1


def test_another_fault_that_comes_and_goes_is_tried_again_whatever_noise_does() -> None:
    noise = Noise(spoilt=MOST)
    assert needs_no_more([made(4, LOUD)], noise)
    assert not needs_no_more([made(4, LOUD, PAGED)], noise)
    assert not needs_no_more([made(4, PAGED)], noise)


def test_what_failed_and_what_did_not_look_tell_nothing() -> None:
    noise = Noise(2, 2)
    assert noise.after(trial(3, 1, 1, ONE, 100.0, failed=True)) == noise
    assert noise.after(made(3)) == Noise(0, 2)
    assert noise.after(made(3, LOUD, LOOKED)) == Noise(3, 3)
    calm = LOOKED.model_copy(update={"status": "pass"})
    assert noise.after(made(3, LOUD, calm)) == Noise(3, 0)
    assert (Noise(3, 0).repeats, Noise(3, 0).waits) == (False, True)
    assert (Noise(0, 3).repeats, Noise(0, 3).waits) == (True, False)


def test_only_who_is_known_to_be_disturbed_by_others_has_a_ratio() -> None:
    assert made(1, LOUD).disturbed
    assert made(1, LOUD, NOISE.model_copy(update={"id": "N3", "topic": "waiting"})).disturbed
    # The disk may be busy with what the server itself wrote.
    assert not made(1, LOUD, NOISE.model_copy(update={"id": "N3", "topic": "stall"})).disturbed
    assert not made(1, LOUD, PAGED).disturbed
    # A load tool with too few CPUs of its own waits, too.
    assert not made(1, NOISE.model_copy(update={"id": "L5", "topic": "waiting"})).disturbed
    assert not made(1, NOISE).disturbed  # by how much is not known
    assert not made(1).disturbed
