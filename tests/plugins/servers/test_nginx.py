"""nginx in real trials: files, TLS, its options as they are seen from outside, and its mistakes."""

import contextlib
import dataclasses
import http.client
import os
import shutil
import ssl
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from benchforge_servers.proxies.nginx import Nginx
from front_door import captured, needed, program_words
from measured.case import cases, trial_of
from present import present
from serving.in_trial import grown
from suite_texts.files import suite_text

from benchforge.errors import BenchforgeError
from benchforge.model.trial.trial import Trial
from benchforge.parts.site import Site
from benchforge.run.locate import libraries, locate
from benchforge.run.programs.template import done, restored
from benchforge.run.sandbox.host import LocalHost
from benchforge.run.sandbox.sandbox import Running, Sandbox

pytestmark = pytest.mark.usefixtures("templates")
HOST = LocalHost()
READ = "one: read its configuration: "
# The front server of a study of 2016, as today's programs allow it.
STUDY: dict[str, Any] = (
    {"body_bytes": "1KiB", "worker_processes": 4, "worker_connections": 768}
    | {"keep_alive": "65s", "keepalive_requests": 100, "http_directives": ["gzip off"]}
    | {"tls": True, "tls_key": "rsa2048", "tls_versions": ["TLSv1.2"], "tls_keep_alive": "10s"}
    | {"tls_session_cache": "50MiB", "tls_session_timeout": "5m"}
    | {"server_directives": ["ssl_prefer_server_ciphers on"]}
)


@pytest.fixture(scope="module", autouse=True)
def programs() -> None:
    needed("nginx", "openssl", "wrk", "ab")


@pytest.fixture
def site(site: Site) -> Site:
    programs = {name: actual for name in ("nginx", "openssl") if (actual := locate(name))}
    return dataclasses.replace(site, label="front", ports={}, programs=programs)


@contextlib.contextmanager
def serving(sandbox: Sandbox, part: Nginx, site: Site) -> Iterator[tuple[Running, Site]]:
    """Start nginx as a trial does, and see that nothing is left of it."""
    site = dataclasses.replace(site, ports={name: sandbox.free_port() for name in part.ports})
    for name, text in part.files(site).items():
        (site.folder / name).write_text(text)
    restored(HOST, site.label, part, site)
    for number, task in enumerate(part.prepare(site)):
        done(sandbox, task, f"{site.label}-{number}", site.label, site.folder)
    server = sandbox.start(site.label, present(part.command(site)), site.folder, {})
    while not sandbox.owns(server, site.port):
        assert sandbox.alive(server), server.stderr.read_text()
        sandbox.wait(server, 0.01)
    yield server, site
    assert sandbox.stop(server, first=part.stop_signal).code == 0
    assert sandbox.processes(server) == []


@contextlib.contextmanager
def connection(
    sandbox: Sandbox, site: Site, port: str = "http"
) -> Iterator[http.client.HTTPConnection]:
    asking = http.client.HTTPConnection(site.address, site.ports[port])
    with sandbox.socket() as inside:
        inside.settimeout(200)
        inside.connect((site.address, site.ports[port]))
        asking.sock = inside
        if port == "https":
            trusting = ssl.create_default_context(cafile=site.scratch / "certificate.pem")
            asking.sock = trusting.wrap_socket(inside, server_hostname=site.address)
        with asking.sock:
            yield asking


def answer(
    httpconnection: http.client.HTTPConnection, path: str = "/"
) -> tuple[int, bytes, dict[str, str]]:
    httpconnection.request("GET", path)
    response = httpconnection.getresponse()
    headers = {name.lower(): value for name, value in response.getheaders()}
    return response.status, response.read(), headers


def measured(folder: Path, server: str, loader: str = "wrk", length: str = "") -> Trial:
    path = folder / "small.toml"
    length = length or ("requests = 200" if loader == "ab" else 'duration = "1s"')
    text = suite_text("plugins/servers/nginx", server=server, loader=loader, length=length)
    path.write_text(text)
    (case,) = cases(path)
    return trial_of(case, folder)


# --- what it answers -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, b"Hello, World!"),
        ({"body": 'a "quoted" $text;\n}'}, b'a "quoted" $text;\n}'),
        ({"body": ""}, b""),
        ({"body_bytes": "1MiB"}, b"x" * 1024**2),
    ],
)
def test_one_body_for_every_path(site: Site, options: dict[str, Any], expected: bytes) -> None:
    part = Nginx.model_validate(options)
    with HOST.trial(site.folder) as sandbox, serving(sandbox, part, site) as (_, placed):
        for path in ("/", "/deep/er?a=b", "/index.html"):
            with connection(sandbox, placed) as request:
                status, got, headers = answer(request, path)
            assert (status, got, headers["content-type"]) == (200, expected, "text/plain")


