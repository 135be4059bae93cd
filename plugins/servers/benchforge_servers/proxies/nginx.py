"""nginx: static files, or a proxy before another server; with or without TLS."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, NonNegativeInt, PositiveInt, field_validator, model_validator

from benchforge.plugin import (
    BenchforgeError,
    Command,
    Duration,
    Finished,
    Need,
    Server,
    Site,
    Size,
    Task,
    WrongOption,
)
from benchforge_servers.digest import folder_digest

Block = Sequence["str | tuple[str, Block]"]
"Directives without their semicolon, and blocks in it by their name."

_TYPES = {
    "text/html": "html htm",
    "text/css": "css",
    "text/javascript": "js mjs",
    "text/plain": "txt",
    "text/xml": "xml",
    "application/json": "json",
    "image/png": "png",
    "image/jpeg": "jpg jpeg",
    "image/gif": "gif",
    "image/svg+xml": "svg",
    "image/webp": "webp",
    "font/woff2": "woff2",
}
_UWSGI = {
    "QUERY_STRING": "$query_string",
    "REQUEST_METHOD": "$request_method",
    "CONTENT_TYPE": "$content_type",
    "CONTENT_LENGTH": "$content_length",
    "REQUEST_URI": "$request_uri",
    "PATH_INFO": "$document_uri",
    "DOCUMENT_ROOT": "$document_root",
    "SERVER_PROTOCOL": "$server_protocol",
    "REQUEST_SCHEME": "$scheme",
    "HTTPS": "$https if_not_empty",
    "REMOTE_ADDR": "$remote_addr",
    "REMOTE_PORT": "$remote_port",
    "SERVER_PORT": "$server_port",
    "SERVER_NAME": "$server_name",
}
_BEHIND = "behind"
TEXT = "Hello, World!"
_ANSWERS = ("upstream", "body", "body_bytes", "directory")
_FLAGS = ("sendfile", "tcp_nopush", "tcp_nodelay")
_KEYS: Mapping[str, Sequence[str]] = {
    "p256": ("ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"),
    "rsa2048": ("rsa:2048",),
}
_LOOPBACK = "127.0.0.1"
_TEN_YEARS = "3650"  # a template lives as long as its folder
_CERTIFICATE, _KEY = "certificate.pem", "key.pem"


def written(block: Block, depth: int = 0) -> str:
    """Return the text of a block."""
    indent = "    " * depth
    lines: list[str] = []
    for entry in block:
        if isinstance(entry, str):
            end = "" if entry.rstrip().endswith((";", "}")) else ";"
            lines.append(f"{indent}{entry}{end}\n")
        else:
            name, inner = entry
            lines.append(f"{indent}{name} {{\n{written(inner, depth + 1)}{indent}}}\n")
    return "".join(lines)


def served(path: Path) -> str:
    """Return a path as nginx reads it. Raises BenchforgeError for one with a dollar sign."""
    if "$" in str(path):
        raise BenchforgeError(f"{path}: nginx takes $ for a variable", "use another folder")
    escaped = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def body(root: Path, name: str | None = None) -> tuple[Block, tuple[str, Block]]:
    """Return the location that answers with the files of a folder, or always with one of them."""
    types: Block = [f"{kind} {endings}" for kind, endings in _TYPES.items()]
    always = [] if name is None else [f'try_files "/{name}" =404']
    answer: Block = [f"root {served(root)}", "default_type text/plain", *always]
    return [("types", types)], ("location /", answer)


def location(gives: Mapping[str, str], keepalive: int) -> tuple[Block, tuple[str, Block]]:
    """Return the group of what another server gives, and the location that asks it.

    `keepalive` is the number of idle connections that each worker keeps. Raises ValueError when
    there is no way to it.
    """
    where, ask = _asking(gives, keepalive)
    keepalive_lines = [f"keepalive {keepalive}"] if keepalive else []
    return [(f"upstream {_BEHIND}", [f'server "{where}"', *keepalive_lines])], ("location /", ask)


def _asking(gives: Mapping[str, str], keepalive: int) -> tuple[str, Block]:
    if "uwsgi" in gives:
        if keepalive:
            raise ValueError("the protocol uwsgi keeps no connections: no upstream_keepalive")
        parameters = (f"uwsgi_param {name} {value}" for name, value in _UWSGI.items())
        return gives["uwsgi"], [f"uwsgi_pass {_BEHIND}", *parameters]
    headers = ["proxy_set_header Host $http_host"]
    if keepalive:
        headers += ["proxy_http_version 1.1", 'proxy_set_header Connection ""']
    if "socket" in gives:
        return f"unix:{gives['socket']}", [f"proxy_pass http://{_BEHIND}", *headers]
    if "url" not in gives:
        raise ValueError("it gives neither url, socket nor uwsgi")
    parts = urlsplit(gives["url"])
    port = parts.port or {"http": 80, "https": 443}[parts.scheme]
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{host}:{port}", [f"proxy_pass {parts.scheme}://{_BEHIND}", *headers]


class Nginx(Server):
    """nginx answers every path with one text or with files, or is a proxy for another server.

    With `tls`, both ports are open, and the load uses HTTPS; openssl makes the self-signed
    certificate. Good to know: with several workers, an idle worker may stay idle, because
    whichever is awake accepts the connection. After `keepalive_requests` (1000 since nginx
    1.19.10, 100 before), nginx closes a connection. Towards the upstream server nginx speaks
    HTTP/1.0 and closes each connection, unless `upstream_keepalive` is above 0. If the upstream is
    dead, nginx answers 502. Current OpenSSL refuses TLS 1.0 and 1.1, so they are not available.
    This is the front server of the study of Python's clients from 2016, except for its TLS
    versions and ciphers:

        use = "nginx"
        upstream = "flask"
        worker_processes = 4
        worker_connections = 768
        keep_alive = "65s"
        keepalive_requests = 100
        tls = true
        tls_key = "rsa2048"
        tls_keep_alive = "10s"
        tls_session_cache = "50MiB"
        tls_session_timeout = "5m"
        server_directives = ["ssl_prefer_server_ciphers on"]
    """

    name: ClassVar[str] = "nginx"
    ports: ClassVar[tuple[str, ...]] = ("http", "https")
    # The stop signal is TERM, nginx's fast one: QUIT waits for clients that never leave.

    upstream: str | None = None
    "Label of the upstream server, over TCP or a unix socket."
    body: str | None = None
    "Body of the answer to every path. Default: a text of 13 bytes."
    body_bytes: Size | None = None
    "Length of the body in bytes, instead of `body`."
    directory: str | None = None
    "Folder with files to serve, relative to the suite's folder."

    worker_processes: PositiveInt = 1
    "Number of worker processes."
    worker_connections: PositiveInt = 1024
    "Maximum number of connections of each worker, including those to the upstream server."
    backlog: PositiveInt = 511
    """Length of the queue of connections that the server has not accepted yet. The kernel limits \
