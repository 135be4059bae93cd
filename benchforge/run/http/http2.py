"""A client's end of a connection of HTTP/2: for probes, and for the monitor's program by its path.

h2 gets all frames but GOAWAY: it would end all streams, and servers send it before the last answer.
"""

from __future__ import annotations

from http.client import HTTPException
from typing import TYPE_CHECKING, NamedTuple

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import DataReceived, Event, ResponseReceived, StreamEnded, StreamReset
from h2.exceptions import H2Error
from h2.settings import SettingCodes, Settings

if TYPE_CHECKING:
    from collections.abc import Callable

VERSION, ALPN = "HTTP/2", "h2"
MOST_HEAD = 1 << 16
_FRAME_HEAD, _LARGEST_FRAME = 9, 1 << 14
_SETTINGS, _GOAWAY = 4, 7
_NOT_SENT = {"connection", "host", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"}


class NotHttp2(HTTPException):
    """What a server sent is not an answer over HTTP/2."""


class OnlyHttp1(NotHttp2):
    """A server that answers in HTTP/1, whatever it receives."""


class Unprocessed(NotHttp2):
    """The server ended the connection in order, and did not process the request."""


class Http2Answer(NamedTuple):
    """One answer."""

    status: int
    lines: list[tuple[str, str]]
    "Name and value of each header, in the order of the server."
    body: bytes
    keeps: bool
    "True if the connection takes another request."


def translated(request: bytes, root: tuple[str, str]) -> tuple[list[tuple[str, str]], bytes]:
    """Return headers and body of a request of HTTP/1; Host replaces the authority of `root`."""
    text, _, body = request.partition(b"\r\n\r\n")
    first, *lines = text.decode(errors="replace").split("\r\n")
    method, path, _ = first.split(" ", 2)
    pairs = [line.partition(":") for line in lines]
    fields = [(name.strip().lower(), value.strip()) for name, _, value in pairs]
    authority = dict(fields).get("host", root[1])
    pseudo = (":method", method), (":scheme", root[0]), (":path", path), (":authority", authority)
    return [*pseudo, *(field for field in fields if field[0] not in _NOT_SENT)], body


class Http2:
    """A connection on which one request follows the other, as streams of their own."""

    def __init__(
        self, send: Callable[[bytes], None], receive: Callable[[], bytes], root: tuple[str, str]
    ) -> None:
        self._send, self._receive, self._root = send, receive, root
        self._data = bytearray()
        self._h2 = H2Connection(H2Configuration(header_encoding=None))
        no_push = {SettingCodes.ENABLE_PUSH: 0, SettingCodes.MAX_HEADER_LIST_SIZE: MOST_HEAD}
        self._h2.local_settings = Settings(client=True, initial_values=no_push)
        self._h2.initiate_connection()
        self._began, self._last, self.keeps = False, False, True
        self.answers = 0
        self._stream, self._ended = 0, False
        self._content = bytearray()
        self.status = 0
        "Status of the last answer; 0 until its headers came."
        self.lines: list[tuple[str, str]] = []

    def answer(self, request: bytes) -> Http2Answer:
        """Send a request in the form of HTTP/1; return its answer. Raises NotHttp2 and OSError."""
        headers, body = translated(request, self._root)
        self._content, self.status, self._ended, self.keeps = bytearray(), 0, False, False
        try:
            self._stream = self._h2.get_next_available_stream_id()
            self._h2.send_headers(self._stream, headers, end_stream=not body)
            while not self._ended:
                body = self._sent(body)
                self._receive_frames()
            if replies := self._h2.data_to_send():
                self._send(replies)
        except (H2Error, ValueError) as error:
            raise NotHttp2(f"not HTTP/2: {str(error) or type(error).__name__}") from error
        self.answers += 1
        self.keeps = not (self._last or body)
        return Http2Answer(self.status, self.lines, bytes(self._content), self.keeps)

    def _sent(self, body: bytes) -> bytes:
        """Send as much of a body as the server has room for; return the rest."""
        while body:
            window = self._h2.local_flow_control_window(self._stream)
            piece = body[: max(0, min(window, self._h2.max_outbound_frame_size))]
            if not piece:
                break
            body = body[len(piece) :]
            self._h2.send_data(self._stream, piece, end_stream=not body)
        if waiting := self._h2.data_to_send():
            self._send(waiting)
        return body

    def _receive_frames(self) -> None:
        """Receive once, and look at all frames that are whole by then."""
        received = self._receive()
        if not received:
            is_between = self.answers and not (self.status or self._data)
            ended = Unprocessed if is_between else NotHttp2
            raise ended("the connection ended before the answer did")
        self._data += received
        if not self._began and self._data.startswith(b"HTTP/"):
            raise OnlyHttp1("it speaks HTTP/1 only, and the load speaks HTTP/2")
        while len(self._data) >= _FRAME_HEAD:
            length, kind = int.from_bytes(self._data[:3]), self._data[3]
            if length > _LARGEST_FRAME or not (self._began or kind == _SETTINGS):
                raise NotHttp2("not HTTP/2: a frame is too long, or the first is not SETTINGS")
            if len(self._data) < _FRAME_HEAD + length:
                break
            self._began = True
            frame = bytes(self._data[: _FRAME_HEAD + length])
            del self._data[: len(frame)]
            if kind == _GOAWAY:
                self._goes_away(frame[_FRAME_HEAD:])
                continue
            for event in self._h2.receive_data(frame):
                self._on(event)

    def _goes_away(self, payload: bytes) -> None:
        last, code = int.from_bytes(payload[:4]) & 0x7FFFFFFF, int.from_bytes(payload[4:8])
        self._last = True
        if code or last < self._stream:
            kind = NotHttp2 if code else Unprocessed
            raise kind(f"it ended the connection: GOAWAY, {_named(code)}")

    def _on(self, event: Event) -> None:
        if isinstance(event, DataReceived):
            self._h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        if getattr(event, "stream_id", None) != self._stream:
            return
        if isinstance(event, ResponseReceived):
            lines = [(key.decode("latin-1"), text.decode("latin-1")) for key, text in event.headers]
            self.status = int(dict(lines)[":status"])
            self.lines = [line for line in lines if line[0] != ":status"]
        elif isinstance(event, DataReceived):
            self._content += event.data
        elif isinstance(event, StreamReset):
            raise NotHttp2(f"it reset the stream: RST_STREAM, {_named(event.error_code)}")
        self._ended = self._ended or isinstance(event, StreamEnded)


def _named(code: int) -> str:
    return ErrorCodes(code).name if code in set(ErrorCodes) else f"code {code}"
