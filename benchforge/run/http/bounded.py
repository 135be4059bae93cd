"""A connection that ends: a deadline and a size hold for all its bytes, over TLS too."""

import contextlib
import http.client
import io
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer

LARGEST_BODY = 64 << 20
LARGEST_HEAD = 64 << 10  # of the last response: it is kept with each trial
_PIECE = 1 << 16
_SWITCHED, _FINAL = 101, 200
T = TypeVar("T")


_SETTINGS = b"\x04"
"Type of the frame with which each end of HTTP/2 begins."
_FRAME_HEAD = 9
_STREAM = slice(5, _FRAME_HEAD)
"Bytes of a frame that name its stream: zero for the connection."


class Endless(TimeoutError):
    """An answer began, and had no end before the deadline; `content_type` is None in its head."""

    content_type: str | None = None


class OnlyHttp2(http.client.HTTPException):
    """A server that answers in HTTP/2, whatever it receives."""


class BoundedSocket(socket.socket):
    """Takes over a connected socket, for one exchange.

    A limit per `recv` would begin anew with each byte that drips. All received bytes count, also of
    TLS. It raises TimeoutError after the monotonic `deadline`, HTTPException past `most` bytes.
    """

    def __init__(self, connected: socket.socket, deadline: float, most: int) -> None:
        super().__init__(fileno=connected.detach())
        self._deadline, self._most = deadline, most
        self._received = 0
        self.answer_bytes = 0
        "What was received of HTTP, decrypted where it is TLS: all of an answer."

    agreed: str | None = None

    def renew(self, deadline: float) -> None:
        """Begin another exchange, with as many bytes as the one before."""
        self._deadline, self._received, self.answer_bytes = deadline, 0, 0

    def recv_into(self, buffer: "WriteableBuffer", nbytes: int = 0, flags: int = 0) -> int:
        """Receive into a buffer: as http.client reads."""
        with self._in_time():
            count = super().recv_into(buffer, nbytes, flags)
        self._counted(count)
        self.answer_bytes += count
        return count

    def sendall(self, data: "ReadableBuffer", flags: int = 0) -> None:
        """Send all of it before the deadline: as http.client writes."""
        with self._in_time():
            super().sendall(data, flags)

    def received(self) -> bytes:
        """Receive some bytes of HTTP; none at their end."""
        buffer = bytearray(_PIECE)
        return bytes(memoryview(buffer)[: self.recv_into(buffer)])

    def piece(self) -> bytes:
        """Receive some bytes; none at their end."""
        with self._in_time():
            received = super().recv(_PIECE)
        self._counted(len(received))
        return received

    def _counted(self, count: int) -> None:
        self._received += count
        if self._received > self._most:
            raise http.client.HTTPException(f"its answer is longer than {self._most >> 20} MiB")

    @contextlib.contextmanager
    def _in_time(self) -> Iterator[None]:
        """Give the next call what is left of the time."""
        late = Endless if self.answer_bytes else TimeoutError
        left_s = self._deadline - time.monotonic()
        if left_s <= 0:
            raise late
        self.settimeout(left_s)
        try:
            yield
        except TimeoutError as error:
            raise late from error


