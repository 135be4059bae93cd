"""The null server: whatever is asked, in whatever pieces, is answered once and in order."""

import contextlib
import http.client
import itertools
import socket
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from faults.watched import children, until
from front_door import captured, program_words
from hypothesis import given
from hypothesis import strategies as st
from serving.apps import accepts, free_port

from benchforge.run.ceiling import null_program
from benchforge.run.ceiling.null_program import LARGEST_HEAD, Connection
from benchforge.run.ceiling.null_server import processes_for

BODY = b"x" * 7
GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
HEAD = b"HEAD / HTTP/1.1\r\nHost: a\r\n\r\n"
POST = b"POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 12\r\n\r\na\r\n\r\nGET / \r"
OLD = b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"
REQUESTS = (GET, HEAD, POST, OLD)


@contextlib.contextmanager
def serving(length: int = 7, processes: int = 1) -> Iterator[int]:
    """A null server of its own, and its port."""
    port = free_port()
    program = [sys.executable, "-I", "-S", null_program.__file__, "--port", str(port)]
    more = ["--bytes", str(length), "--processes", str(processes)]
    with subprocess.Popen([*program, *more], process_group=0) as process:
        try:
            until(lambda: accepts(port))
            yield port
        finally:
            for child in children(process.pid):
                with contextlib.suppress(ProcessLookupError):
                    subprocess.run(["kill", str(child)], check=False)
            process.kill()


def asked(port: int, *pieces: bytes) -> bytes:
    """What comes back until the server closes, for bytes that are sent piece by piece."""
    with socket.create_connection(("127.0.0.1", port), 200) as connection:
        for piece in pieces:
            connection.sendall(piece)
            time.sleep(0.01)
        return b"".join(iter(lambda: connection.recv(65536), b""))


def answered(request: bytes) -> bytes:
    return Connection(-1).take(request, BODY)


def test_a_body_is_as_long_as_is_said_and_head_has_none() -> None:
    assert answered(GET).endswith(b"Content-Length: 7\r\nConnection: keep-alive\r\n\r\n" + BODY)
    assert answered(HEAD) == answered(GET).removesuffix(BODY)
    assert answered(POST) == answered(GET)


@given(
    st.lists(st.sampled_from(REQUESTS), min_size=1, max_size=6),
    st.lists(st.integers(0, 300), max_size=8),
)
def test_cut_bytes_have_one_answer_each(requests: list[bytes], cuts: list[int]) -> None:
    text = b"".join(requests)
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    connection = Connection(-1)
    actual = [connection.take(text[a:b], BODY) for a, b in itertools.pairwise(places)]
    assert b"".join(actual) == b"".join(answered(request) for request in requests)
    assert connection.between


@pytest.mark.parametrize(
    ("request_", "status", "closes"),
    [
        (GET, b"200", False),
        (OLD, b"200", False),
        (b"GET / HTTP/1.0\r\n\r\n", b"200", True),
        (b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n", b"200", True),
        (b"POST / HTTP/1.1\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx", b"200", True),
        (b"nonsense\r\n\r\n", b"400", True),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", b"411", True),
        (b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", b"411", True),
        (b"GET / HTTP/1.1\r\nA: " + b"a" * LARGEST_HEAD, b"431", True),
    ],
)
def test_a_connection_is_kept_as_the_request_asks(
    request_: bytes, status: bytes, closes: bool
) -> None:
    connection = Connection(-1)
    assert connection.take(request_, BODY).split()[1] == status
    assert connection.closes is closes


def test_who_waits_for_a_word_before_the_body_gets_it() -> None:
    connection = Connection(-1)
    head = b"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
    assert connection.take(head, BODY) == null_program.GO_ON
    assert connection.take(b"xy", BODY) == answered(GET)


def test_over_a_socket_large_bodies_are_whole_and_pipelined_ones_in_order() -> None:
    length = 3_000_000
    last = b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n"
    with serving(length) as port:
        check = asked(port, GET + HEAD, GET[:9], GET[9:] + last)
    heads = check.replace(b"x" * length, b"[body]").split(b"HTTP/1.1 200 OK\r\n")[1:]
    assert [head.endswith(b"[body]") for head in heads] == [True, False, True, True]


def test_who_resets_a_connection_disturbs_nobody_else() -> None:
    with serving(1_000_000) as port:
        for _ in range(20):
            with socket.create_connection(("127.0.0.1", port), 200) as rude:
                rude.sendall(GET * 20)
        polite = http.client.HTTPConnection("127.0.0.1", port, timeout=200)
        for body in (None, b"abc"):
            polite.request("POST" if body else "GET", "/", body)
            assert len(polite.getresponse().read()) == 1_000_000
        polite.close()


def test_several_processes_share_the_connections() -> None:
    with serving(processes=2) as port:
        for _ in range(20):
            assert asked(port, b"GET / HTTP/1.0\r\n\r\n").endswith(BODY)


@pytest.mark.parametrize("more", [["-k"], [], ["-i", "-k"]])
def test_ab_finds_no_fault(more: list[str]) -> None:
    with serving() as port:
        words = ["-q", "-c", "4", "-n", "200", *more, f"http://127.0.0.1:{port}/"]
        finished = captured([*program_words("ab"), *words], check=True).stdout
    assert "Complete requests:      200\n" in finished
    assert "Failed requests:        0\n" in finished
    assert ("Keep-Alive requests:    200\n" in finished) is ("-k" in more)


def test_as_many_processes_as_the_tool_has_threads_and_no_more_than_there_are_cpus() -> None:
    assert [processes_for(threads, 4) for threads in (None, 1, 10_000)] == [1, 1, 4]
