"""Asking a server from inside the trial's network, until the answer is right."""

import dataclasses
import functools
import hashlib
import http.client
import ipaddress
import socket
import ssl
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from benchforge.errors import BenchforgeError, ServerBroken, TrialFailed
from benchforge.model.trial.answers.answer import (
    Answer,
    Decoded,
    Expect,
    Request,
    body_difference,
    difference,
)
from benchforge.model.trial.answers.json_body import Undecodable, decoded
from benchforge.parts.part import Server
from benchforge.run.http.bounded import (
    BoundedSocket,
    BoundedTLS,
    Endless,
    OnlyHttp2,
    WholeHead,
)
from benchforge.run.programs.lacking import in_log
from benchforge.run.sandbox.sandbox import Running, Sandbox, complaint, first_error
from benchforge.suite.secrets.redact import redacted, redacted_bytes
from benchforge.text.readable import exact

ANSWER_WITHIN_S = 10.0
PATIENCE_S = 3.0  # a server that answers wrongly may still be starting: so long it may do so
PAUSE_S = 0.005
LARGEST_BODY = 64 << 20
LARGEST_ANSWER = 72 << 20  # on the wire, with whatever stands around the body
LARGEST_HEAD = 64 << 10  # of the last response: it is kept with each trial
_SHOWN = 500  # characters of what is wrong: a server may have chosen them
# What OpenSSL says of a certificate, and what to do; ca_file helps with all the others.
_EXPIRED, _OTHER_NAME, _OTHER_ADDRESS = 10, 62, 64
_HINTS = {
    _EXPIRED: "make a new certificate, or set the clock",
    _OTHER_NAME: "use a name that its certificate contains",
    _OTHER_ADDRESS: "use a name that its certificate contains",
}
_EVENTS = "text/event-stream"
_LOOPBACK = ("127.0.0.1", "::1")
_AGREED_WITHIN_S = 1.0
OVER_TLS = "it speaks TLS (HTTPS), and the request came without it"
_HTTP_1 = "let it speak HTTP/1.1, too: then h2load, with protocol, measures it over HTTP/2"
_END = f"request a path whose answer ends within {exact(ANSWER_WITHIN_S)} s"
_LOG_IN = (
    "log in before the load: set `session` of the scenario; or send a key: "
    "headers = { Authorization = ... }"
)
_TRUST = 'name the PEM file to trust in the table of the server: ca_file = "certificate.pem"'


@dataclass(frozen=True)
class HttpAnswer:
    """An answer and its body, decoded where it can be."""

    answer: Answer
    body: bytes


@dataclass(frozen=True)
class Like:
    """Another server's body, which this one has to answer too."""

    server: str
    body: bytes


@dataclass(frozen=True)
class HttpProbe:
    """What is asked of a server, and what a right answer is."""

    label: str
    part: Server
    running: Running | None
    "Process of the server; None for a server that benchforge did not start."
    root: str
    request: Request
    expect: Expect
    like: Like | None
    ca_file: Path | None = None
    "PEM file that is trusted; None for the system's own."
    secrets: frozenset[str] = frozenset()
    "Secrets that no message about an answer shows."

    @property
    def asks(self) -> str:
        """For a person: the request line."""
        return f"{self.request.method} {self.request.path}"

    @property
    def place(self) -> str:
        """For a person: host and port."""
        parts = urlsplit(self.root)
        return f"{parts.hostname}:{parts.port or default_port(parts.scheme)}"

    def late(self) -> str:
        """Return what to do where it is not ready in time."""
        if self.running is None:
            return f"start it at {self.place}, or correct its url: benchforge does not start it"
        return (
            f"it must listen at {self.place}, which a command receives as {{port}} or {{url}}; "
            "give it more time with ready_within, or see its log in the trial's folder"
        )

    def wrong(self, reply: HttpAnswer) -> str | None:
        """What is wrong with an answer, in one line; None when it is right."""
        why = self._wrong(reply)
        if why is None or not self.secrets:
            return why
        # Before an excerpt is cut: of a secret that was cut, the rest would be shown.
        hidden = redacted_bytes(reply.body, self.secrets)
        answer = redacted(reply.answer, self.secrets)
        if (answer, hidden) == (reply.answer, reply.body):
            return why
        expect = redacted(self.expect, self.secrets)
        like = self.like and Like(self.like.server, redacted_bytes(self.like.body, self.secrets))
        less = dataclasses.replace(self, expect=expect, like=like)
        return less._wrong(HttpAnswer(answer, hidden)) or "a secret in the body differs"  # noqa: SLF001

    def _wrong(self, reply: HttpAnswer) -> str | None:
        if why := difference(self.expect, reply.answer, reply.body):
            return why[:_SHOWN]
        if self.like is not None and (why := body_difference(self.like.body, reply.body)):
            return f"not the body that {self.like.server} answers: {why}"
        return None

    def failed(
        self, stage: str, message: str, hint: str = "", kind: type[TrialFailed] = ServerBroken
    ) -> TrialFailed:
        """Return the failure, with the last lines of the server's log."""
        log = ""
        if self.running is not None:
            log = complaint(self.running)
        hint = in_log(f"{message}\n{log}", self.part, self.label) or hint
        return kind(stage, f"{self.label}: {message}", hint, log)


