"""The monitor of a mix: which requests it sends. What it finds: validity/test_validity_kinds.py."""

from collections import Counter
from itertools import islice

from benchforge.run.mix.ready import monitoring
from benchforge.suite.mix.feeds import loaded
from benchforge.suite.mix.stream import Mix
from benchforge.suite.mix.tables import Feed, RequestKind, UserSession


def mix(session: UserSession | None = None) -> Mix:
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
    full = mix()
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
    _, rows, _ = monitoring(mix(), 1, 1).args
    assert list(rows) == ["list", "item"]
    login = {"users": 5, "request": {"path": "/login/{member}"}}
    _, rows, _ = monitoring(mix(UserSession.model_validate(login)), 1, 1).args
    assert list(rows) == ["list", "item", "member"]
