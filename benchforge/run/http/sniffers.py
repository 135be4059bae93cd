"""Sniffers on a trial's network: the load tool's first request, and TLS to backends."""

import contextlib
import select
import socket
import time
from collections.abc import Collection, Iterator, Mapping

from benchforge.model.trial.trial import Link
from benchforge.model.values.case_name import Role
from benchforge.run.http.wire.packets import counted, opened, segment, waiting
from benchforge.run.sandbox.sandbox import Sandbox

_ROOM_OF_REQUEST, _ROOM = 1 << 17, 4 << 20  # bytes that the kernel keeps for us
_HEADS = 256  # bytes of a packet that are enough
_HANDSHAKE = b"\x16\x03"
_END = b"\r\n\r\n"
_EXPECTS = b"\r\nexpect:"


class Sniffer:
    """A packet socket; none where that is not allowed, or without a sandbox."""

    def __init__(self, sandbox: Sandbox | None, room: int, port: int = 0) -> None:
        self._socket: socket.socket | None = None
        if sandbox is not None:
            with contextlib.suppress(OSError):
                self._socket = opened(sandbox, room, port)

    def close(self) -> None:
        """Hear no more; it takes 10 ms."""
        if self._socket is not None:
            self._socket.close()
        self._socket = None


class RequestSniffer(Sniffer):
    """Opened just before a load, and closed with the first request: packets cost CPU time."""

    def __init__(self, sandbox: Sandbox, port: int) -> None:
        super().__init__(sandbox, _ROOM_OF_REQUEST, port)
        self._port = port

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


class Tap(Sniffer):
    """Opened before the services start, and closed when the load begins.

    A connection speaks TLS when a segment of its client begins with a handshake, as with
    PostgreSQL.
    """

    def __init__(self, sandbox: Sandbox | None) -> None:
        super().__init__(sandbox, _ROOM)

    def forget(self, starts: Role) -> None:
        """Forget what was heard: what fills and verifies a backend is not the server's doing."""
        if starts != "backend":
            for _ in self._packets():
                pass
            self._lost()

    def links(self, ports: Mapping[str, Collection[int]]) -> dict[str, Link]:
        """Return how each backend was spoken to, by its ports; nothing where that is not known."""
        if self._socket is None:
            return {}
        speaks: dict[int, dict[tuple[bytes, int], bool]] = {}
        for packet in self._packets():
            sent = segment(packet)
            if sent is None or not sent.payload:
                continue
            of_port = speaks.setdefault(sent.receiver[1], {})
            tls = sent.payload.startswith(_HANDSHAKE)
            of_port[sent.sender] = of_port.get(sent.sender, False) or tls
        if self._lost():
            return {}
        return {
            label: _link([tls for port in its for tls in speaks.get(port, {}).values()])
            for label, its in ports.items()
        }

    def _packets(self) -> Iterator[bytes]:
        if self._socket is not None:
            yield from (packet for packet, leaves in waiting(self._socket, _HEADS) if not leaves)

    def _lost(self) -> bool:
        """Whether the kernel had no room for a packet since it was last asked."""
        return self._socket is not None and bool(counted(self._socket)[1])


def _link(speaks: list[bool]) -> Link:
    if not speaks:
        return "none"
    return "tls" if all(speaks) else "mixed" if any(speaks) else "plain"
