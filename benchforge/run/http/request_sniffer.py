"""Hearing the first request of a load tool on the trial's network, as the tool really sends it."""

import contextlib
import select
import socket
import time

from benchforge.run.http.wire.packets import opened, segment, waiting
from benchforge.run.sandbox.sandbox import Sandbox

_ROOM = 1 << 17  # bytes that the kernel keeps for us: more would only be dropped later
_END = b"\r\n\r\n"
_EXPECTS = b"\r\nexpect:"


class RequestSniffer:
    """Opened just before a load, and closed with the first request: packets cost CPU time."""

    def __init__(self, sandbox: Sandbox, port: int) -> None:
        self._port = port
        self._socket: socket.socket | None = None
        with contextlib.suppress(OSError):  # not allowed
            self._socket = opened(sandbox, _ROOM, port)

    @property
    def open(self) -> bool:
        """Whether a request may still be heard."""
        return self._socket is not None

    def head(self, first: bytes, within_s: float) -> bytes | None:
        """Return the head of the first request, if it begins with `first`; None if none came."""
        deadline = time.monotonic() + within_s
        while self._socket is not None:
            for packet, leaves in waiting(self._socket):
                sent = segment(packet) if leaves else None
                if sent is None or sent.receiver[1] != self._port:
                    continue
                head = sent.payload[: sent.payload.find(_END) + len(_END)]
                if head.startswith(first) and head.endswith(_END) and _EXPECTS not in head.lower():
                    return head
            if (left_s := deadline - time.monotonic()) <= 0:
                return None
            select.select([self._socket], [], [], left_s)
        return None

    def close(self) -> None:
        """Hear no more."""
        if self._socket is not None:
            self._socket.close()
        self._socket = None
