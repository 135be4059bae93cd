"""Built-in apps, each served by the simplest real server of its protocol."""

import http.client
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from benchforge_servers.python.app_server import app_of, folder_of
from front_door import needed_module

# Each is told a module, an attribute and a port, and works in the app's folder.
_APP = """
import sys
from importlib import import_module
module, attribute, port = sys.argv[1:]
app = getattr(import_module(module), attribute)
"""
_CHEROOT = """
from cheroot.wsgi import Server
Server(("127.0.0.1", int(port)), app).start()
"""
_GEVENT = """
from gevent.pywsgi import WSGIServer
WSGIServer(("127.0.0.1", int(port)), app, log=None).serve_forever()
"""
_UVICORN = """
import uvicorn
uvicorn.run(app, port=int(port), access_log=False)
"""
_AIOHTTP = """
from aiohttp import web
web.run_app(app, host="127.0.0.1", port=int(port))
"""
_TORNADO = """
import asyncio
async def main():
    app.listen(int(port), "127.0.0.1")
    await asyncio.Event().wait()
asyncio.run(main())
"""
_CHERRYPY = """
import cherrypy
cherrypy.config.update({"server.socket_port": int(port), "engine.autoreload.on": False})
cherrypy.quickstart(app)
"""
_SOCKET = """
import socket
with socket.create_server(("127.0.0.1", int(port))) as server:
    while True:
        connection, _ = server.accept()
        with connection:
            head = b""
            while app.reads and b"\\r\\n\\r\\n" not in head and (more := connection.recv(4096)):
                head += more
            connection.sendall(app.answer())
"""
SERVERS = {
    "wsgi": _APP + _CHEROOT,
    "asgi": _APP + _UVICORN,
    "aiohttp": _APP + _AIOHTTP,
    "tornado": _APP + _TORNADO,
    "cherrypy": _APP + _CHERRYPY,
    "socket": _APP + _SOCKET,
    "gevent": _APP + _GEVENT,
    "gevent_patched": f"from gevent import monkey\nmonkey.patch_all()\n{_APP}{_GEVENT}",
}
"Programs by the protocol of the apps that they serve; gevent's are for WSGI."
TOLD = ("DATABASE_URL", "REDIS_URL", "VIRTUOSO_URL", "VIRTUOSO_GRAPH", "AGENTS_POOL_SIZE")
"What apps are told, and are not to hear from whoever runs the tests."


class Reply(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes


def ask(port: int, path: str, method: str = "GET") -> Reply:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=200)
    try:
        connection.request(method, path)
        response = connection.getresponse()
        headers = {name.lower(): value for name, value in response.getheaders()}
        return Reply(response.status, headers, response.read())
    finally:
        connection.close()


@contextmanager
def serving(
    name: str, log: Path, expected: Mapping[str, str] | None = None, by: str | None = None
) -> Iterator[int]:
    """Serve a built-in app, told this and no more; give the port."""
    app, port = app_of(name), free_port()
    for module in app.modules:
        needed_module(module)
    program = SERVERS[by or app.protocol or ""]
    command = [sys.executable, "-c", program, *app.target.split(":"), str(port)]
    folder = folder_of(name, None, Path())
    with running(command, folder, expected or {}, log, lambda: accepts(port)):
        yield port


@contextmanager
def running(
    command: list[str],
    folder: Path,
    expected: Mapping[str, str],
    log: Path,
    ready: Callable[[], object],
) -> Iterator[None]:
    """Run a server, from when it is ready; it must then end when it is asked to."""
    environment = {name: value for name, value in os.environ.items() if name not in TOLD}
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=folder, env={**environment, **expected}, stdout=output, stderr=output
        )
    try:
        wait_until(ready, process, log)
        yield
    finally:
        process.terminate()
        process.wait(200)


def wait_until(ready: Callable[[], object], process: subprocess.Popen[Any], log: Path) -> None:
    deadline = time.monotonic() + 200
    while not ready():
        if process.poll() is not None or time.monotonic() > deadline:
            pytest.fail(f"{process.args!r} is not ready:\n{log.read_text()}")
        time.sleep(0.02)


def accepts(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=200).close()
    except OSError:
        return False
    return True


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])
