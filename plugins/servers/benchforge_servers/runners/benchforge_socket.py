"""The answer of an app of protocol socket, over a blocking socket or one of gevent's."""

import contextlib
import socket
from typing import Any

END_OF_HEAD = b"\r\n\r\n"
HEAD_BYTES = 65536


def answer(connection: socket.socket, app: Any) -> None:
    """Send the app's answer, to the head of a request if it reads one, and close the connection."""
    # A client that goes away is no fault of ours, and nothing is printed for a request.
    with connection, contextlib.suppress(ConnectionError):
        if app.reads and not _head_came(connection):
            return
        connection.sendall(app.answer())
        connection.shutdown(socket.SHUT_WR)


def _head_came(connection: socket.socket) -> bool:
    head = b""
    while END_OF_HEAD not in head:
        part = connection.recv(4096)
        if not part or len(head) > HEAD_BYTES:
            return False
        head += part
    return True