def reachable(root: str) -> str:
    """Return a root with [::1] for localhost where that address alone takes connections.

    Load tools ask the machine what localhost is, which may be 127.0.0.1 alone.
    """
    parts = urlsplit(root)
    port = parts.port or default_port(parts.scheme)
    if parts.hostname != "localhost":
        return root
    taken = [address for address in _LOOPBACK if _accepts(address, port)]
    return f"{parts.scheme}://[::1]:{port}" if taken == ["::1"] else root


def _accepts(address: str, port: int) -> bool:
    try:
        socket.create_connection((address, port), _AGREED_WITHIN_S).close()
    except OSError:
        return False
    return True


def default_port(scheme: str) -> int:
    """Return the port of a URL that names none."""
    return http.client.HTTPS_PORT if scheme == "https" else http.client.HTTP_PORT


def ask(
    sandbox: Sandbox,
    root: str,
    request: Request,
    ca_file: Path | None = None,
    *,
    keep_alive: bool = False,
    version: Literal["HTTP/1.0", "HTTP/1.1"] = "HTTP/1.1",
) -> HttpAnswer:
    """Send a request to `root` from inside the trial's network, over a connection of its own.

    With `keep_alive` the server is not told that it is the last one.

    Over https the certificate and its name are checked: `ca_file` is trusted, the system's own
    certificates without it. Raises OSError when the whole answer is not there within
    ANSWER_WITHIN_S or no TLS is agreed upon, http.client.HTTPException when it is not HTTP, or
    longer than LARGEST_ANSWER bytes.
    """
    parts = urlsplit(root)
    host, port = parts.hostname or "127.0.0.1", parts.port or default_port(parts.scheme)
    begun = time.monotonic()
    connection = (_Old if version == "HTTP/1.0" else http.client.HTTPConnection)(host, port)
    connection.response_class = WholeHead
    connection.default_port = default_port(parts.scheme)  # the header Host leaves that one out
    trusting = _trusting(ca_file) if parts.scheme == "https" else None
    try:
        connection.sock = bounded = _connected(sandbox, host, port, trusting)
        body = request.body.encode() if request.body is not None else None
        headers = {**_of_connection(keep_alive=keep_alive, version=version), **request.headers}
        connection.request(request.method, request.path, body, headers)
        response, content = _received(connection)
    finally:
        connection.close()
    headers, text, undecoded = _joined(response.getheaders()), content, ""
    try:
        text = decoded(content, headers.get("content-encoding", ""))
    except Undecodable as error:
        undecoded = str(error)
    answer = Answer(
        status=response.status,
        headers=headers,
        length=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        seconds=time.monotonic() - begun,
        version=f"HTTP/{response.version // 10}.{response.version % 10}",
        header_bytes=_header_bytes(response),
        wire_bytes=bounded.answer_bytes,
        decoded=None
        if text is content
        else Decoded(length=len(text), sha256=hashlib.sha256(text).hexdigest()),
        undecoded=undecoded,
    )
    return HttpAnswer(answer, text)


class _Old(http.client.HTTPConnection):
    """A connection that speaks HTTP/1.0."""

    _http_vsn = 10
    _http_vsn_str = "HTTP/1.0"


def _of_connection(*, keep_alive: bool, version: str) -> dict[str, str]:
    """Return the headers that say what becomes of a connection; the old version needs a Host."""
    if version == "HTTP/1.1":
        return {} if keep_alive else {"Connection": "close"}
    return {"Accept-Encoding": "identity", **({"Connection": "Keep-Alive"} if keep_alive else {})}


def _header_bytes(response: http.client.HTTPResponse) -> int:
    """Return the length of the first line and the headers, each line with one blank in it."""
    first = len("HTTP/1.1 200 ") + len(response.reason) + 2
    return first + sum(len(name) + len(value) + 4 for name, value in response.getheaders()) + 2