def test_files_are_served_with_their_types(site: Site) -> None:
    folder = site.suite_folder / 'my "files"'
    folder.mkdir()
    (folder / "a.json").write_text("{}")
    (folder / "index.html").write_text("<p>")
    part = Nginx.model_validate({"directory": folder.name})
    first = part.fingerprint(site.suite_folder)
    with HOST.trial(site.folder) as sandbox, serving(sandbox, part, site) as (_, placed):
        actual = {}
        for path in ("/a.json", "/", "/absent"):
            with connection(sandbox, placed) as request:
                status, _, headers = answer(request, path)
            actual[path] = (status, headers["content-type"])
    pages = {"/": (200, "text/html"), "/absent": (404, "text/html")}
    assert actual == {"/a.json": (200, "application/json"), **pages}
    (folder / "a.json").write_text("[]")
    assert part.fingerprint(site.suite_folder) != first


# --- its options, seen from outside --------------------------------------------------------------


def closed_after(sandbox: Sandbox, placed: Site, port: str, most: int) -> int | None:
    """Return after how many answers a connection was closed; None when it was not."""
    with connection(sandbox, placed, port) as request:
        for number in range(1, most + 1):
            if answer(request)[2].get("connection") == "close":
                return number
    return None


def test_the_front_server_of_the_study_is_what_it_was(site: Site) -> None:
    part = Nginx.model_validate(STUDY)
    with HOST.trial(site.folder) as sandbox, serving(sandbox, part, site) as (server, placed):
        assert grown(sandbox, server, 1 + 4)  # a master, and its workers
        assert closed_after(sandbox, placed, "http", 101) == 100
        assert closed_after(sandbox, placed, "https", 101) == 100
        with connection(sandbox, placed, "https") as request:
            assert isinstance(request.sock, ssl.SSLSocket)
            assert request.sock.version() == "TLSv1.2"
            assert "RSA" in present(request.sock.cipher())[0]
            assert answer(request)[1] == b"x" * 1024
    assert server.stdout.read_text() == ""
    assert server.stderr.read_text() == ""
    conf = (site.folder / "nginx-front.conf").read_text()
    actual = [
        *("worker_connections 768", "access_log off", "sendfile on", "tcp_nopush on"),
        *("tcp_nodelay on", "gzip off", "keepalive_timeout 65000ms", "keepalive_timeout 10000ms"),
        *("ssl_session_cache shared:tls:51200k", "ssl_session_timeout 300s"),
    ]
    assert [line for line in actual if f"{line};\n" not in conf] == []


def test_keep_alive_can_be_off(site: Site) -> None:
    part = Nginx.model_validate({"keep_alive": 0})
    with HOST.trial(site.folder) as sandbox, serving(sandbox, part, site) as (_, placed):
        assert closed_after(sandbox, placed, "http", 2) == 1


def test_a_session_is_resumed_from_the_cache(site: Site) -> None:
    options = {"tls": True, "tls_versions": ["TLSv1.2"]}
    options |= {"server_directives": ["ssl_session_tickets off"]}
    for cached in ({"tls_session_cache": "1MiB"}, {}):
        part = Nginx.model_validate(options | cached)
        mine = dataclasses.replace(site, label=f"front-{len(cached)}")
        with HOST.trial(site.folder) as sandbox, serving(sandbox, part, mine) as (_, placed):
            trusting = ssl.create_default_context(cafile=placed.scratch / "certificate.pem")
            session, reused = None, []
            for _ in range(2):
                with sandbox.socket() as inside:
                    inside.connect((placed.address, placed.ports["https"]))
                    with trusting.wrap_socket(
                        inside, server_hostname="localhost", session=session
                    ) as secure:
                        session = secure.session
                        reused.append(secure.session_reused)
        assert reused == [False, bool(cached)]


def test_the_key_is_of_the_kind_that_is_asked_for(site: Site) -> None:
    openssl = program_words("openssl")
    for key, actual in (("p256", "prime256v1"), ("rsa2048", "(2048 bit)")):
        part = Nginx.model_validate({"tls": True, "tls_key": key})
        with tempfile.TemporaryDirectory(prefix="bf-") as scratch:
            mine = dataclasses.replace(site, scratch=Path(scratch), ports={"http": 1, "https": 2})
            restored(HOST, key, part, mine)
            words = ["x509", "-in", str(present(part.certificate(mine))), "-noout", "-text"]
            text = captured([*openssl, *words], check=True).stdout
            assert (Path(scratch) / "key.pem").stat().st_mode & 0o77 == 0
        assert actual in text
        assert "IP Address:127.0.0.1, DNS:localhost" in text


