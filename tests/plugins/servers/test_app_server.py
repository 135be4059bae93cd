"""Each server of apps, started in a trial's place: what it serves, what its options do."""

import ast
import dataclasses
import http.client
import importlib.metadata
import json
import re
import signal
import socket
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from benchforge_servers.python import app_server as apps
from benchforge_servers.python.app_server import RUNNERS, AppServer
from benchforge_servers.python.listening import ListeningServer
from front_door import captured, lack
from present import present
from serving.in_trial import accepts, get, grown, serving

from benchforge.errors import BenchforgeError
from benchforge.parts.registry import Registry
from benchforge.parts.site import Accepts, Site
from benchforge.run.locate import locate
from benchforge.run.sandbox.host import LocalHost, Sandbox, Wishes

HOST = LocalHost()
REGISTRY = Registry()
PARTS = {name: REGISTRY.part("server", name) for name in REGISTRY.names("server")}
SERVERS = {name: cls for name, cls in PARTS.items() if issubclass(cls, AppServer)}
ASGI_WORKER = {"worker_class": "uvicorn_worker.UvicornWorker"}
# "gunicorn"'s own asgi worker and aiohttp's listen with asyncio's backlog of 100.
USUAL = (None, *ASGI_WORKER.values())

# What the process that answers is like, seen by the app from inside.
FACTS = """
import json, os, socket, struct, sys, threading

def sockets():
    for name in os.listdir("/proc/self/fd"):
        try:
            if os.readlink("/proc/self/fd/" + name).startswith("socket:"):
                yield socket.socket(fileno=os.dup(int(name)))
        except OSError:
            pass

def facts():
    backlog, nodelay = [], []
    for one in sockets():
        with one:
            if one.family != socket.AF_INET or one.type != socket.SOCK_STREAM:
                continue
            if one.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                # tcpi_sacked: of a socket that listens, the longest its queue may be
                info = one.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
                backlog.append(struct.unpack_from("I", info, 28)[0])
            else:
                nodelay.append(bool(one.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)))
    patched = sys.modules.get("gevent.monkey")
    return json.dumps({
        "folder": os.getcwd(), "first": sys.path[0], "greeting": os.environ.get("GREETING"),
        "backlog": backlog, "nodelay": nodelay, "pid": os.getpid(),
        "loop": sorted(set(sys.modules) & {"uvloop", "httptools", "h11"}),
        "patched": bool(patched and patched.is_module_patched("socket")),
    }).encode()
"""
WSGI = """
from facts import facts

def app(environ, start_response):
    body = facts()
    headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
    start_response("200 OK", headers)
    return [body]

def make():
    return app
"""
ASGI = """
from facts import facts

async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})
        return
    body = facts()
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": 200, "headers": [length]})
    await send({"type": "http.response.body", "body": body})

def make():
    return app
"""
AIOHTTP = """
from aiohttp import web
from facts import facts

async def index(request):
    return web.Response(body=facts())

def make():
    app = web.Application()
    app.router.add_get("/", index)
    return app

app = make()
"""
TORNADO = """
from facts import facts
from tornado.web import Application, RequestHandler

class Index(RequestHandler):
    def get(self):
        self.write(facts())

def make():
    return Application([("/", Index)])

app = make()
"""
CHERRYPY = """
import cherrypy
from facts import facts

class Root:
    @cherrypy.expose
    def index(self):
        return facts()

    @cherrypy.expose
    def wrong(self):
        raise KeyError("told to the log")

def make():
    return cherrypy.Application(Root(), "")

app = Root()
"""
SOCKET = """
from facts import facts

class App:
    def __init__(self, reads):
        self.reads = reads

    def answer(self):
        body = facts()
        return b"HTTP/1.0 200 OK\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body) + body

def make():
    return App(True)

app = App(True)
deaf = App(False)
"""
Row = tuple[str, str, dict[str, Any]]
SERVED: list[Row] = [
    ("aiohttp", AIOHTTP, {}),
    ("cheroot", WSGI, {}),
    ("cherrypy", CHERRYPY, {}),
    ("cherrypy", WSGI, {}),
    ("gevent", WSGI, {}),
    ("gevent", SOCKET, {}),
    ("granian", WSGI, {"interface": "wsgi", "blocking_threads": 1}),
    ("granian", ASGI, {"interface": "asgi"}),
    ("gunicorn", WSGI, {}),
    ("gunicorn", WSGI, {"worker_class": "gthread"}),
    ("gunicorn", WSGI, {"worker_class": "gevent"}),
    ("gunicorn", AIOHTTP, {"worker_class": "aiohttp.GunicornWebWorker"}),
    ("gunicorn", ASGI, ASGI_WORKER),
    ("gunicorn", ASGI, {"worker_class": "asgi"}),
    ("hypercorn", ASGI, {}),
    ("hypercorn", ASGI, {"worker_class": "uvloop"}),
    ("threads", SOCKET, {}),
    ("tornado", TORNADO, {}),
    ("tornado", WSGI, {}),
    ("tornado", SOCKET, {}),
    ("uvicorn", ASGI, {}),
    ("uvicorn", ASGI, {"workers": 2}),
    ("uwsgi", WSGI, {}),
    ("waitress", WSGI, {}),
]
PROTOCOL = {WSGI: "wsgi", ASGI: "asgi", AIOHTTP: "aiohttp"}
PROTOCOL |= {TORNADO: "tornado", CHERRYPY: "cherrypy", SOCKET: "socket"}


