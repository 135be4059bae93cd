"""Asking a server from inside the trial's network, until the answer is right."""

import contextlib
import dataclasses
import hashlib
import http.client
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple
from urllib.parse import urlsplit

from benchforge.errors import ServerBroken, TrialFailed
from benchforge.model.trial.answers.answer import (
    Answer,
    Decoded,
    Expect,
    Request,
    body_difference,
    difference,
)
from benchforge.model.trial.answers.json_body import Undecodable, decoded
from benchforge.model.trial.reading import Load
from benchforge.parts.part import Server
from benchforge.run.http import http2
from benchforge.run.http.bounded import BoundedSocket, Endless, OnlyHttp2, Received, exchanged
from benchforge.run.http.connect import ANSWER_WITHIN_S, TRUST, address, connected, speaks_tls
from benchforge.run.programs.needed import in_log
from benchforge.run.sandbox.sandbox import Running, Sandbox, complaint, first_error
from benchforge.suite.secrets import redacted, redacted_bytes
from benchforge.text.readable import exact

PATIENCE_S = 3.0  # a server that answers wrongly may still be starting: so long it may do so
_SHOWN = 500  # characters of what is wrong: a server may have chosen them
# What OpenSSL says of a certificate, and what to do; ca_file helps with all the others.
_EXPIRED, _OTHER_NAME, _OTHER_ADDRESS = 10, 62, 64
_HINTS = {
    _EXPIRED: "make a new certificate, or set the clock",
    _OTHER_NAME: "use a name that its certificate contains",
    _OTHER_ADDRESS: "use a name that its certificate contains",
}
_EVENTS = "text/event-stream"
OVER_TLS = "it speaks TLS (HTTPS), and the request came without it"
_OTHER_HTTP = {
    OnlyHttp2: 'load it over HTTP/2, such as by h2load with protocol = "h2c", or h2 over TLS',
    http2.OnlyHttp1: 'let it speak HTTP/2, or set protocol = "http/1.1" of the load tool',
}
_NO_H2 = "it does not speak HTTP/2 over TLS, and the load does"
_END = f"request a path whose answer ends within {exact(ANSWER_WITHIN_S)} s"
_LOG_IN = (
    "log in before the load: set `session` of the scenario; or send a key: "
    "headers = { Authorization = ... }"
)

Version = Literal["HTTP/1.0", "HTTP/1.1", "HTTP/2", "either"]
"Version of HTTP of a question; over TLS a server may choose `either`, as browsers do."
_OFFERED = {"HTTP/2": ("h2",), "either": ("h2", "http/1.1")}


class HttpAnswer(NamedTuple):
    """An answer and its body, decoded where it can be."""

    answer: Answer
    body: bytes


class Like(NamedTuple):
    """Another server's body, which this one has to answer too."""

    server: str
    body: bytes