def test_it_works_where_it_was_unpacked(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    root = site.suite_folder / "unpacked"
    (root / "usr/sbin").mkdir(parents=True)
    (root / "usr/lib/x86_64-linux-gnu").mkdir(parents=True)
    program = root / "usr/sbin/nginx"
    shutil.copy(site.programs["nginx"], program)
    monkeypatch.setenv("BENCHFORGE_PROGRAMS", str(root))
    assert list(libraries(program)) == ["LD_LIBRARY_PATH"]
    mine = dataclasses.replace(site, programs={**site.programs, "nginx": program})
    with HOST.trial(site.folder) as sandbox, serving(sandbox, Nginx(), mine) as (server, placed):
        assert Path(f"/proc/{server.outer_pid}/exe").resolve() == program
        with connection(sandbox, placed) as request:
            assert answer(request)[1] == b"Hello, World!"


def test_it_is_found_where_ordinary_users_do_not_look(monkeypatch: pytest.MonkeyPatch) -> None:
    if not os.access("/usr/sbin/nginx", os.X_OK):
        pytest.skip("nginx is elsewhere")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert locate("nginx") == Path("/usr/sbin/nginx")


# --- what cannot be ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("server", "expected"),
    [
        ('server_directives = ["gzipp on"]', f'{READ}unknown directive "gzipp" in nginx-one.conf:'),
        ('http_directives = ["gzip maybe;"]', f'{READ}invalid value "maybe" in "gzip" directive'),
        ('directory = "absent"', "servers.one: {folder}/absent: no such folder"),
    ],
)
def test_a_mistake_is_told_in_one_line(tmp_path: Path, server: str, expected: str) -> None:
    failure = present(measured(tmp_path, f'use = "nginx"\n{server}').failure)
    assert failure.stage in {"prepare", "start"}
    assert failure.message.startswith(expected.replace("{folder}", str(tmp_path)))
    assert "\n" not in failure.message


def test_a_path_that_nginx_would_not_read_is_refused(site: Site) -> None:
    (site.suite_folder / "a$b").mkdir()
    mine = dataclasses.replace(site, ports={"http": 1, "https": 2})
    with pytest.raises(BenchforgeError, match="nginx takes \\$ for a variable"):
        Nginx.model_validate({"directory": "a$b"}).files(mine)


# --- load over TLS -------------------------------------------------------------------------------


@pytest.mark.parametrize("loader", ["wrk", "ab"])
def test_a_load_over_tls_is_measured(tmp_path: Path, loader: str) -> None:
    trial = measured(tmp_path, 'use = "nginx"\ntls = true', loader)
    assert trial.measured, trial.failure
    reading = present(trial.reading)
    assert (sum(reading.errors.values()), reading.responses > 0) == (0, True)
    assert [answer.status for answer in trial.answers] == [200, 200]
    assert any(word.startswith("https://127.0.0.1:") for word in trial.processes[-1].argv)
    assert present(trial.observation).foreign_connections == ""


@pytest.mark.parametrize(
    ("server", "protocol", "says"),
    [
        ("tls = true\nhttp2 = true\nkeepalive_requests = 1000000000", "h2", ""),
        ("tls = true", "h2", "it does not speak HTTP/2 over TLS, and the load does"),
        ("tls = false", "h2", "it speaks HTTP/1 only, and the load speaks HTTP/2"),
        ("tls = true\nhttp2 = true", "h2c", "h2load: protocol 'h2c' does not fit https://127"),
    ],
)
def test_h2load_over_tls(tmp_path: Path, server: str, protocol: str, says: str) -> None:
    needed("h2load")
    length = f'duration = "1s"\nprotocol = "{protocol}"\nstreams = 4'
    trial = measured(tmp_path, f'use = "nginx"\n{server}', "h2load", length)
    if says:
        failure = present(trial.failure)
        assert says in failure.message
        assert "protocol" in failure.hint
        return
    assert trial.failure is None, trial.failure
    load, reading = present(trial.load), present(trial.reading)
    assert (load.protocol, load.concurrency) == ("HTTP/2", 8)
    assert reading.good == reading.responses > 0