def named(row: Any) -> str:
    """Name a test after the server, what it serves and how."""
    name, code, options, *_ = row
    return "-".join([name, PROTOCOL[code], *(f"{key}={options[key]}" for key in options)])


@pytest.fixture
def own(site: Site) -> Site:
    """Give a place whose suite stands beside the folder of an app of the user's own."""
    folder = site.suite_folder / "my site"
    folder.mkdir()
    (folder / "facts.py").write_text(FACTS)
    return site


def part_of(
    site: Site, name: str, code: str, options: dict[str, Any], target: str = "app"
) -> AppServer:
    """Write the app and return the server that serves it."""
    (site.suite_folder / "my site" / "mine.py").write_text(code)
    mine = {"app": f"mine:{target}", "directory": "my site"}
    return SERVERS[name].model_validate(mine | options)


@contextmanager
def talking(site: Site, part: AppServer, timeout_s: float = 200) -> Iterator[socket.socket]:
    """Give a connection to a server in a trial's place."""
    with (
        HOST.trial(site.folder) as sandbox,
        serving(sandbox, part, site) as (_, placed),
        sandbox.socket() as client,
    ):
        client.settimeout(timeout_s)
        client.connect(("127.0.0.1", placed.port))
        yield client


def facts(sandbox: Sandbox, port: int) -> dict[str, Any]:
    """Return what the app tells of the process that it runs in."""
    status, body = get(sandbox, port)
    assert status == 200, body
    document: dict[str, Any] = json.loads(body)
    return document


# --- apps ----------------------------------------------------------------------------------------


@pytest.mark.samples(8)
@pytest.mark.parametrize("target", ["app", "make()"])
@pytest.mark.parametrize("row", SERVED, ids=named)
def test_an_app_is_served_from_its_folder(own: Site, row: Row, target: str) -> None:
    name, code, options = row
    part = part_of(own, name, code, options | {"environment": {"GREETING": "hello"}}, target)
    with HOST.trial(own.folder) as sandbox:
        with serving(sandbox, part, own) as (server, placed):
            actual = [facts(sandbox, placed.port) for _ in range(3)]
            status, _ = get(sandbox, placed.port, "/not-there")
            assert sandbox.owns(server, placed.port)
            # Not later: workers that are told to quit may say where they were.
            assert "Traceback" not in server.stderr.read_text()
            assert server.stdout.read_text() == ""
        assert sandbox.processes(server) == []
        assert not accepts(sandbox, placed.port)
    assert sandbox.left == 0
    folder = str(own.suite_folder / "my site")
    assert {(item["folder"], item["greeting"]) for item in actual} == {(folder, "hello")}
    assert status in {200, 404}
    for printed in (server.stderr, server.stdout):  # no access log
        assert "not-there" not in printed.read_text()


