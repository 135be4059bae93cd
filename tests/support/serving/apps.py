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
_CHEROOT = """
import sys
from importlib import import_module
from cheroot.wsgi import Server
module, attribute, port = sys.argv[1:]
Server(("127.0.0.1", int(port)), getattr(import_module(module), attribute)).start()
"""
_GEVENT = """
import sys
from importlib import import_module
from gevent.pywsgi import WSGIServer
module, attribute, port = sys.argv[1:]
app = getattr(import_module(module), attribute)
WSGIServer(("127.0.0.1", int(port)), app, log=None).serve_forever()
"""
_UVICORN = """
import sys
import uvicorn
module, attribute, port = sys.argv[1:]
uvicorn.run(f"{module}:{attribute}", port=int(port), access_log=False)
"""
_AIOHTTP = """
import sys
from importlib import import_module
from aiohttp import web
module, attribute, port = sys.argv[1:]
web.run_app(getattr(import_module(module), attribute), host="127.0.0.1", port=int(port))
"""
_TORNADO = """
import asyncio
import sys
from importlib import import_module
module, attribute, port = sys.argv[1:]
async def main():
    getattr(import_module(module), attribute).listen(int(port), "127.0.0.1")
    await asyncio.Event().wait()
asyncio.run(main())
"""
_CHERRYPY = """
import sys
from importlib import import_module
import cherrypy
module, attribute, port = sys.argv[1:]
cherrypy.config.update({"server.socket_port": int(port), "engine.autoreload.on": False})
cherrypy.quickstart(getattr(import_module(module), attribute))
"""
_SOCKET = """
import socket
import sys
from importlib import import_module
module, attribute, port = sys.argv[1:]
app = getattr(import_module(module), attribute)
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
    "wsgi": _CHEROOT,
    "asgi": _UVICORN,
    "aiohttp": _AIOHTTP,
    "tornado": _TORNADO,
    "cherrypy": _CHERRYPY,
    "socket": _SOCKET,
    "gevent": _GEVENT,
    "gevent_patched": f"from gevent import monkey\nmonkey.patch_all()\n{_GEVENT}",
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
        port: int = server.getsockname()[1]
        return port
