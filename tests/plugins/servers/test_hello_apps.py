"""The apps without a backend: what they answer, byte by byte, and what the published ones do."""

import json
import socket
from functools import partial
from http.client import HTTPResponse
from pathlib import Path
from typing import NamedTuple

import pytest
from serving.apps import ask, serving

HELLO = b"Hello World!"
LONG = 64 * 1024 * 1024


class Asked(NamedTuple):
    """A request, and what is expected of the answer."""

    app: str
    request: str
    status: int
    body: bytes | None
    kind: str = ""


HELLOS = ("hello_wsgi", "hello_asgi", "hello_flask", "hello_tornado", "hello_cherrypy")
ASKED = [
    *[Asked(name, "GET /", 200, HELLO, "text/html") for name in HELLOS],
    *[Asked(name, "GET /nowhere", 404, None) for name in HELLOS],
    # CherryPy asks for no method.
    *[Asked(name, "POST /", 405, None) for name in HELLOS if name != "hello_cherrypy"],
    Asked("hello_flask_published", "GET /", 200, HELLO, "text/html"),
    Asked("page_wsgi", "GET /", 200, b"OK", "text/plain"),
    Asked("page_wsgi", "GET /anything", 200, b"OK", "text/plain"),
    Asked("page_cherrypy", "GET /", 200, b"OK", "text/html"),
    Asked("page_cherrypy", "GET /nowhere", 404, None),
    Asked("pong_wsgi", "GET /", 200, b"Pong!", "text/plain"),
    Asked("pong_wsgi", "GET /anything", 200, b"Pong!", "text/plain"),
    Asked("multiply_fastapi", "GET /multiply?number=0", 200, b'{"result":0}', "application/json"),
    Asked("multiply_fastapi", "GET /multiply?number=9", 200, b'{"result":18}', "application/json"),
    Asked("multiply_fastapi", "GET /multiply", 422, None),
    Asked("multiply_fastapi", "GET /multiply?number=many", 422, None),
    Asked("sizes_flask", "GET /ping", 200, b"pong", "text/html"),
    Asked("sizes_flask", "GET /length/0", 500, None),
    Asked("sizes_flask", f"GET /length/{LONG + 1}", 500, None),
    Asked("sizes_flask", "GET /length/many", 404, None),
]


@pytest.mark.parametrize("case", ASKED, ids=lambda case: f"{case.app} {case.request}")
def test_an_app_answers_as_its_study_says(case: Asked, tmp_path: Path) -> None:
    method, path = case.request.split()
    with serving(case.app, tmp_path / "log") as port:
        reply = ask(port, path, method)
    assert reply.status == case.status
    if case.body is not None:
        assert reply.body == case.body
        assert reply.headers["content-length"] == str(len(case.body))
        assert reply.headers["content-type"].startswith(case.kind)


def test_the_page_of_cherrypy_has_no_tool_that_adds_a_charset(tmp_path: Path) -> None:
    with serving("page_cherrypy", tmp_path / "1") as page:
        assert ask(page, "/").headers["content-type"] == "text/html"
    with serving("hello_cherrypy", tmp_path / "2") as hello:
        assert ask(hello, "/").headers["content-type"] == "text/html;charset=utf-8"


def test_cherrypys_page_as_published_is_an_error_today(tmp_path: Path) -> None:
    with serving("page_cherrypy_published", tmp_path / "log") as port:
        reply = ask(port, "/")
    assert reply.status == 500
    assert b"Page handlers MUST return bytes" in reply.body


def test_hello_as_published_is_an_error_for_any_other_request(tmp_path: Path) -> None:
    with serving("hello_wsgi_published", tmp_path / "log", by="gevent") as port:
        assert (ask(port, "/").status, ask(port, "/").body) == (200, HELLO)
        assert ask(port, "/nowhere").status == 500
        assert ask(port, "/", "POST").status == 500


@pytest.mark.parametrize(("name", "dots"), [("hello_flask_published", 3), ("hello_flask", 0)])
def test_published_flask_prints_a_dot_per_request(tmp_path: Path, name: str, dots: int) -> None:
    with serving(name, tmp_path / "log") as port:
        assert {ask(port, "/").body for _ in range(3)} == {HELLO}
    assert (tmp_path / "log").read_text().splitlines().count(".") == dots


@pytest.mark.parametrize(
    ("name", "stored"),
    [
        *(("hello_wsgi", True), ("hello_wsgi_published", False)),
        *(("page_wsgi", True), ("page_wsgi_published", False)),
    ],
)
def test_http_1_0_closes_without_a_length(tmp_path: Path, name: str, stored: bool) -> None:
    with serving(name, tmp_path / "log") as port, connected(port) as connection:
        reply = asked_as_ab_does(connection)
        assert (reply.headers["Content-Length"] is not None) == stored
        assert (reply.headers["Connection"] == "Keep-Alive") == stored
        if stored:
            assert asked_as_ab_does(connection).status == 200
        else:
            assert connection.recv(1) == b""


def asked_as_ab_does(connection: socket.socket) -> HTTPResponse:
    connection.sendall(b"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n")
    reply = HTTPResponse(connection)
    reply.begin()
    assert reply.read() in {HELLO, b"OK"}
    return reply


def connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=200)


def test_pong_is_43_bytes_for_who_asks(tmp_path: Path) -> None:
    with serving("pong_socket", tmp_path / "log") as port:
        with connected(port) as connection:
            connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
            full = everything(connection)
        assert ask(port, "/").body == b"Pong!"
    assert full == b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!"  # 43 bytes


def test_pong_as_published_is_two_bytes_too_long_and_needs_no_request(tmp_path: Path) -> None:
    with serving("pong_socket_published", tmp_path / "log") as port, connected(port) as connection:
        full = everything(connection)
    head, _, body = full.partition(b"\r\n\r\n")
    assert b"Content-Length: 5" in head
    assert (len(body), len(full)) == (7, 45)


def everything(connection: socket.socket) -> bytes:
    """Return all that comes until the other side closes."""
    with connection.makefile("rb") as stream:
        return stream.read()


def test_bigger_is_a_document_of_the_studys_shape(tmp_path: Path) -> None:
    with serving("sizes_flask", tmp_path / "log") as port:
        reply = ask(port, "/bigger")
    assert reply.status == 200
    assert reply.headers["content-type"] == "text/html; charset=utf-8"
    assert (len(reply.body), reply.body.count(b"\n"), reply.body.count(b"\t")) == (585, 22, 41)
    assert len(json.dumps(json.loads(reply.body))) < 585  # its layout is part of its length


def test_a_process_makes_the_bytes_of_a_length_once(tmp_path: Path) -> None:
    sizes = partial(serving, "sizes_flask")
    with sizes(tmp_path / "1") as server, sizes(tmp_path / "2") as two:
        first, again, other = (ask(port, "/length/1024").body for port in (server, server, two))
        shorter = ask(server, "/length/4").body
    assert first == again
    assert first != other
    assert [len(first), len(other), len(shorter)] == [1024, 1024, 4]