@pytest.mark.parametrize("name", SERVERS)
def test_the_version_is_of_the_serving_interpreter(site: Site, name: str) -> None:
    version = present(minimal(name).version(site))
    assert version.argv[0] == str(site.python)
    if name == "api_hour":
        return  # it is not beside benchforge
    with HOST.trial(site.folder) as sandbox:
        finished = sandbox.run("version", version, site.folder, {}, 200)
    text = finished.stdout.read_text()
    if name == "threads":
        assert text == f"Python {sys.version.split()[0]}\n"
    else:
        library = SERVERS[name].modules[0]
        assert text == f"{library} {importlib.metadata.version(library)}\n"


def minimal(name: str, app: str = "a:b") -> AppServer:
    options = {"interface": "asgi"} if name == "granian" else {}
    return SERVERS[name].model_validate({"app": app} | options)


@pytest.mark.parametrize("name", [name for name in SERVERS if name != "api_hour"])
def test_a_missing_app_is_named(site: Site, name: str) -> None:
    command = present(minimal(name, "nowhere:app").command(site))
    with HOST.trial(site.folder) as sandbox:
        finished = sandbox.run("server", command, site.folder, {}, 200)
    assert (finished.code == 0) is (name == "hypercorn")
    assert "nowhere" in finished.stderr.read_text() + finished.stdout.read_text()


# --- connections ---------------------------------------------------------------------------------


def kept(sandbox: Sandbox, port: int) -> bool:
    """Whether a second request is answered on the connection of the first.

    Where it is not, the first answer has to say so: load tools count anything else as an error.
    """
    output = False
    with sandbox.socket() as client:
        client.settimeout(200)
        client.connect(("127.0.0.1", port))
        for _ in range(2):
            try:
                client.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                response = http.client.HTTPResponse(client)
                response.begin()
            except (ConnectionError, http.client.BadStatusLine):
                assert output
                return False
            output = response.will_close
            assert response.status == 200
            assert json.loads(response.read())
    assert not output
    return True


@pytest.mark.samples(5)
@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (("aiohttp", AIOHTTP, {}), True),
        (("aiohttp", AIOHTTP, {"keep_alive": "5s"}), True),
        (("cheroot", WSGI, {}), True),
        (("cheroot", WSGI, {"keep_alive_connections": 0}), False),
        (("cherrypy", CHERRYPY, {}), True),
        (("cherrypy", CHERRYPY, {"keep_alive_connections": 0}), False),
        (("gevent", WSGI, {}), True),
        (("gevent", WSGI, {"keep_alive": False}), False),
        (("granian", WSGI, {"interface": "wsgi"}), True),
        (("granian", WSGI, {"interface": "wsgi", "keep_alive": False}), False),
        (("gunicorn", WSGI, {"keep_alive": "5s"}), False),
        (("gunicorn", WSGI, {"worker_class": "gthread"}), True),
        (("gunicorn", ASGI, ASGI_WORKER), True),
        (("hypercorn", ASGI, {}), True),
        (("tornado", TORNADO, {}), True),
        (("tornado", TORNADO, {"keep_alive": False}), False),
        (("tornado", WSGI, {"keep_alive": False}), False),
        (("uvicorn", ASGI, {}), True),
        (("uwsgi", WSGI, {}), False),
        (("uwsgi", WSGI, {"keep_alive": True}), True),
        (("waitress", WSGI, {}), True),
    ],
    ids=lambda item: named(item) if isinstance(item, tuple) else str(item),
)
def test_connections_follow_the_options(own: Site, row: Row, expected: bool) -> None:
    part = part_of(own, *row)
    with HOST.trial(own.folder) as sandbox, serving(sandbox, part, own) as (_, placed):
        assert kept(sandbox, placed.port) is expected


