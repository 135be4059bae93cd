"""The stream of a mix: shares in each prefix, the same for a seed, holes that come back whole."""

import json
from collections import Counter
from itertools import islice
from urllib.parse import parse_qs, unquote, unquote_plus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from benchforge.suite.mix.feeds import loaded
from benchforge.suite.mix.holes import Template, expected, holes_of, in_body
from benchforge.suite.mix.record import StreamRecord
from benchforge.suite.mix.stream import Mix
from benchforge.suite.mix.tables import Feed, RequestKind

SHARES = st.lists(st.integers(1, 40), min_size=1, max_size=5)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


def mix(shares: list[int], **feeds: Feed) -> Mix:
    """Return a mix of kinds that are called by their numbers; each path has all feeds."""
    path = "".join(f"/{{{label}}}" for label in feeds) or "/"
    kinds = {
        str(number): RequestKind.model_validate({"share": share, "request": {"path": path}})
        for number, share in enumerate(shares)
    }
    return Mix(kinds, {label: loaded(label, feed, None) for label, feed in feeds.items()})


def first(workload: Mix, number: int, seed: int = 1, block: int = 1) -> list[StreamRecord]:
    """Return so many requests of a stream."""
    return list(islice(workload.records(seed, block), number))


@given(SHARES, st.integers(0, 300))
def test_each_prefix_has_the_shares_to_within_one_deck(shares: list[int], length: int) -> None:
    workload = mix(shares)
    deck, count = len(workload.deck), sum(shares)
    counts = Counter(record.kind for record in first(workload, length))
    for number, share in enumerate(shares):
        of_a_deck = deck * share // count
        assert (length // deck) * of_a_deck <= counts[number] <= -(-length // deck) * of_a_deck


@settings(max_examples=25)  # of 200 requests each
@given(SHARES, st.integers(0, 2**32), st.integers(1, 9))
def test_a_seed_and_a_block_make_one_stream(shares: list[int], seed: int, block: int) -> None:
    workload = mix(shares, id=Feed(integers=(1, 10**9)), note=Feed(text=(1, 9)))
    once, again = (first(workload, 50, seed, block) for _ in range(2))
    assert once == again
    assert once != first(workload, 50, seed, block + 1)
    assert once != first(workload, 50, seed + 1, block)


@given(st.lists(st.integers(), min_size=1, max_size=20, unique=True))
def test_values_are_dealt_each_as_often(values: list[int]) -> None:
    rows = loaded("n", Feed(values=tuple(v % 2**53 for v in values)), None)
    assert Counter(islice(rows.draws("seed"), 3 * len(values))) == Counter(3 * list(rows.rows))


@given(st.integers(0, 50), st.integers(0, 50))
def test_numbers_are_between_their_ends_and_each_once_ends(low: int, more: int) -> None:
    ends = low, low + more
    drawn = set(islice(loaded("i", Feed(integers=ends), None).draws("s"), 99))
    assert drawn <= set(range(low, low + more + 1))
    once = loaded("i", Feed(integers=ends, order="each once"), None)
    assert list(once.draws("s")) == list(range(low, low + more + 1))


def test_the_probes_of_several_load_tools_take_rows_of_their_own_from_the_end() -> None:
    kind = RequestKind.model_validate({"share": 1, "request": {"path": "/order/{i}"}})
    feeds = {"i": loaded("i", Feed(integers=(1, 20), order="each once"), None)}
    workload = Mix({"a": kind, "b": kind}, feeds)
    paths = [[request.path for request, _ in workload.at(n).first.values()] for n in range(2)]
    assert paths == [["/order/20", "/order/19"], ["/order/18", "/order/17"]]
    assert first(workload, 9) == first(workload.at(1), 9)


def test_a_skew_prefers_the_first_values() -> None:
    draws = loaded("p", Feed(integers=(1, 100), skew="zipf 1.1"), None).draws("seed")
    drawn = Counter(islice(draws, 5000))
    assert set(drawn) <= set(range(1, 101))
    assert drawn[1] > drawn[2] > drawn[10] > drawn[90]


@given(TEXTS)
def test_a_value_comes_back_out_of_a_path(text: str) -> None:
    path = Template("/search/{q}?q={q}", "path").fill({"q": text})
    assert path.isascii()
    assert not set(path) & set(" \r\n#")
    segment, _, query = path.removeprefix("/search/").partition("?q=")
    assert (unquote(segment), unquote(query)) == (text, text)


@given(TEXTS, st.integers())
def test_values_come_back_out_of_json(text: str, number: int) -> None:
    body = '{"a": {"note": "for {q}, {q}"}, "n": {n}, "q": {q}, "whole": {n:integer}, "x": "{{n}"}'
    filled = in_body(body, "application/json").fill({"q": text, "n": number})
    whole = {"a": {"note": f"for {text}, {text}"}, "n": number, "q": text, "whole": number}
    assert json.loads(filled) == whole | {"x": "{n}"}


@given(TEXTS.filter(bool), TEXTS.filter(bool))
def test_values_come_back_out_of_a_form(name: str, password: str) -> None:
    form = {"name": "{users.name}", "pass word": "{users.password}"}
    kind = RequestKind.model_validate({"request": {"method": "POST", "form": form}})
    rows = {"name": name, "password": password}
    users = loaded("users", Feed(values=(1,)), None)
    workload = Mix({"login": kind}, {"users": type(users)("users", users.feed, (rows,))})
    (record,) = first(workload, 1)
    assert b"Content-Type: application/x-www-form-urlencoded\r\n" in record.head
    assert f"Content-Length: {len(record.body)}\r\n".encode() in record.head
    fields = parse_qs(record.body.decode(), keep_blank_values=True)
    assert fields == {"name": [name], "pass word": [password]}
    assert unquote_plus(record.body.decode().partition("&")[0]) == f"name={name}"


def test_a_raw_hole_is_not_escaped_and_an_integer_is_a_number() -> None:
    values: dict[str, int | float | str] = {"q": "a b/é", "n": "007", "k": 5}
    assert Template("/{q:raw}/{n:integer}", "path").fill(values) == "/a b/é/7"
    inner: JsonValue = {"id": "{n:integer}", "as": "{n}", "in": ["x {k} {{k}"]}
    filled = {"id": 7, "as": "007", "in": ["x 5 {k}"]}
    assert expected({"items": "{k}", "json": inner}, values) == {"items": 5, "json": filled}


@pytest.mark.parametrize(
    ("body", "filled"),
    [
        *(("{x}", 'a "b"'), ("[{x}", '[a "b"'), ("{{x} {x}", '{x} a "b"')),
        *(('{"q": {x}}', '{"q": "a \\"b\\""}'), ('["{x}"]', '["a \\"b\\""]')),
    ],
)
def test_a_body_without_a_type_is_json_where_it_is_json(body: str, filled: str) -> None:
    assert in_body(body, "").fill({"x": 'a "b"'}) == filled


def test_a_value_in_a_pattern_stands_for_itself() -> None:
    table: JsonValue = {"body_matches": "^{x}{x:raw}$", "body": "{x}"}
    assert expected(table, {"x": "a.b"}) == {"body_matches": r"^a\.ba\.b$", "body": "a.b"}


def test_braces_of_json_are_no_holes() -> None:
    body = '{"amount": {number}, "nested": {"a": {}}, "list": [{"b": 1}], "t": "{{number}"}'
    assert [hole.written for hole in holes_of(body)] == ["{number}"]


def test_a_secret_in_a_request_or_in_a_step_is_hidden() -> None:
    """What a kind does not have, request or steps, came back as one that it has."""
    request = {"path": "/", "headers": {"Authorization": "Bearer a-long-secret"}}
    kinds = {
        "read": RequestKind.model_validate({"request": request}),
        "buy": RequestKind.model_validate({"steps": [{"name": "pay", "request": request}]}),
    }
    workload = Mix(kinds, {})
    assert workload.hidden(["another-secret"]) is workload
    hidden = workload.hidden(["a-long-secret"])
    assert isinstance(hidden, Mix)
    assert "a-long-secret" not in str(hidden.kinds)
    assert hidden.kinds["read"].request.headers == {"Authorization": "Bearer ***"}
