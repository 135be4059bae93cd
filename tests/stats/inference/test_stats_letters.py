"""Letters: against their definition, for any relation."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from benchforge.stats.inference.holm import letters


@st.composite
def relations(draw: st.DrawFn) -> tuple[int, set[tuple[int, int]]]:
    k = draw(st.integers(1, 9))
    pairs = list(combinations(range(k), 2))
    return k, draw(st.sets(st.sampled_from(pairs))) if pairs else set()


def given_letters(k: int, differ: set[tuple[int, int]]) -> tuple[str, ...]:
    actual = letters(k, lambda i, j: (i, j) in differ)
    assert actual is not None
    return actual


@given(relations())
def test_a_letter_means_no_difference(relation: tuple[int, set[tuple[int, int]]]) -> None:
    k, differ = relation
    actual = given_letters(k, differ)
    assert all(actual)
    for i, j in combinations(range(k), 2):
        assert bool(set(actual[i]) & set(actual[j])) != ((i, j) in differ)


@given(relations())
def test_no_letter_can_be_left_out(relation: tuple[int, set[tuple[int, int]]]) -> None:
    actual = given_letters(*relation)
    holders = {
        letter: {i for i, mine in enumerate(actual) if letter in mine} for letter in "".join(actual)
    }
    for letter, held in holders.items():
        assert not any(held <= other for name, other in holders.items() if name != letter)


def test_the_first_letter_is_the_bests() -> None:
    differ = {(0, 2), (0, 3), (0, 4), (1, 4), (2, 4)}
    assert given_letters(5, differ) == ("a", "ab", "b", "bc", "c")
    assert given_letters(3, set()) == ("a", "a", "a")
    assert given_letters(3, {(0, 1), (0, 2), (1, 2)}) == ("a", "b", "c")
    assert given_letters(1, set()) == ("a",)


def test_beyond_the_alphabet_there_are_numbers() -> None:
    actual = given_letters(54, set(combinations(range(54), 2)))
    assert (actual[0], actual[26], actual[51], actual[53]) == ("a", "A", "Z", "(54)")


def test_a_relation_without_end_has_no_letters() -> None:
    # Pairs of twins that differ: each column takes one of every pair.
    assert letters(40, lambda i, j: j == i + 1 and i % 2 == 0) is None
