"""The null server: it answers every HTTP request with the same bytes, as fast as Python can.

A program of the standard library, run by its path: an epoll loop a process, and a memory of
packets, since a load tool sends the same bytes again and again.
"""

import argparse
import contextlib
import gc
import os
import select
import socket

READ_BYTES = 1 << 16
BACKLOG = 4096
LARGEST_HEAD = 1 << 16
REMEMBERED = 1024  # different packets; what comes beyond them is parsed each time
END = b"\r\n\r\n"
GO_ON = b"HTTP/1.1 100 Continue\r\n\r\n"


class RefusedError(Exception):
    """A request that cannot be answered with 200: the status that it gets instead."""


class Head:
    """The head of a request. Raises RefusedError for what is none, or hides its body's end."""

    def __init__(self, text: bytes) -> None:
        if len(text) > LARGEST_HEAD:
            raise RefusedError("431 Request Header Fields Too Large")
        first, *lines = text.lstrip(b"\r\n").split(b"\r\n")
        words = first.split(b" ")
        if len(words) != 3 or not words[2].startswith(b"HTTP/1."):  # noqa: PLR2004 - its words
            raise RefusedError("400 Bad Request")
        pairs = (line.partition(b":") for line in lines)
        headers = {name.strip().lower(): value.strip().lower() for name, _, value in pairs}
        length = headers.get(b"content-length", b"0")
        if b"transfer-encoding" in headers or not length.isdigit():
            raise RefusedError("411 Length Required")
        connection = headers.get(b"connection", b"")
        self.bodiless = words[0] == b"HEAD"
        self.length = int(length)
        self.asks = b"100-continue" in headers.get(b"expect", b"")
        old = words[2] == b"HTTP/1.0"
        self.closes = b"keep-alive" not in connection if old else b"close" in connection


def answer(status: str, body: bytes, *, closes: bool, bodiless: bool = False) -> bytes:
    """Return a response; `bodiless` leaves out the body, and tells its length all the same."""
    connection = "close" if closes else "keep-alive"
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\n"
        f"Connection: {connection}\r\n\r\n"
    )
    return head.encode() + (b"" if bodiless else body)


class Connection:
    """What of one connection was read and not answered yet, or answered and not sent."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.unsent = b""
        self.closes = False
        "Whether it is closed once all is sent."
        self._begun = b""
        "Read of a head whose end is still to come."
        self._left = 0
        "Bytes of a request's body that are still to come."
        self._then = (b"", False)
        "The answer to that request, and whether it closes."

    @property
    def between(self) -> bool:
        """Whether the next byte begins a request."""
        return not (self._begun or self._left or self.closes)

    def take(self, data: bytes, body: bytes) -> bytes:
        """Return the answers to all requests that `data` completes."""
        data, self._begun = self._begun + data, b""
        answers: list[bytes] = []
        while data and not self.closes:
            if self._left:
                skipped = min(self._left, len(data))
                data, self._left = data[skipped:], self._left - skipped
                if not self._left:
                    then, self.closes = self._then
                    answers.append(then)
                continue
            text, end, data = data.partition(END)
            if not end and len(text) <= LARGEST_HEAD:
                self._begun = text
                break
            answers.append(self._answered(text, body))
        return b"".join(answers)

    def _answered(self, text: bytes, body: bytes) -> bytes:
        """Return what a head is answered at once: nothing where its body is still to come."""
        try:
            head = Head(text)
        except RefusedError as refused:
            self.closes = True
            return answer(str(refused), b"", closes=True)
        then = answer("200 OK", body, closes=head.closes, bodiless=head.bodiless)
        if head.length:
            self._left, self._then = head.length, (then, head.closes)
            return GO_ON if head.asks else b""
        self.closes = head.closes
        return then

    def send(self, data: bytes) -> bool:
        """Send as much as goes; return whether all went. Raises OSError where nobody listens."""
        data = self.unsent + data
        try:
            self.unsent = data[os.write(self.fd, data) :]
        except BlockingIOError:
            self.unsent = data
        return not self.unsent


def serve(listening: socket.socket, length: int) -> None:
    """Answer each request with `length` bytes, until the process is ended."""
    body = b"x" * length
    cache: dict[bytes, bytes] = {}
    open_: dict[int, Connection] = {}
    door = listening.fileno()
    poll = select.epoll()
    poll.register(door, select.EPOLLIN)
    gc.disable()  # nothing here is made in circles
    while True:
        for fd, event in poll.poll():
            if fd == door:
                with contextlib.suppress(OSError):  # who knocked has left, or took another's door
                    connection, _ = listening.accept()
                    connection.setblocking(False)
                    client = connection.detach()
                    open_[client] = Connection(client)
                    poll.register(client, select.EPOLLIN)
                continue
            try:
                _turn(open_[fd], event, poll, body, cache)
            except OSError:
                del open_[fd]
                os.close(fd)


def _turn(
    connection: Connection, event: int, poll: select.epoll, body: bytes, cache: dict[bytes, bytes]
) -> None:
    """Do what a connection is ready for. Raises OSError where it is over."""
    if event & select.EPOLLOUT:
        answers = b""
    elif data := os.read(connection.fd, READ_BYTES):
        answers = _answers_to(connection, data, body, cache)
    else:
        raise ConnectionResetError
    if not connection.send(answers):
        # Nothing more is read until it is sent: who does not listen is not answered.
        poll.modify(connection.fd, select.EPOLLOUT)
    elif connection.closes:
        raise ConnectionResetError
    elif event & select.EPOLLOUT:
        poll.modify(connection.fd, select.EPOLLIN)


def _answers_to(
    connection: Connection, data: bytes, body: bytes, cache: dict[bytes, bytes]
) -> bytes:
    """Return the answers to a packet; remember them if it holds whole requests."""
    fresh = connection.between
    if fresh and (stored := cache.get(data)) is not None:
        return stored
    answers = connection.take(data, body)
    if fresh and connection.between and len(cache) < REMEMBERED:
        cache[data] = answers
    return answers


def listening(address: str, port: int) -> socket.socket:
    """Return a socket that takes connections; several processes may each have one of a port."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # connections inherit it
    listener.setblocking(False)
    listener.bind((address, port))
    listener.listen(BACKLOG)
    return listener


def main() -> None:
    """Serve in as many processes as are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--address", default="127.0.0.1")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--bytes", type=int, default=0, help="of each body")
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    doors = [listening(options.address, options.port) for _ in range(options.processes)]
    for door in doors[1:]:
        if os.fork() == 0:
            doors = [door]
            break
    serve(doors[0], options.bytes)


if __name__ == "__main__":
    main()