@dataclass(frozen=True)
class HttpProbe:
    """A request to a server, and the right answer to it."""

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
    version: Version = "HTTP/1.1"
    "Version of HTTP: that of the load."

    @property
    def asks(self) -> str:
        """For a person: the request line."""
        return f"{self.request.method} {self.request.path}"

    @property
    def encrypted(self) -> bool:
        """Whether the request goes over TLS."""
        return urlsplit(self.root).scheme == "https"

    @property
    def place(self) -> str:
        """For a person: host and port."""
        return ":".join(map(str, address(self.root)))

    def head(self, extra: Mapping[str, str]) -> bytes:
        """Return the head of the request as text of HTTP/1; it may replace the headers `extra`."""
        request = self.request.framed
        headers = {"Host": urlsplit(self.root).netloc, **extra}
        if request.body is not None:
            headers["Content-Length"] = str(len(request.body.encode()))
        pair = (*headers.items(), *request.headers.items())
        lines = {name.lower(): f"{name}: {value}\r\n" for name, value in pair}
        version = "HTTP/1.0" if self.version == "HTTP/1.0" else "HTTP/1.1"
        first = f"{request.method} {request.path} {version}\r\n"
        return f"{first}{''.join(lines.values())}\r\n".encode()

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
        reason = self._wrong(reply)
        if reason is None or not self.secrets:
            return reason
        # Before an excerpt is cut: of a secret that was cut, the rest would be shown.
        hidden = redacted_bytes(reply.body, self.secrets)
        answer = redacted(reply.answer, self.secrets)
        if (answer, hidden) == (reply.answer, reply.body):
            return reason
        expect = redacted(self.expect, self.secrets)
        like = self.like and Like(self.like.server, redacted_bytes(self.like.body, self.secrets))
        less = dataclasses.replace(self, expect=expect, like=like)
        return less._wrong(HttpAnswer(answer, hidden)) or "a secret in the body differs"  # noqa: SLF001

    def _wrong(self, reply: HttpAnswer) -> str | None:
        if reason := difference(self.expect, reply.answer, reply.body):
            return reason[:_SHOWN]
        if self.like is not None and (reason := body_difference(self.like.body, reply.body)):
            return f"not the body that {self.like.server} answers: {reason}"
        return None

    def failed(
        self, stage: str, message: str, hint: str = "", kind: type[TrialFailed] = ServerBroken
    ) -> TrialFailed:
        """Return the failure, with the last lines of the server's log."""
        log = "" if self.running is None else complaint(self.running)
        hint = in_log(f"{message}\n{log}", self.part, self.label) or hint
        return kind(stage, f"{self.label}: {message}", hint, log)


def version_of(load: Load | None, root: str) -> Version:
    """Return the version of HTTP to ask in: that which a load speaks at a root."""
    if load is not None and load.alpn and urlsplit(root).scheme == "https":
        return "either"
    spoken = load.protocol if load is not None else None
    if spoken == "HTTP/1.0":
        return "HTTP/1.0"
    return "HTTP/2" if (spoken or "").startswith(http2.VERSION) else "HTTP/1.1"


def ask(sandbox: Sandbox, question: HttpProbe, *, keep_alive: bool = False) -> HttpAnswer:
    """Ask once, as `Asking.answer`, over a connection of its own."""
    with contextlib.closing(Asking(sandbox, question, keep_alive=keep_alive)) as asking:
        return asking.answer()


class Asking:
    """Sends the request of a question from inside the trial's network, again and again.

    Over HTTP/1 each has its own connection, which `keep_alive` does not announce; over HTTP/2 all
    share one.
    """

    def __init__(self, sandbox: Sandbox, question: HttpProbe, *, keep_alive: bool = False) -> None:
        self._sandbox, self._question, self._keep_alive = sandbox, question, keep_alive
        self._connection: BoundedSocket | None = None
        self._http2: http2.Http2 | None = None
        self._body = (question.request.body or "").encode()

    def answer(self) -> HttpAnswer:
        """Return the next answer.

        Raises OSError without a whole answer within ANSWER_WITHIN_S or without TLS, HTTPException
        for what is not HTTP, or is longer than LARGEST_ANSWER bytes.
        """
        begun, question = time.monotonic(), self._question
        if self._connection is None or self._http2 is None:
            self._connection, spoken = _connected(self._sandbox, question)
            if not spoken:
                return self._over_http1(self._connection, begun)
            ends, root = self._connection, urlsplit(question.root)[:2]
            self._http2 = http2.Http2(ends.sendall, ends.received, root)
        self._connection.renew(begun + ANSWER_WITHIN_S)
        return self._over_http2(self._http2, begun)

    def _over_http1(self, connection: BoundedSocket, begun: float) -> HttpAnswer:
        old, keep_alive = self._question.version == "HTTP/1.0", self._keep_alive
        extra = {"Accept-Encoding": "identity"}
        if old == keep_alive:
            extra["Connection"] = "Keep-Alive" if keep_alive else "close"
        with connection:
            received = exchanged(connection, self._question.head(extra) + self._body)
            return _formed(received, begun, connection.answer_bytes)

    def _over_http2(self, connection: http2.Http2, begun: float) -> HttpAnswer:
        try:
            received = connection.answer(self._question.head({}) + self._body)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            if isinstance(error, http2.Unprocessed) and connection.answers:
                return self.answer()  # the connection had its last answer before
            if isinstance(error, Endless) and not connection.status:
                raise TimeoutError from error
            if isinstance(error, Endless):
                error.content_type = dict(connection.lines).get("content-type", "")
            raise
        if not received.keeps:
            self.close()
        return _formed(Received(*received, http2.VERSION, 0), begun, None)

    def close(self) -> None:
        """End the connection, if there is one."""
        if self._connection is not None:
            self._connection.close()
        self._connection = self._http2 = None


