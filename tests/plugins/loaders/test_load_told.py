"""What each loader and client says that it is told to do: the checks compare with it."""

from typing import Any

import pytest

from benchforge.model.trial.reading import Load
from benchforge.parts.part import Driver
from benchforge.parts.registry import Registry

TOLD: list[tuple[str, str, dict[str, Any], tuple[int | None, bool | None, int | None]]] = [
    ("loader", "wrk", {}, (64, True, 1)),
    ("loader", "wrk", {"connections": 10, "threads": 3}, (9, True, 3)),
    ("loader", "wrk2", {"rate": "100/s"}, (10, True, 1)),
    ("loader", "ab", {"keep_alive": False}, (10, False, 1)),
    ("loader", "pace", {"processes": 2}, (64, True, 2)),
    ("loader", "pace", {"keep_alive": False}, (64, False, 1)),
    ("loader", "h2load", {"threads": 2}, (10, True, 2)),
    ("loader", "hey", {}, (10, True, None)),
    ("loader", "oha", {"keep_alive": False}, (10, False, None)),
    ("loader", "k6", {"users": 7}, (7, True, None)),
    ("loader", "siege", {}, (10, True, None)),
    ("loader", "weighttp", {"keep_alive": False}, (10, False, 1)),
    ("loader", "locust", {"users": 4, "workers": 2}, (4, True, 2)),
    ("loader", "locust", {"locustfile": "own.py"}, (None, None, 1)),
    ("loader", "hyperfine", {"command": ["x", "{url}"], "requests": 1}, (None, None, None)),
    ("client", "aiohttp", {"concurrency": 5}, (5, True, 1)),
    ("client", "aiohttp", {"mode": "async-for", "requests": 40}, (40, True, 1)),
    ("client", "aiohttp", {"mode": "async-map"}, (100, True, 1)),
    ("client", "geventhttpclient", {}, (1, True, 1)),
    ("client", "http_client", {}, (1, True, 1)),
    ("client", "http_client", {"mode": "noreuse"}, (1, False, 1)),
    ("client", "httplib2", {"mode": "gevent"}, (1, False, 1)),
    ("client", "httpx", {"mode": "async", "concurrency": 3}, (3, True, 1)),
    ("client", "pycurl", {"mode": "reuse-nobody"}, (1, True, 1)),
    ("client", "pycurl", {"mode": "newhandle"}, (1, False, 1)),
    ("client", "pycurl", {"mode": "noreuse-buffer"}, (1, False, 1)),
    ("client", "requests", {"mode": "call"}, (1, False, 1)),
    ("client", "requests", {"mode": "session-prepared"}, (1, True, 1)),
    ("client", "requests", {"mode": "threads-reuse", "threads": 50}, (50, None, 1)),
    ("client", "requests", {"mode": "threads-map", "requests": 200}, (200, None, 1)),
    ("client", "tornado", {}, (1, False, 1)),
    ("client", "tornado", {"mode": "curl"}, (1, True, 1)),
    ("client", "urllib", {}, (1, False, 1)),
    ("client", "urllib3", {}, (1, True, 1)),
]


def load(kind: Any, name: str, options: dict[str, Any]) -> Load:
    part = Registry().part(kind, name).model_validate(options)
    assert isinstance(part, Driver)
    return part.load()


@pytest.mark.parametrize(("kind", "name", "options", "expected"), TOLD)
def test_connections_keep_alive_and_processes(
    kind: str, name: str, options: dict[str, Any], expected: tuple[Any, ...]
) -> None:
    actual = load(kind, name, options)
    assert (actual.connections, actual.keep_alive, actual.processes) == expected
    assert actual.declared_s > 0
    assert actual.kind == kind
    assert actual.concurrency == actual.connections  # none of these has several on a connection


def test_every_loader_and_client_is_looked_at() -> None:
    registry = Registry()
    entries = {(kind, name) for kind in ("loader", "client") for name in registry.names(kind)}
    assert entries == {(kind, name) for kind, name, _, _ in TOLD}


def test_the_version_of_http_is_told_where_bytes_are_compared() -> None:
    protocols = {
        name: load("loader", name, {"rate": "100/s"} if name == "wrk2" else {}).protocol
        for name in ("ab", "wrk", "wrk2", "pace", "h2load", "weighttp", "k6")
    }
    assert protocols.pop("ab") == "HTTP/1.0"
    assert protocols.pop("k6") is None
    assert set(protocols.values()) == {"HTTP/1.1"}
    streams = load("loader", "h2load", {"protocol": "h2c", "streams": 8})
    assert (streams.protocol, streams.connections, streams.concurrency) == ("HTTP/2", 10, 80)
