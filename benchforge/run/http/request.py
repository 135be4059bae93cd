"""Asking a server from inside the trial's network, until the answer is right."""

import functools
import hashlib
import http.client
import ipaddress
import socket
import ssl
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from benchforge.errors import BenchforgeError, TrialFailed
from benchforge.model.answer import Answer, Expect, Request, body_difference, difference
from benchforge.run.here import Here, Running, complaint, first_error

ANSWER_WITHIN_S = 10.0
PATIENCE_S = 3.0  # a server that answers wrongly may still be starting: so long it may do so
PAUSE_S = 0.005
LARGEST_BODY = 64 * 1024 * 1024
# What OpenSSL says of a certificate, and what to do; ca_file helps with all the others.
_EXPIRED, _OTHER_NAME, _OTHER_ADDRESS = 10, 62, 64
_HINTS = {
    _EXPIRED: "make a new certificate, or set the clock",
    _OTHER_NAME: "ask it by a name that its certificate holds",
    _OTHER_ADDRESS: "ask it by a name that its certificate holds",
}
_TRUST = 'name the PEM file to trust on the server that has it: ca_file = "certificate.pem"'


@dataclass(frozen=True)
class Asked:
    """An answer and its body."""

    answer: Answer
    body: bytes


@dataclass(frozen=True)
class Like:
    """Another server's body, which this one has to answer too."""

    server: str
    body: bytes


@dataclass(frozen=True)
class Question:
    """What is asked of a server, and what a right answer is."""

    label: str
    running: Running | None
    "None for a server that we did not start."
    root: str
    request: Request
    expect: Expect
    like: Like | None
    ca_file: Path | None = None
    "PEM file that is trusted; None for the system's own."

    @property
    def asks(self) -> str:
        """For a person: the request line."""
        return f"{self.request.method} {self.request.path}"

    def wrong(self, asked: Asked) -> str | None:
        """What is wrong with an answer, in one line; None when it is right."""
        if told := difference(self.expect, asked.answer, asked.body):
            return told
        if self.like is not None and (told := body_difference(self.like.body, asked.body)):
            return f"not the body that {self.like.server} answers: {told}"
        return None

    def failed(self, stage: str, message: str, hint: str = "") -> TrialFailed:
        """Return the failure, with the last lines of the server's log."""
        log = ""
        if self.running is not None:
            log = complaint(self.running)
        return TrialFailed(stage, f"{self.label}: {message}", hint, log)


def default_port(scheme: str) -> int:
    """Return the port of a URL that names none."""
    return http.client.HTTPS_PORT if scheme == "https" else http.client.HTTP_PORT


def ask(
    here: Here,
    root: str,
    request: Request,
    ca_file: Path | None = None,
    *,
    keep_alive: bool = False,
) -> Asked:
    """Send a request to `root` from inside the trial's network, over a connection of its own.

    With `keep_alive` the server is not told that it is the last one.

    Over https the certificate and its name are checked: `ca_file` is trusted, the system's own
    certificates without it. Raises OSError when nobody answers in time or no TLS is agreed upon,
    http.client.HTTPException when it is not HTTP.
    """
    parts = urlsplit(root)
    host, port = parts.hostname or "127.0.0.1", parts.port or default_port(parts.scheme)
    begun = time.monotonic()
    connection = http.client.HTTPConnection(host, port)
    connection.default_port = default_port(parts.scheme)  # the header Host leaves that one out
    connection.sock = _connected(here, host, port)
    try:
        if parts.scheme == "https":
            trusting = _trusting(ca_file)
            connection.sock = trusting.wrap_socket(connection.sock, server_hostname=host)
        body = request.body.encode() if request.body is not None else None
        headers = {**({} if keep_alive else {"Connection": "close"}), **request.headers}
        connection.request(request.method, request.path, body, headers)
        response = connection.getresponse()
        content = _whole_body(response)
    finally:
        connection.close()
    answer = Answer(
        status=response.status,
        headers=_joined(response.getheaders()),
        length=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        seconds=time.monotonic() - begun,
        version=f"HTTP/{response.version // 10}.{response.version % 10}",
        header_bytes=_header_bytes(response),
    )
    return Asked(answer, content)