def _formed(received: Received, begun: float, wire_bytes: int | None) -> HttpAnswer:
    """Return the answer to a request of that monotonic time, decoded where it can be."""
    content = text = received.body
    headers, undecoded = _joined(received.lines), ""
    try:
        text = decoded(content, headers.get("content-encoding", ""))
    except Undecodable as error:
        undecoded = str(error)
    header_bytes = sum(len(name) + len(value) + 4 for name, value in received.lines)
    of_text = Decoded(length=len(text), sha256=hashlib.sha256(text).hexdigest())
    answer = Answer(
        status=received.status,
        headers=headers,
        length=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        seconds=time.monotonic() - begun,
        version=received.version,
        header_bytes=received.first + header_bytes,
        wire_bytes=header_bytes + len(content) if wire_bytes is None else wire_bytes,
        decoded=None if text is content else of_text,
        undecoded=undecoded,
    )
    return HttpAnswer(answer, text)


def _connected(sandbox: Sandbox, question: HttpProbe) -> tuple[BoundedSocket, bool]:
    """Return a connection, and whether to speak HTTP/2 on it.

    Raises OnlyHttp1 where a load would speak HTTP/2 over TLS, and the server does not.
    """
    http_2, offered = question.version == http2.VERSION, _OFFERED.get(question.version, ())
    try:
        connection = connected(sandbox, question.root, question.ca_file, offered)
    except ssl.SSLError as error:
        if http_2 and "no application protocol" in str(error):
            raise http2.OnlyHttp1(_NO_H2) from error
        raise
    if not http_2 or urlsplit(question.root).scheme == "http":
        return connection, http_2 or connection.agreed == http2.ALPN
    if connection.agreed != http2.ALPN:
        connection.close()
        raise http2.OnlyHttp1(_NO_H2)
    return connection, True


def until_right(sandbox: Sandbox, question: HttpProbe, within_s: float) -> HttpAnswer:
    """Ask until the answer is right. Raises TrialFailed when the server ends or never does so."""
    begun = time.monotonic()
    first_wrong: float | None = None
    refused = False
    while True:
        try:
            reply = ask(sandbox, question)
            reason_ = question.wrong(reply)
            if reason_ is None:
                return reply
            refused = reply.answer.status == http.HTTPStatus.UNAUTHORIZED
            _check_tls(sandbox, question, reply)
            first_wrong = first_wrong or time.monotonic()
        except (OSError, http.client.HTTPException) as error:
            if failure := _lasting(sandbox, question, error):
                raise failure from error
            reason_ = reason(error, question.place)
            if isinstance(error, ssl.SSLError | http2.NotHttp2):  # somebody speaks otherwise
                first_wrong = first_wrong or time.monotonic()
        if question.running is not None and (end := sandbox.finished(question.running)):
            ended = f"ended with exit code {end.code} before it was ready"
            cause = first_error(end.stderr)
            raise question.failed("start", f"{ended}: {cause}" if cause else ended)
        time_s = time.monotonic()
        if first_wrong is not None and time_s - first_wrong > min(PATIENCE_S, within_s):
            raise question.failed("ask", f"{question.asks}: {reason_}", _LOG_IN if refused else "")
        if time_s - begun > within_s:
            late = f"not ready within {exact(within_s)} s: {reason_}"
            raise question.failed("start", late, question.late(), TrialFailed)
        pause_s = min(0.005, 0.001 + (time_s - begun) / 100)
        if question.running is None:
            time.sleep(pause_s)
        else:
            sandbox.wait(question.running, pause_s)  # as a pause that ends when the server does


