"""The apps of study WS that ask Virtuoso, against a real one."""

import json
import socket
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest
from benchforge_backends.virtuoso import Virtuoso
from front_door import captured, needed
from serving.apps import ask, free_port, serving
from serving.backends import running, site_at

from benchforge.run.locate import libraries

GRAPH = "http://graph-uri"
DATA = (
    "<http://dummyClass.com> a <http://www.w3.org/2002/07/owl#Class> . "
    "<http://dummyObj.com> a <http://dummyClass.com>"
)
SOON_S = 3.0  # less than the 10 s after which the apps give up
BY = {
    "virtuoso_tornado_native": "tornado",
    "virtuoso_tornado_curl": "tornado",
    "virtuoso_flask_requests": "gevent_patched",
    "virtuoso_flask_httplib2": "gevent",
}
LENGTHS = dict(zip(BY, [350, 350, 184, 184], strict=True))


class Store(NamedTuple):
    told: dict[str, str]
    isql: list[str]
    environment: dict[str, str]

    def does(self, statement: str) -> None:
        """Have a statement done. isql succeeds whatever happens, so it is read."""
        options = ("VERBOSE=OFF", "BANNER=OFF", "ERRORS=STDOUT", f"EXEC={statement}")
        done = captured([*self.isql, *options], check=True, env=self.environment)
        assert "*** Error" not in done.stdout, done.stdout


@pytest.fixture(scope="module")
def virtuoso(templates: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    needed("virtuoso-t", "isql-vt")
    part = Virtuoso.model_validate({"dataset": "classes", "number_of_buffers": 1000})
    with tempfile.TemporaryDirectory(prefix="bf-", dir="/tmp") as scratch:
        site = site_at(part, tmp_path_factory.mktemp("store"), Path(scratch))
        with running(part, site, "host") as (_, _, placed):
            isql = placed.programs["isql-vt"]
            words = [str(isql), f"127.0.0.1:{placed.ports['sql']}", "dba", "dba"]
            yield Store(dict(part.gives(placed)), words, libraries(isql))


@pytest.fixture
def graph(virtuoso: Store) -> Store:
    """The server, with the two triples of the study and no more."""
    virtuoso.does(f"SPARQL CLEAR GRAPH <{GRAPH}>;")
    virtuoso.does(f"SPARQL INSERT DATA {{ GRAPH <{GRAPH}> {{ {DATA} }} }};")
    return virtuoso


@pytest.mark.samples(2)
@pytest.mark.parametrize("name", BY)
def test_the_classes_in_the_studys_bytes(graph: Store, tmp_path: Path, name: str) -> None:
    with serving(name, tmp_path / "log", graph.told, BY[name]) as port:
        reply = ask(port, "/")
    assert (reply.status, len(reply.body)) == (200, LENGTHS[name])
    assert reply.headers["content-length"] == str(LENGTHS[name])
    assert classes(reply.body) == ["http://dummyClass.com"]
    assert ("etag" in reply.headers) == (BY[name] == "tornado")


@pytest.mark.parametrize("name", BY)
def test_a_class_is_added_and_all_are_removed(graph: Store, tmp_path: Path, name: str) -> None:
    with serving(name, tmp_path / "log", graph.told, BY[name]) as port:
        assert (ask(port, "/", "POST").status, ask(port, "/", "POST").status) == (200, 200)
        listed = classes(ask(port, "/").body)
        assert len(listed) == 3
        assert sum(item.startswith("http://uri-") for item in listed) == 2
        assert ask(port, "/", "DELETE").status == 200
        assert classes(ask(port, "/").body) == []
        assert ask(port, "/nowhere").status == 404


def classes(body: bytes) -> list[str]:
    return [row["class"]["value"] for row in json.loads(body)["results"]["bindings"]]


@pytest.mark.parametrize("refuses", [True, False], ids=["refuses", "absent"])
@pytest.mark.parametrize("name", BY)
def test_without_virtuoso_the_answer_is_an_error(
    virtuoso: Store, tmp_path: Path, name: str, refuses: bool
) -> None:
    actual = {"VIRTUOSO_URL": f"http://127.0.0.1:{free_port()}/sparql", "VIRTUOSO_GRAPH": GRAPH}
    if refuses:
        actual = {**virtuoso.told, "VIRTUOSO_GRAPH": "no> graph"}
    with serving(name, tmp_path / "log", actual, BY[name]) as port:
        assert [ask(port, "/", method).status for method in ("GET", "POST", "DELETE")] == [500] * 3


@pytest.mark.exhaustive
def test_a_virtuoso_that_never_answers_is_an_error(tmp_path: Path) -> None:
    with ExitStack() as stack:
        deaf = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}/sparql"
        actual = {"VIRTUOSO_URL": url, "VIRTUOSO_GRAPH": GRAPH}
        apps = [serving(name, tmp_path / name, actual, by) for name, by in BY.items()]
        ports = [stack.enter_context(app) for app in apps]
        clients = stack.enter_context(ThreadPoolExecutor(len(ports)))
        statuses = [reply.status for reply in clients.map(ask, ports, ["/"] * len(ports))]
    assert statuses == [500] * len(BY)


@pytest.mark.samples(1)
@pytest.mark.parametrize(
    ("name", "alone"), [("virtuoso_flask_requests", True), ("virtuoso_flask_httplib2", False)]
)
def test_who_else_waits_while_virtuoso_is_asked(tmp_path: Path, name: str, alone: bool) -> None:
    with ExitStack() as stack:
        deaf = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}/sparql"
        actual = {"VIRTUOSO_URL": url, "VIRTUOSO_GRAPH": GRAPH}
        port = stack.enter_context(serving(name, tmp_path / "log", actual, BY[name]))
        clients = stack.enter_context(ThreadPoolExecutor(2))
        asking = clients.submit(ask, port, "/")
        virtuoso_side = stack.enter_context(deaf.accept()[0])
        other = clients.submit(ask, port, "/nowhere")
        other.result()
        # Patched, the other is answered at once; else only when the first has given up, and has
        # its answer before.
        first, _ = wait([asking], SOON_S)
        assert (asking in first) != alone
        virtuoso_side.close()
        assert (asking.result().status, other.result().status) == (500, 404)