def _received(connection: http.client.HTTPConnection) -> tuple[http.client.HTTPResponse, bytes]:
    """Return the answer and its body. Raises HTTPException for what is none, or too much."""
    response = None
    try:
        response = connection.getresponse()
        if _header_bytes(response) > LARGEST_HEAD:
            raise http.client.HTTPException(f"its headers are longer than {LARGEST_HEAD} bytes")
        return response, _whole_body(response)
    except Endless as error:
        error.content_type = None if response is None else response.getheader("Content-Type", "")
        raise
    except ValueError as error:  # such as a chunk of -2 bytes, which http.client believes
        raise http.client.HTTPException(f"not HTTP: {error}") from error


def _whole_body(response: http.client.HTTPResponse) -> bytes:
    """Read the body. Raises HTTPException when it is cut off: a bounded read says nothing of it."""
    content = response.read(LARGEST_BODY)
    if len(content) == LARGEST_BODY and response.read(1):
        raise http.client.HTTPException(f"the body is longer than {LARGEST_BODY} bytes")
    if response.length:  # what the header promised and nobody sent
        raise http.client.IncompleteRead(content, response.length)
    return content


def until_right(sandbox: Sandbox, question: HttpProbe, within_s: float) -> HttpAnswer:
    """Ask until the answer is right. Raises TrialFailed when the server ends or never does so."""
    begun = time.monotonic()
    first_wrong: float | None = None
    refused = False
    while True:
        try:
            reply = ask(sandbox, question.root, question.request, question.ca_file)
            why = question.wrong(reply)
            if why is None:
                return reply
            refused = reply.answer.status == http.HTTPStatus.UNAUTHORIZED
            _check_tls(sandbox, question, reply)
            first_wrong = first_wrong or time.monotonic()
        except (OSError, http.client.HTTPException) as error:
            if failure := _lasting(sandbox, question, error):
                raise failure from error
            why = reason(error, question.place)
            if isinstance(error, ssl.SSLError):  # somebody is there, and speaks otherwise
                first_wrong = first_wrong or time.monotonic()
        if question.running is not None and (end := sandbox.finished(question.running)):
            ended = f"ended with exit code {end.code} before it was ready"
            cause = first_error(end.stderr)
            raise question.failed("start", f"{ended}: {cause}" if cause else ended)
        now = time.monotonic()
        if first_wrong is not None and now - first_wrong > min(PATIENCE_S, within_s):
            raise question.failed("ask", f"{question.asks}: {why}", _LOG_IN if refused else "")
        if now - begun > within_s:
            late = f"not ready within {exact(within_s)} s: {why}"
            raise question.failed("start", late, question.late(), TrialFailed)
        if question.running is None:
            time.sleep(PAUSE_S)
        else:
            sandbox.wait(question.running, PAUSE_S)  # as a pause that ends when the server does