@pytest.mark.parametrize(
    ("row", "word"),
    [
        (("aiohttp", AIOHTTP, {"keep_alive": "1s"}), "--keep-alive=1 "),
        (("cheroot", WSGI, {"timeout": "1s"}), "--timeout=1 "),
        (("cherrypy", CHERRYPY, {"timeout": "1s"}), "--timeout=1 "),
        (("gunicorn", WSGI, {"worker_class": "gthread", "keep_alive": "1s"}), "--keep-alive=1"),
        (("hypercorn", ASGI, {"keep_alive": "1s"}), "--keep-alive=1"),
        (("uvicorn", ASGI, {"keep_alive": "1s"}), "--timeout-keep-alive=1"),
    ],
    ids=lambda item: named(item) if isinstance(item, tuple) else None,
)
def test_an_idle_connection_is_closed(own: Site, row: Row, word: str) -> None:
    part = part_of(own, *row)
    assert word in " ".join(present(part.command(own)).argv)
    with talking(own, part, 30) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        response = http.client.HTTPResponse(client)
        response.begin()
        response.read()
        assert client.recv(1) == b""  # not before its own default of minutes, else


def facts_of(site: Site, row: Row) -> dict[str, Any]:
    part = part_of(site, *row)
    with HOST.trial(site.folder) as sandbox, serving(sandbox, part, site) as (server, placed):
        actual = facts(sandbox, placed.port)
    assert "Warning" not in server.stderr.read_text()
    return actual


@pytest.mark.samples(6)
@pytest.mark.parametrize(
    "row", [row for row in SERVED if row[2].get("worker_class") in USUAL], ids=named
)
def test_the_backlog_arrives(own: Site, row: Row) -> None:
    name, code, options = row
    assert set(facts_of(own, (name, code, options | {"backlog": 177}))["backlog"]) == {177}


@pytest.mark.parametrize("nodelay", [True, False])
def test_gevents_connections_have_tcp_nodelay_or_not(own: Site, nodelay: bool) -> None:
    assert set(facts_of(own, ("gevent", WSGI, {"tcp_nodelay": nodelay}))["nodelay"]) == {nodelay}


# --- other options -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "option", "others"),
    [
        (("granian", ASGI, {"interface": "asgi"}), "workers", 1),
        (("gunicorn", WSGI, {}), "workers", 1),
        (("hypercorn", ASGI, {}), "workers", 2),  # and one that looks after semaphores
        (("tornado", TORNADO, {}), "processes", 1),
        (("uvicorn", ASGI, {}), "workers", 2),
        (("uwsgi", WSGI, {}), "processes", 1),
    ],
    ids=lambda item: named(item) if isinstance(item, tuple) else str(item),
)
def test_workers_are_processes(own: Site, row: Row, option: str, others: int) -> None:
    part = part_of(own, row[0], row[1], row[2] | {option: 2})
    with HOST.trial(own.folder) as sandbox, serving(sandbox, part, own) as (server, placed):
        facts(sandbox, placed.port)
        assert grown(sandbox, server, 2 + others)


@pytest.mark.parametrize("monkey_patch", [True, False])
def test_gevent_patches_before_the_app_or_not_at_all(own: Site, monkey_patch: bool) -> None:
    assert (
        facts_of(own, ("gevent", WSGI, {"monkey_patch": monkey_patch}))["patched"] is monkey_patch
    )


@pytest.mark.parametrize(("loop", "parser"), [("asyncio", "h11"), ("uvloop", "httptools")])
def test_uvicorns_loop_and_parser(own: Site, loop: str, parser: str) -> None:
    actual = facts_of(own, ("uvicorn", ASGI, {"loop": loop, "http": parser}))["loop"]
    assert parser in actual
    assert ("uvloop" in actual) == (loop == "uvloop")