class BoundedTLS(BoundedSocket):
    """The same over TLS, whose bytes pass through memory.

    OpenSSL alone would read a socket until it has what it wants, records without content for ever.
    """

    def __init__(
        self, connected: socket.socket, deadline: float, most: int, tls: ssl.SSLContext, name: str
    ) -> None:
        super().__init__(connected, deadline, most)
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = tls.wrap_bio(self._incoming, self._outgoing, server_hostname=name)

    def agree(self) -> None:
        """Shake hands. Raises ssl.SSLError when nothing is agreed upon."""
        self._until_done(self._tls.do_handshake)
        self.agreed = self._tls.selected_alpn_protocol()

    def recv_into(self, buffer: "WriteableBuffer", nbytes: int = 0, flags: int = 0) -> int:
        """Receive what was encrypted into a buffer."""
        into = memoryview(buffer).cast("B")[: nbytes or None]
        try:
            decrypted = self._until_done(lambda: self._tls.read(len(into)))
        except (ssl.SSLEOFError, ssl.SSLZeroReturnError):
            return 0  # whether all was there is seen by the length that was promised
        self.answer_bytes += len(decrypted)
        into[: len(decrypted)] = decrypted
        return len(decrypted)

    def sendall(self, data: "ReadableBuffer", flags: int = 0) -> None:
        """Encrypt and send all of it before the deadline."""
        unsent = memoryview(data).cast("B")
        while unsent:
            unsent = unsent[self._until_done(partial(self._tls.write, unsent[:_PIECE])) :]

    def _until_done(self, step: Callable[[], T]) -> T:
        while True:
            try:
                result = step()
            except ssl.SSLWantReadError:
                self._flush()
                if received := self.piece():
                    self._incoming.write(received)
                else:
                    self._incoming.write_eof()
            except ssl.SSLError:
                with contextlib.suppress(OSError):
                    self._flush()  # the server may know why
                raise
            else:
                self._flush()
                return result

    def _flush(self) -> None:
        if encrypted := self._outgoing.read():
            super().sendall(encrypted)


class Received(NamedTuple):
    """An answer over HTTP/1."""

    status: int
    lines: list[tuple[str, str]]
    "Name and value of each header, in the order of the server."
    body: bytes
    keeps: bool
    "True if the connection takes another request."
    version: str
    first: int
    "Length of the first line and the empty one, in bytes."


def exchanged(connection: BoundedSocket, request: bytes) -> Received:
    """Send a request of HTTP/1, and return its whole answer. Raises OSError and HTTPException."""
    connection.sendall(request)
    response = _WholeHead(connection, method=request.partition(b" ")[0].decode())
    try:
        response.begin()
        lines, first = response.getheaders(), len(f"HTTP/1.1 200 {response.reason}\r\n\r\n")
        if first + sum(len(name) + len(value) + 4 for name, value in lines) > LARGEST_HEAD:
            raise http.client.HTTPException(f"its headers are longer than {LARGEST_HEAD} bytes")
        body = response.read(LARGEST_BODY)  # bounded, it says nothing of a body that is cut off
        if len(body) == LARGEST_BODY and response.read(1):
            raise http.client.HTTPException(f"the body is longer than {LARGEST_BODY} bytes")
        if response.length:  # what the header promised and nobody sent
            raise http.client.IncompleteRead(body, response.length)
    except Endless as error:
        headers: http.client.HTTPMessage | None = response.headers
        error.content_type = None if headers is None else headers.get("Content-Type", "")
        raise
    except ValueError as error:  # such as a chunk of -2 bytes, which http.client believes
        raise http.client.HTTPException(f"not HTTP: {error}") from error
    finally:
        response.close()
    version = f"HTTP/{response.version // 10}.{response.version % 10}"
    return Received(response.status, lines, body, not response.will_close, version, first)


class _WholeHead(http.client.HTTPResponse):
    """A response whose headers must end; http.client would take the connection's end for it."""

    def __init__(self, sock: socket.socket, method: str) -> None:
        super().__init__(sock, method=method)
        self._lines = _Lines(self.fp.detach())
        self.fp = self._lines

    def begin(self) -> None:
        """Read the first line and the headers. Raises OnlyHttp2 for a frame of HTTP/2."""
        first = self._lines.peek(_FRAME_HEAD)
        if first[3:4] == _SETTINGS and first[_STREAM] == bytes(4):
            raise OnlyHttp2("it speaks HTTP/2 only, and the load speaks HTTP/1")
        super().begin()
        while _SWITCHED < self.status < _FINAL:  # http.client leaves out 100 alone
            self.headers = self.msg = None  # type: ignore[assignment]
            super().begin()
        if self._lines.last not in {b"\r\n", b"\n"}:
            raise http.client.HTTPException("its headers end before they are whole")


class _Lines(io.BufferedReader):
    last = b""

    def readline(self, size: int | None = -1, /) -> bytes:
        self.last = super().readline(size)
        return self.last