def _lasting(sandbox: Sandbox, question: HttpProbe, error: Exception) -> TrialFailed | None:
    """Return the failure for what does not become another by waiting; None for all else."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return question.failed("ask", reason(error), _HINTS.get(error.verify_code, _TRUST))
    if isinstance(error, OnlyHttp2):
        return question.failed("ask", str(error), _HTTP_1)
    if isinstance(error, Endless) and error.content_type is not None:
        return question.failed("ask", f"{question.asks}: {reason(error)}", _END)
    silent = isinstance(error, ConnectionRefusedError | TimeoutError)
    return None if silent or not _speaks_tls(sandbox, question) else _over_tls(question)


def _check_tls(sandbox: Sandbox, question: HttpProbe, reply: HttpAnswer) -> None:
    """Raise TrialFailed for a server of TLS that answers what comes without it."""
    if reply.answer.status == http.HTTPStatus.BAD_REQUEST and _speaks_tls(sandbox, question):
        raise _over_tls(question)


def _speaks_tls(sandbox: Sandbox, question: HttpProbe) -> bool:
    """Return True if a server at a root without TLS agrees on TLS, whatever its certificate."""
    parts = urlsplit(question.root)
    if parts.scheme == "https":
        return False
    host, port = parts.hostname or "127.0.0.1", parts.port or default_port(parts.scheme)
    anybody = ssl.create_default_context()
    anybody.check_hostname, anybody.verify_mode = False, ssl.CERT_NONE
    deadline = time.monotonic() + _AGREED_WITHIN_S
    try:
        inside = _connected_socket(sandbox, host, port)
        with BoundedTLS(inside, deadline, LARGEST_ANSWER, anybody, host) as connection:
            connection.agree()
    except (OSError, http.client.HTTPException):
        return False
    return True


def _over_tls(question: HttpProbe) -> TrialFailed:
    option = f"say tls = true in servers.{question.label}"
    hint = "write https:// in its url" if question.running is None else option
    return question.failed("ask", OVER_TLS, hint)


def once(sandbox: Sandbox, question: HttpProbe) -> HttpAnswer:
    """Ask once, after the load. Raises TrialFailed when the answer is wrong or missing."""
    try:
        reply = ask(sandbox, question.root, question.request, question.ca_file)
    except (OSError, http.client.HTTPException) as error:
        raise question.failed("ask", f"after the load: {reason(error)}") from error
    if why := question.wrong(reply):
        raise question.failed("ask", f"after the load: {question.asks}: {why}")
    return reply


def _connected(
    sandbox: Sandbox, host: str, port: int, trusting: ssl.SSLContext | None
) -> BoundedSocket:
    """Return a connection for one answer; what it took to connect is part of its time."""
    deadline = time.monotonic() + ANSWER_WITHIN_S
    inside = _connected_socket(sandbox, host, port)
    if trusting is None:
        return BoundedSocket(inside, deadline, LARGEST_ANSWER)
    connection = BoundedTLS(inside, deadline, LARGEST_ANSWER, trusting, host)
    try:
        connection.agree()
    except BaseException:
        connection.close()
        raise
    return connection


def _connected_socket(sandbox: Sandbox, host: str, port: int) -> socket.socket:
    try:
        version = ipaddress.ip_address(host).version
    except ValueError:
        version = 4
    families = [socket.AF_INET6] if version == 6 else [socket.AF_INET]  # noqa: PLR2004
    if host == "localhost":
        families.append(socket.AF_INET6)
    refused: OSError | None = None
    for family in families:
        address = host if host != "localhost" else _loopback(family)
        inside = sandbox.socket(family)
        try:
            inside.settimeout(ANSWER_WITHIN_S / len(families))
            inside.connect((address, port))
        except OSError as error:
            inside.close()
            refused = error
        else:
            return inside
    raise refused or OSError("no address")


@functools.lru_cache(maxsize=4)
def _trusting(ca_file: Path | None) -> ssl.SSLContext:
    """Return what checks certificates: to read them takes some milliseconds.

    Raises BenchforgeError when there are none in the file.
    """
    try:
        return ssl.create_default_context(cafile=ca_file)
    except OSError as error:
        what = "no certificate in PEM" if isinstance(error, ssl.SSLError) else error.strerror
        raise BenchforgeError(f"{ca_file}: {what}", _TRUST) from error


def _loopback(family: socket.AddressFamily) -> str:
    return "127.0.0.1" if family == socket.AF_INET else "::1"


def _joined(headers: list[tuple[str, str]]) -> dict[str, str]:
    joined: dict[str, str] = {}
    for name, value in headers:
        key = name.lower()
        joined[key] = f"{joined[key]}, {value}" if key in joined else value
    return joined


def reason(error: Exception, place: str = "") -> str:
    """Return why there is no answer, for a person; `place` is where somebody should listen."""
    return _reason(error, place)[:_SHOWN]


def _reason(error: Exception, place: str) -> str:
    if isinstance(error, TimeoutError):
        endless = error if isinstance(error, Endless) else None
        what = "no answer" if endless is None else "its answer has no end"
        events = endless and (endless.content_type or "").startswith(_EVENTS)
        stream = f": a stream ({_EVENTS}) cannot be measured" if events else ""
        return f"{what} within {exact(ANSWER_WITHIN_S)} s{stream}"
    if isinstance(error, ConnectionRefusedError):
        return f"nothing listens on its port, {place}".removesuffix(", ")
    if isinstance(error, http.client.IncompleteRead):
        promised = len(error.partial) + error.expected if error.expected else "more"
        return f"the body ends after {len(error.partial)} of {promised} bytes"
    if isinstance(error, ssl.SSLError):
        return _tls_reason(error)
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    ours = type(error) is http.client.HTTPException
    return f"{'' if ours else type(error).__name__}: {error}".strip(": ")


def _tls_reason(error: ssl.SSLError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"certificate not trusted: {error.verify_message}"
    return f"TLS: {(error.reason or str(error)).replace('_', ' ').lower()}"