@pytest.mark.parametrize("target", ["app", "Root", "make()"])
@pytest.mark.parametrize("production", [True, False])
def test_cherrypy_mounts_each_kind_of_app(own: Site, target: str, production: bool) -> None:
    part = part_of(own, "cherrypy", CHERRYPY, {"production": production}, target)
    with HOST.trial(own.folder) as sandbox, serving(sandbox, part, own) as (server, placed):
        facts(sandbox, placed.port)
        status, page = get(sandbox, placed.port, "/wrong")
    assert status == 500
    assert ("told to the log" in page) is not production
    assert "told to the log" in server.stderr.read_text()


@pytest.mark.parametrize("name", ["gevent", "threads", "tornado"])
def test_a_socket_app_may_wait_for_a_whole_head(own: Site, name: str) -> None:
    def received(target: str, *parts: bytes) -> bytes:
        with talking(own, part_of(own, name, SOCKET, {}, target)) as client:
            for sent in parts:
                client.sendall(sent)
            return b"".join(iter(lambda: client.recv(4096), b""))

    assert received("deaf").startswith(b"HTTP/1.0 200 OK")
    assert received("app", b"GET / HTTP/1.0\r", b"\n\r\n").startswith(b"HTTP/1.0 200 OK")
    with talking(own, part_of(own, name, SOCKET, {}), 0.5) as client:
        client.sendall(b"GET / HTTP/1.0\r\n")
        with pytest.raises(TimeoutError):
            client.recv(1)


# --- behind a proxy ------------------------------------------------------------------------------


@pytest.mark.samples(3)
@pytest.mark.parametrize(
    "row",
    [
        ("gunicorn", WSGI, {}),
        ("gunicorn", ASGI, ASGI_WORKER),
        ("uvicorn", ASGI, {}),
        ("uvicorn", ASGI, {"workers": 2}),
        ("hypercorn", ASGI, {}),
        ("granian", WSGI, {"interface": "wsgi"}),
        ("uwsgi", WSGI, {}),
    ],
    ids=named,
)
def test_a_server_on_a_unix_socket_is_for_a_proxy(own: Site, row: Row) -> None:
    part = part_of(own, row[0], row[1], row[2] | {"listen": "unix"})
    path = own.scratch / "http.sock"
    assert isinstance(part, ListeningServer)
    assert part.behind_proxy_only()
    assert part.ready(own) == Accepts(path)
    assert part.gives(own) == {"socket": str(path)}
    with pytest.raises(BenchforgeError, match=r"servers\.mine: only a proxy can send requests"):
        part.url(own)
    with HOST.trial(own.folder) as sandbox, serving(sandbox, part, own) as (_, placed):
        connection = http.client.HTTPConnection("localhost")
        with socket.socket(socket.AF_UNIX) as connection.sock:
            connection.sock.connect(str(path))
            connection.request("GET", "/")
            body = connection.getresponse().read()
        assert not accepts(sandbox, placed.port)
    assert json.loads(body)["folder"] == str(own.suite_folder / "my site")


@pytest.mark.parametrize("listen", ["tcp", "unix"])
def test_uwsgi_speaks_its_own_protocol(own: Site, listen: str) -> None:
    part = part_of(own, "uwsgi", WSGI, {"protocol": "uwsgi", "listen": listen})
    assert part.behind_proxy_only()
    path = own.scratch / "http.sock"
    assert part.ready(own) == Accepts("http" if listen == "tcp" else path)
    with HOST.trial(own.folder) as sandbox, serving(sandbox, part, own) as (_, placed):
        text = f"{placed.address}:{placed.port}" if listen == "tcp" else f"unix:{path}"
        assert part.gives(placed) == {"uwsgi": text}
        client = sandbox.socket() if listen == "tcp" else socket.socket(socket.AF_UNIX)
        with client:
            client.connect(("127.0.0.1", placed.port) if listen == "tcp" else str(path))
            client.sendall(uwsgi_packet({"REQUEST_METHOD": "GET", "PATH_INFO": "/"}))
            answer = b"".join(iter(lambda: client.recv(4096), b""))
    head, _, body = answer.partition(b"\r\n\r\n")
    assert re.match(rb"HTTP/1\.[01] 200 OK", head)
    assert json.loads(body)["folder"] == str(own.suite_folder / "my site")