it to net.core.somaxconn."""
    keep_alive: Duration = Duration(75)
    """Time until an idle connection of a client is closed. With 0, each connection is closed \
after one answer."""
    keepalive_requests: PositiveInt | None = None
    "Number of requests after which a connection is closed. Default: nginx's own."
    upstream_keepalive: NonNegativeInt = 0
    "Number of idle connections to the upstream server that each worker keeps."
    sendfile: bool = True
    "Directive of nginx with this name."
    tcp_nopush: bool = True
    "Directive of nginx with this name."
    tcp_nodelay: bool = True
    "Directive of nginx with this name."

    tls: bool = False
    "HTTPS in addition to HTTP. The load then uses HTTPS."
    http2: bool = False
    "HTTP/2 over TLS, in addition to HTTP/1.1. It needs `tls`."
    tls_key: Literal["p256", "rsa2048"] = "p256"
    "Kind of key of the certificate."
    tls_versions: tuple[Literal["TLSv1.2", "TLSv1.3"], ...] = Field(
        default=("TLSv1.2", "TLSv1.3"), min_length=1
    )
    "Versions of TLS that the server offers."
    tls_keep_alive: Duration | None = None
    "The same as `keep_alive` for the HTTPS port. Default: `keep_alive`."
    tls_session_cache: Size | None = None
    "Cache of TLS sessions that the workers share. Default: no cache, but session tickets."
    tls_session_timeout: Duration = Duration(300)
    "Lifetime of TLS sessions in whole seconds."

    http_directives: list[str] = Field(default_factory=list)
    "Additional lines of the http block, such as 'gzip on'."
    server_directives: list[str] = Field(default_factory=list)
    "Additional lines of each server block."

    @field_validator("tls_session_timeout")
    @classmethod
    def _whole_seconds(cls, value: Duration) -> Duration:
        if value < 1 or not value.is_integer():
            raise ValueError(f"nginx takes whole seconds, one at least, not {value}s")
        return value

    @model_validator(mode="after")
    def _one_answer(self) -> Self:
        names = [name for name in _ANSWERS if getattr(self, name) is not None]
        if len(names) > 1:
            message = f"{' and '.join(names)} exclude one another"
            raise WrongOption(message, *reversed(names), hint="leave out all but one")
        if "upstream_keepalive" in self.model_fields_set and self.upstream is None:
            message = "it needs an upstream server"
            raise WrongOption(message, "upstream_keepalive", "upstream", hint="name an upstream")
        return self

    @model_validator(mode="after")
    def _tls_is_on(self) -> Self:
        of_tls = sorted(name for name in self.model_fields_set if name.startswith("tls_"))
        of_tls += ["http2"] if self.http2 else []
        if of_tls and not self.tls:
            raise WrongOption("it needs TLS", *of_tls, "tls", hint="say tls = true")
        return self

    def needs(self) -> Iterable[Need]:
        openssl = [Need("openssl", debian="openssl")] if self.tls else []
        return [Need("nginx", debian="nginx-light"), *openssl]

    def version(self, site: Site) -> Command | None:
        return Command(site.programs["nginx"], "-v")

    def fingerprint(self, suite_folder: Path) -> str:
        if self.directory is None:
            return ""
        hint = "name the folder that has the served files only"
        folder = suite_folder / self.directory
        return folder_digest(folder, self.directory, lambda _: True, "", hint)

    def reads(self, suite_folder: Path) -> Iterable[Path]:
        return () if self.directory is None else (suite_folder / self.directory,)

    def upstreams(self) -> Sequence[str]:
        return () if self.upstream is None else (self.upstream,)

    def files(self, site: Site) -> Mapping[str, str]:
        """Return the configuration, and the text that is answered. Raises BenchforgeError."""
        conf = {f"{_stem(site)}.conf": self._configuration(site)}
        if any(getattr(self, name) is not None for name in _ANSWERS if name != "body"):
            return conf
        return {**conf, f"{_stem(site)}.body": TEXT if self.body is None else self.body}

    def template(self, site: Site) -> Sequence[Task]:
        return [self._certified(site)] if self.tls and site.address == _LOOPBACK else []

    def _certified(self, site: Site) -> Task:
        made = ("-keyout", site.scratch / _KEY, "-out", site.scratch / _CERTIFICATE)
        about = ("-days", _TEN_YEARS, "-subj", "/CN=localhost", "-addext")
        names = f"subjectAltName=IP:{site.address},DNS:localhost"
        words = ("req", "-x509", "-nodes", "-newkey", *_KEYS[self.tls_key], *made, *about, names)
        return Task(Command(site.programs["openssl"], *words), "make a certificate")

    def prepare(self, site: Site) -> Iterable[Task]:
        """Fill the body, check the configuration; on a host, also make a certificate."""
        if self.tls and site.address != _LOOPBACK:  # a template knows no address of a host
            yield self._certified(site)
        if self.body_bytes is not None:
            write = "import sys; open(sys.argv[1], 'wb').write(b'x' * int(sys.argv[2]))"
            words = (site.python, "-c", write, site.scratch / "body", int(self.body_bytes))
            yield Task(Command(*words), "write the body")
        yield Task(Command(*_words(site), "-t", "-q"), "read its configuration", _wrong)

    def command(self, site: Site) -> Command | None:
        """Return nginx in the foreground; all that it writes is in the trial's folders."""
        return Command(*_words(site))

    def certificate(self, site: Site) -> Path | None:
        return site.scratch / _CERTIFICATE if self.tls else None

    def url(self, site: Site) -> str:
        return f"https://{site.address}:{site.ports['https']}" if self.tls else site.url

    def _configuration(self, site: Site) -> str:
        connections: Block = [f"worker_connections {self.worker_connections}"]
        return written([
            # nginx would be nobody, who may read neither our files nor our sockets.
            *(["user root"] if site.as_root else []),
            *("daemon off", "master_process on", f"worker_processes {self.worker_processes}"),
            *("error_log stderr error", f"pid {served(site.scratch / 'nginx.pid')}"),
            ("events", connections),
            ("http", [*self._http(site), *self.http_directives, *self._servers(site)]),
        ])  # fmt: skip

    def _http(self, site: Site) -> Block:
        temporary = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        requests = self.keepalive_requests
        return [
            *(f"{name}_temp_path {served(site.scratch / name)}" for name in temporary),
            "access_log off",
            *(f"{name} {'on' if getattr(self, name) else 'off'}" for name in _FLAGS),
            f"keepalive_timeout {_ms(self.keep_alive)}",
            *([] if requests is None else [f"keepalive_requests {requests}"]),
        ]

    def _servers(self, site: Site) -> Block:
        upstreams, answer = self._answer(site)
        directives: Block = [*self.server_directives, answer]
        plain: Block = [f"listen {site.address}:{site.port} backlog={self.backlog}", *directives]
        if not self.tls:
            return [*upstreams, ("server", plain)]
        return [*upstreams, ("server", plain), ("server", [*self._secure(site), *directives])]

    def _secure(self, site: Site) -> Block:
        keep_alive, cache = self.tls_keep_alive, self.tls_session_cache
        http2 = " http2" if self.http2 else ""
        return [
            f"listen {site.address}:{site.ports['https']} ssl{http2} backlog={self.backlog}",
            f"ssl_certificate {served(site.scratch / _CERTIFICATE)}",
            f"ssl_certificate_key {served(site.scratch / _KEY)}",
            f"ssl_protocols {' '.join(self.tls_versions)}",
            f"ssl_session_timeout {int(self.tls_session_timeout)}s",
            *([] if cache is None else [f"ssl_session_cache shared:tls:{int(cache) // 1024}k"]),
            *([] if keep_alive is None else [f"keepalive_timeout {_ms(keep_alive)}"]),
        ]

    def _answer(self, site: Site) -> tuple[Block, tuple[str, Block]]:
        if self.upstream is not None:
            try:
                return location(site.upstreams[self.upstream], self.upstream_keepalive)
            except ValueError as error:
                raise BenchforgeError(f"servers.{site.label}: {self.upstream}: {error}") from error
        if self.directory is not None:
            root = site.suite_folder.absolute() / self.directory
            if not root.is_dir():
                hint = "it starts at the suite's folder"
                raise BenchforgeError(f"servers.{site.label}: {root}: no such folder", hint)
            return body(root)
        if self.body_bytes is not None:
            return body(site.scratch, "body")
        return body(site.folder, f"{_stem(site)}.body")


def _stem(site: Site) -> str:
    return f"nginx-{site.label}"


def _words(site: Site) -> Sequence[object]:
    conf = site.folder / f"{_stem(site)}.conf"
    return (site.programs["nginx"], "-c", conf, "-p", site.scratch, "-e", "stderr")


def _wrong(finished: Finished) -> str | None:
    if finished.code == 0:
        return None
    match = re.search(r"\[emerg\] (?:\d+#\d+: )?(.+)", finished.complained)
    folder = f"{finished.stderr.parent}/"
    return match[1].replace(folder, "") if match else f"exit code {finished.code}"


def _ms(duration: Duration) -> str:
    return f"{round(duration * 1000)}ms"
