"""Rankings: an order that claims no more than was found, and letters, for any relation."""

from itertools import combinations
from random import Random

from hypothesis import given
from hypothesis import strategies as st
from made.simulate import blocks, by_block

from benchforge.stats.inference.holm import letters, ranking


@given(st.integers(0, 10**6), st.integers(2, 6))
def test_letters_ranks_and_pairs_say_the_same(seed: int, k: int) -> None:
    table = blocks(Random(seed), 10, [1 + 0.04 * (index // 2) for index in range(k)], outliers=0)
    got = ranking(by_block({f"s{index}": row for index, row in enumerate(table)}))
    typical = [item.value.value or 0 for item in got.order]
    assert typical == sorted(typical, reverse=True)
    path = {item.server: index for index, item in enumerate(got.order)}
    for pair in got.pairs:
        first, second = got.order[path[pair.first]], got.order[path[pair.second]]
        assert path[pair.first] < path[pair.second]
        assert (pair.ratio.value or 0) >= 1 - 1e-12
        assert pair.differ == (not set(first.letters) & set(second.letters))
        assert pair.differ == ((pair.p_holm or 0) < 0.05)
        assert (pair.simultaneous.low or 0) <= (pair.ratio.low or 0)
        assert (pair.simultaneous.high or 0) >= (pair.ratio.high or 0)
    for index_, item_ in enumerate(got.order):
        beaten_by = sum(pair.differ for pair in got.pairs if pair.second == item_.server)
        beats = sum(pair.differ for pair in got.pairs if pair.first == item_.server)
        assert (item_.best, item_.worst) == (1 + beaten_by, k - beats)
        assert item_.best <= index_ + 1 <= item_.worst


def test_clear_differences_have_letters_of_their_own() -> None:
    table = blocks(Random(1), 10, [1, 2, 4], outliers=0)
    got = ranking(by_block(dict(zip("abc", table, strict=True))))
    rows = [(item.server, item.letters, item.best, item.worst) for item in got.order]
    assert rows == [("c", "a", 1, 1), ("b", "b", 2, 2), ("a", "c", 3, 3)]
    least = ranking(by_block(dict(zip("abc", table, strict=True))), better="lower")
    assert [item.server for item in least.order] == ["a", "b", "c"]
    assert all((pair.ratio.value or 2) < 1 for pair in least.pairs)


def test_a_server_without_a_typical_value_is_last_and_may_have_any_rank() -> None:
    table = blocks(Random(1), 10, [1, 2, 4], outliers=0)
    values = {"a": table[0], "stuck": [0.0, *table[1][1:]], "c": table[2]}
    for better in ("higher", "lower"):
        got = ranking(by_block(values), "higher" if better == "higher" else "lower")
        last = got.order[-1]
        assert (last.server, last.best, last.worst) == ("stuck", 1, 3)
        assert [item.worst for item in got.order[:-1]] == [2, 3]
        for pair in got.pairs:
            assert pair.differ == ("stuck" not in {pair.first, pair.second})
            assert (pair.p_holm is None) == (not pair.differ)
            assert bool(pair.ratio.why) == (not pair.differ)


def test_one_server_and_none() -> None:
    assert ranking({}).order == ()
    item = ranking(by_block({"a": [1.0, 2.0, 3.0]})).order[0]
    assert (item.letters, item.best, item.worst) == ("a", 1, 1)


def test_so_many_servers_are_still_ranked() -> None:
    table = blocks(Random(1), 5, [1 + index / 50 for index in range(20)], outliers=0)
    got = ranking(by_block({f"s{index}": row for index, row in enumerate(table)}))
    assert len(got.pairs) == len(list(combinations(range(20), 2)))
    assert all(item.letters for item in got.order)


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