def uwsgi_packet(variables: dict[str, str]) -> bytes:
    texts = [text.encode() for pair in variables.items() for text in pair]
    body = b"".join(struct.pack("<H", len(text)) + text for text in texts)
    return struct.pack("<BHB", 0, len(body), 0) + body


def test_uwsgi_says_that_the_kernel_allows_no_such_backlog(own: Site) -> None:
    command = present(part_of(own, "uwsgi", WSGI, {"backlog": 5000}).command(own))
    with HOST.trial(own.folder, wishes=Wishes({"net.core.somaxconn": "4096"})) as sandbox:
        finished = sandbox.run("server", command, own.folder, {}, 200)
    assert finished.code == 1
    last = finished.stderr.read_text().splitlines()[-1]
    assert last == "Listen queue size is greater than the system max net.core.somaxconn (4096)."


# --- versions of other interpreters --------------------------------------------------------------


@pytest.fixture(scope="module")
def fetched(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Give a function that installs packages into a folder, without what they need."""

    def fetch(*requirements: str) -> Path:
        folder = tmp_path_factory.mktemp("packages")
        uv = locate("uv") or Path(sys.executable).parents[2] / ".tools/uv/bin/uv"
        words = ["pip", "install", "-q", "--no-deps", "--python", sys.executable, "--target"]
        done = captured([uv, *words, folder, *requirements])
        if done.returncode:
            lack(f"{' '.join(requirements)}: {done.stderr}")
        return folder

    return fetch


@pytest.mark.network
@pytest.mark.parametrize("version", ["23.0.0", None])
def test_no_control_socket(own: Site, fetched: Callable[..., Path], version: str | None) -> None:
    environment = home(own)
    if version:
        environment["PYTHONPATH"] = str(fetched(f"gunicorn=={version}"))
    part = part_of(own, "gunicorn", WSGI, {"environment": environment})
    with HOST.trial(own.folder) as sandbox, serving(sandbox, part, own) as (server, placed):
        facts(sandbox, placed.port)
        assert made(own) == set(), server.stderr.read_text()


def home(site: Site) -> dict[str, str]:
    return {"HOME": str(site.folder), "XDG_RUNTIME_DIR": str(site.folder)}


def made(site: Site) -> set[str]:
    """Return the names of what a server left in its home, beside what it printed."""
    printed = {"server.out", "server.err", "keeper.err"}
    return {path.name for path in site.folder.rglob("*")} - printed


CONTAINER = f"""{AIOHTTP}
import api_hour

class Container(api_hour.Container):
    async def make_servers(self, sockets):
        self.runner = web.AppRunner(
            make(), access_log=None, keepalive_timeout=self.worker.cfg.keepalive
        )
        await self.runner.setup()
        handler, backlog = self.runner.server, self.worker.cfg.backlog
        return {{
            await self.loop.create_server(handler, sock=one.sock, backlog=backlog): handler
            for one in sockets
        }}

    async def cleanup(self):
        await self.runner.cleanup()
"""


@pytest.mark.network
def test_api_hour_serves_a_container(own: Site, fetched: Callable[..., Path]) -> None:
    packages = fetched("api_hour==0.8.2", "pyyaml", "setproctitle")
    environment = home(own) | {"PYTHONPATH": str(packages)}
    options = {"environment": environment, "workers": 3, "backlog": 77}
    part = part_of(own, "api_hour", CONTAINER, options, "Container")
    with HOST.trial(own.folder) as sandbox:
        with serving(sandbox, part, own) as (server, placed):
            actual = [facts(sandbox, placed.port) for _ in range(3)]
            assert kept(sandbox, placed.port)
            assert grown(sandbox, server, 4)
        finished = sandbox.finished(server)
    assert present(finished).code == -signal.SIGKILL
    assert sandbox.left == 0
    assert [item["backlog"] for item in actual] == [[77]] * 3
    assert server.stdout.read_text() == ""
    assert "Traceback" not in server.stderr.read_text()
    assert made(own) == set()


# --- what fits what ------------------------------------------------------------------------------


def test_the_table_of_protocols_is_what_the_servers_say() -> None:
    for protocol, names in apps.PROTOCOLS.items():
        assert tuple(n for n, cls in SERVERS.items() if protocol in cls.speaks) == names
    assert {protocol for cls in SERVERS.values() for protocol in cls.speaks} == set(apps.PROTOCOLS)


@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        ("uvicorn", {}, ["uvicorn"]),
        ("uvicorn", {"loop": "uvloop", "http": "httptools"}, ["uvicorn", "uvloop", "httptools"]),
        ("hypercorn", {"worker_class": "trio"}, ["hypercorn", "trio"]),
        ("granian", {"interface": "asgi", "loop": "uvloop"}, ["granian", "uvloop"]),
        ("threads", {}, []),
        ("api_hour", {}, ["api_hour", "gunicorn", "aiohttp"]),
        ("gunicorn", {"worker_class": "gthread"}, ["gunicorn"]),
        ("gunicorn", {"worker_class": "gunicorn.workers.ggevent.GeventWorker"}, ["gunicorn"]),
        ("gunicorn", {"worker_class": "gevent_pywsgi"}, ["gunicorn", "gevent"]),
        ("gunicorn", {"worker_class": "aiohttp.GunicornWebWorker"}, ["gunicorn", "aiohttp"]),
        ("gunicorn", ASGI_WORKER, ["gunicorn", "uvicorn_worker"]),
        ("gunicorn", {"app": "django_agents"}, ["gunicorn", "django", "psycopg2"]),
        ("aiohttp", {"app": "aiohttp_agents"}, ["aiohttp", "aiohttp", "asyncpg"]),
    ],
)
def test_needs_are_what_the_options_import(
    name: str, options: dict[str, Any], expected: list[str]
) -> None:
    needs = list(SERVERS[name].model_validate({"app": "a:b"} | options).needs())
    assert [need.name for need in needs] == expected
    assert all("pip install" in need.how or "requires = ['api_hour" in need.how for need in needs)


def test_runners_are_plain_programs_for_older_pythons() -> None:
    runners = sorted(RUNNERS.glob("*.py"))
    assert len(runners) > len(SERVERS) / 2
    for runner in runners:
        text = runner.read_text()
        ast.parse(text, feature_version=(3, 9))
        imports = r"^\s*(import|from) benchforge(\.|_servers| import)"
        assert not re.search(imports, text, re.MULTILINE)


@pytest.mark.parametrize("program", ["pypy3", "python3.9"])
def test_a_runner_runs_on_another_interpreter(own: Site, program: str) -> None:
    pyenv = Path.home() / ".pyenv/versions"
    python = next(iter(pyenv.glob(f"{program[6:]}.*/bin/python")), None) or locate(program)
    if python is None and program == "pypy3":
        lack(f"{program} not found")
    if python is None:
        pytest.skip(f"{program} not found")  # Debian has one CPython
    part, site = part_of(own, "threads", SOCKET, {}), dataclasses.replace(own, python=python)
    with HOST.trial(site.folder) as sandbox, serving(sandbox, part, site) as (_, placed):
        assert facts(sandbox, placed.port)["first"] == str(own.suite_folder / "my site")


def test_an_apps_folder_comes_first_and_no_runner_hides_it(own: Site) -> None:
    """Its module may be named like one that lies beside the runner."""
    (own.suite_folder / "my site" / "cheroot_main.py").write_text(WSGI)
    part = SERVERS["cheroot"].model_validate({"app": "cheroot_main:app", "directory": "my site"})
    with HOST.trial(own.folder) as sandbox, serving(sandbox, part, own) as (_, placed):
        actual = facts(sandbox, placed.port)
    assert actual["first"] == str(own.suite_folder / "my site")