def _header_bytes(response: http.client.HTTPResponse) -> int:
    """Return the length of the first line and the headers, each line with one blank in it."""
    first = len("HTTP/1.1 200 ") + len(response.reason) + 2
    return first + sum(len(name) + len(value) + 4 for name, value in response.getheaders()) + 2


def _whole_body(response: http.client.HTTPResponse) -> bytes:
    """Read the body. Raises HTTPException when it is cut off: a bounded read says nothing of it."""
    content = response.read(LARGEST_BODY)
    if len(content) == LARGEST_BODY and response.read(1):
        raise http.client.HTTPException(f"the body is longer than {LARGEST_BODY} bytes")
    if response.length:  # what the header promised and nobody sent
        raise http.client.IncompleteRead(content, response.length)
    return content


def until_right(here: Here, question: Question, within_s: float) -> Asked:
    """Ask until the answer is right. Raises TrialFailed when the server ends or never does so."""
    begun = time.monotonic()
    first_wrong: float | None = None
    while True:
        try:
            asked = ask(here, question.root, question.request, question.ca_file)
            told = question.wrong(asked)
            if told is None:
                return asked
            first_wrong = first_wrong or time.monotonic()
        except ssl.SSLCertVerificationError as error:  # it does not become another by waiting
            hint = _HINTS.get(error.verify_code, _TRUST)
            raise question.failed("ask", reason(error), hint) from error
        except (OSError, http.client.HTTPException) as error:
            told = reason(error)
            if isinstance(error, ssl.SSLError):  # somebody is there, and speaks otherwise
                first_wrong = first_wrong or time.monotonic()
        if question.running is not None and (end := here.finished(question.running)):
            ended = f"ended with exit code {end.code} before it was ready"
            cause = first_error(end.stderr)
            raise question.failed("start", f"{ended}: {cause}" if cause else ended)
        now = time.monotonic()
        if first_wrong is not None and now - first_wrong > min(PATIENCE_S, within_s):
            raise question.failed("ask", f"{question.asks}: {told}")
        if now - begun > within_s:
            hint = "give it more time with ready_within, or see its log beside the trial"
            raise question.failed("start", f"not ready within {within_s:g} s: {told}", hint)
        if question.running is None:
            time.sleep(PAUSE_S)
        else:
            here.wait(question.running, PAUSE_S)  # as a pause that ends when the server does


def once(here: Here, question: Question) -> Asked:
    """Ask once, after the load. Raises TrialFailed when the answer is wrong or missing."""
    try:
        asked = ask(here, question.root, question.request, question.ca_file)
    except (OSError, http.client.HTTPException) as error:
        raise question.failed("ask", f"after the load: {reason(error)}") from error
    if told := question.wrong(asked):
        raise question.failed("ask", f"after the load: {question.asks}: {told}")
    return asked


def _connected(here: Here, host: str, port: int) -> socket.socket:
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
        inside = here.socket(family)
        try:
            inside.settimeout(ANSWER_WITHIN_S)
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


def reason(error: Exception) -> str:
    """Return why there is no answer, for a person."""
    if isinstance(error, TimeoutError):
        return f"no answer within {ANSWER_WITHIN_S:g} s"
    if isinstance(error, ConnectionRefusedError):
        return "nothing listens on its port"
    if isinstance(error, http.client.IncompleteRead):
        promised = len(error.partial) + error.expected if error.expected else "more"
        return f"the body ends after {len(error.partial)} of {promised} bytes"
    if isinstance(error, ssl.SSLError):
        return _tls_reason(error)
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return f"{type(error).__name__}: {error}".rstrip(": ")


def _tls_reason(error: ssl.SSLError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"certificate not trusted: {error.verify_message}"
    return f"TLS: {(error.reason or str(error)).replace('_', ' ').lower()}"
