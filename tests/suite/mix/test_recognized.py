"""A request of a mix, as a connection carries it, tells its kind and what is right for it."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice

from hypothesis import given
from hypothesis import strategies as st

from benchforge.model.trial.answers.answer import Expect
from benchforge.run.http.wire.message import request
from benchforge.run.mix.ready import monitoring
from benchforge.suite.mix.feeds import LoadedFeed, Row, loaded
from benchforge.suite.mix.flows import User
from benchforge.suite.mix.holes import Value, expected
from benchforge.suite.mix.recognized import Recognizer, SentRequest
from benchforge.suite.mix.stream import Mix
from benchforge.suite.mix.tables import Feed, RequestKind, UserSession

KINDS = {
    "list": {"request": {"path": "/"}, "expect": {"body": "all"}},
    "item": {"request": {"path": "/items/{id}"}, "expect": {"json": {"id": "{id:integer}"}}},
    "other": {"request": {"path": "/items/{id}/more"}, "expect": {"status": 404}},
    "book": {
        "request": {"path": "/books?q={books.title}"},
        "expect": {"body_matches": "{books.author}"},
    },
    "order": {
        "request": {"method": "POST", "path": "/orders", "body": '{"of": "{word}", "n": {id}}'},
        "expect": {"status": 201, "json": {"of": "{word}", "n": "{id:integer}"}},
    },
    "form": {
        "request": {"method": "POST", "path": "/form", "form": {"a": "{word}", "b": "{id}"}},
        "expect": {"body": "{word} {id}"},
    },
    "page": {"request": {"path": "/me"}, "expect": {"body_matches": "of {users.name}, {token}"}},
}
TEXT = st.text(min_size=1, max_size=6)


def rows_of(label: str, rows: list[Row]) -> LoadedFeed:
    return replace(loaded(label, Feed(values=("-",)), None), rows=rows)


def mix(words: list[str], books: list[str]) -> Mix:
    kinds = {label: RequestKind.model_validate(kind) for label, kind in KINDS.items()}
    feeds = {
        "id": loaded("id", Feed(integers=(-9, 10**9)), None),
        "word": loaded("word", Feed(values=tuple(words)), None),
        "books": rows_of("books", [{"title": b, "author": f"by {n}"} for n, b in enumerate(books)]),
        "users": rows_of("users", [{"name": f"user{n}"} for n in range(3)]),
    }
    login = {"users": 3, "request": {"path": "/in/{users.name}"}, "take": {"token": "json:/t"}}
    plain = Mix(kinds, feeds, UserSession.model_validate(login))
    rows = plain._users(1, 1)
    users = [User({"s": f"{n}"}, {"token": f"t{n}"}, row) for n, row in enumerate(rows)]
    return replace(plain, users=tuple(users))


@given(st.lists(TEXT, min_size=1, max_size=4), st.lists(TEXT, min_size=1, max_size=4, unique=True))
def test_each_request_of_a_stream_tells_its_kind_and_its_right_answer(
    words: list[str], books: list[str]
) -> None:
    workload = mix(words, books)
    recognizer, labels = Recognizer(workload), list(workload.rows)
    for record, values in islice(workload.dealt(1, 1, "seed"), 40):
        label, head = labels[record.kind], record.head + b"Host: a\r\n\r\n"
        message = request(head + record.body, 0)
        body = message.body.decode()
        sent = SentRequest(message.method, message.target, message.headers, body)
        (kind,) = recognizer.expects(sent)
        assert kind == (label, right(workload, label, values)), (sent, values)


def right(workload: Mix, label: str, values: Mapping[str, Value]) -> Expect:
    return Expect.model_validate(expected(workload.rows[label].expect, values))


def test_what_is_of_no_kind_is_not_known() -> None:
    recognizer = Recognizer(mix(["a"], ["b"]))
    for method, target in (("GET", "/items/x/y"), ("POST", "/"), ("GET", "/nothing")):
        assert not list(recognizer.expects(SentRequest(method, target, {}, "")))


def test_a_right_answer_that_needs_more_than_the_request_tells_is_not_known() -> None:
    recognizer = Recognizer(mix(["a"], ["b"]))
    assert list(recognizer.expects(SentRequest("GET", "/me", {}, ""))) == [("page", None)]
    unknown = SentRequest("GET", "/books?q=none", {"cookie": "s=0"}, "")
    assert list(recognizer.expects(unknown)) == [("book", None)]


# --- what the monitor sends; what it finds: validity/test_validity_kinds.py -----------------------


def monitored_mix(session: UserSession | None = None) -> Mix:
    """Return a mix of three kinds, of which one uses each row of a feed once."""
    paths = {"list": "/", "item": "/items/{id}", "member": "/of/{member}"}
    shares = {"list": 6, "item": 3, "member": 1}
    kinds = {
        label: RequestKind.model_validate({"share": shares[label], "request": {"path": path}})
        for label, path in paths.items()
    }
    feeds = {"id": Feed(integers=(1, 10**9)), "member": Feed(integers=(1, 50), order="each once")}
    return Mix(kinds, {k: loaded(k, feed, None) for k, feed in feeds.items()}, session)


def test_it_sends_a_stream_of_its_own_with_the_shares() -> None:
    full = monitored_mix()
    kinds = {"list": full.kinds["list"], "item": full.kinds["item"]}
    workload = Mix(kinds, {"id": full.feeds["id"]})
    dealt, rows, _ = monitoring(workload, 1, 1).args
    planned = [record for record, _ in islice(dealt, 300)]
    assert Counter(record.kind for record in planned) == {0: 200, 1: 100}
    assert list(rows) == ["list", "item"]
    assert planned != list(islice(workload.records(1, 1), 300))
    again, _, _ = monitoring(workload, 1, 1).args
    assert planned == [record for record, _ in islice(again, 300)]


def test_rows_that_come_once_are_left_to_the_load() -> None:
    _, rows, _ = monitoring(monitored_mix(), 1, 1).args
    assert list(rows) == ["list", "item"]
    login = {"users": 5, "request": {"path": "/login/{member}"}}
    _, rows, _ = monitoring(monitored_mix(UserSession.model_validate(login)), 1, 1).args
    assert list(rows) == ["list", "item", "member"]