def _lasting(sandbox: Sandbox, question: HttpProbe, error: Exception) -> TrialFailed | None:
    """Return the failure for what does not become another by waiting; None for all else."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return question.failed("ask", reason(error), _HINTS.get(error.verify_code, TRUST))
    if isinstance(error, OnlyHttp2 | http2.OnlyHttp1):
        return question.failed("ask", str(error), _OTHER_HTTP[type(error)])
    if isinstance(error, Endless) and error.content_type is not None:
        return question.failed("ask", f"{question.asks}: {reason(error)}", _END)
    silent = isinstance(error, ConnectionRefusedError | TimeoutError)
    return None if silent or not speaks_tls(sandbox, question.root) else _over_tls(question)


def _check_tls(sandbox: Sandbox, question: HttpProbe, reply: HttpAnswer) -> None:
    if reply.answer.status == http.HTTPStatus.BAD_REQUEST and speaks_tls(sandbox, question.root):
        raise _over_tls(question)


def _over_tls(question: HttpProbe) -> TrialFailed:
    option = f"say tls = true in servers.{question.label}"
    hint = "write https:// in its url" if question.running is None else option
    return question.failed("ask", OVER_TLS, hint)


def once(sandbox: Sandbox, question: HttpProbe) -> HttpAnswer:
    """Ask once, after the load. Raises TrialFailed when the answer is wrong or missing."""
    try:
        reply = ask(sandbox, question)
    except (OSError, http.client.HTTPException) as error:
        raise question.failed("ask", f"after the load: {reason(error)}") from error
    if cause := question.wrong(reply):
        raise question.failed("ask", f"after the load: {question.asks}: {cause}")
    return reply


def _joined(headers: list[tuple[str, str]]) -> dict[str, str]:
    joined: dict[str, str] = {}
    for name, value in headers:
        key = name.lower()
        joined[key] = f"{joined[key]}, {value}" if key in joined else value
    return joined


def reason(error: Exception, location: str = "") -> str:
    """Return why there is no answer, for a person; `location` is the server's address."""
    return _reason(error, location)[:_SHOWN]


def _reason(error: Exception, location: str) -> str:
    if isinstance(error, TimeoutError):
        endless = error if isinstance(error, Endless) else None
        problem = "no answer" if endless is None else "its answer has no end"
        events = endless and (endless.content_type or "").startswith(_EVENTS)
        stream = f": a stream ({_EVENTS}) cannot be measured" if events else ""
        return f"{problem} within {exact(ANSWER_WITHIN_S)} s{stream}"
    if isinstance(error, ConnectionRefusedError):
        return f"nothing listens on its port, {location}".removesuffix(", ")
    if isinstance(error, http.client.IncompleteRead):
        promised = len(error.partial) + error.expected if error.expected else "more"
        return f"the body ends after {len(error.partial)} of {promised} bytes"
    if isinstance(error, ssl.SSLError):
        distrust = getattr(error, "verify_message", "")
        says = (error.reason or str(error)).replace("_", " ").lower()
        return f"certificate not trusted: {distrust}" if distrust else f"TLS: {says}"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    is_plain = type(error) is http.client.HTTPException or isinstance(error, http2.NotHttp2)
    return f"{'' if is_plain else type(error).__name__}: {error}".strip(": ")
