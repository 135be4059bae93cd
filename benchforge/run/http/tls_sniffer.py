"""Listening, until the load begins, to how backends are spoken to: in TLS or not.

A socket of the kernel's that sees every packet of the trial's network. A connection speaks TLS when
one of its client's segments begins with a handshake: PostgreSQL's clients ask for it first.
"""

import contextlib
import socket
import struct
from collections.abc import Collection, Iterator, Mapping
from typing import Self

from benchforge.model.trial.observation import Role
from benchforge.model.trial.trial import Link
from benchforge.run.sandbox.sandbox import Sandbox

ALL_PROTOCOLS = socket.htons(0x0003)
OUTGOING = 4  # of a packet: on loopback each is seen on its way out, and on its way in
_ROOM = 4 << 20  # bytes that the kernel keeps for us
_HANDSHAKE = b"\x16\x03"
_IPV4, _IPV6, _TCP = 4, 6, 6
_IPV6_HEADER = 40
_PACKET_STATISTICS, _SOL_PACKET = 6, 263


class Tap:
    """Opened before the services start, where there is a sandbox; closed when the load begins."""

    def __init__(self, sandbox: Sandbox | None) -> None:
        self._socket: socket.socket | None = None
        if sandbox is None:
            return
        with contextlib.suppress(OSError):  # not allowed: then nothing is known
            self._socket = sandbox.socket(socket.AF_PACKET, socket.SOCK_DGRAM, ALL_PROTOCOLS)
            self._socket.setblocking(False)
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _ROOM)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Hear nothing more; it takes 10 ms."""
        if self._socket is not None:
            self._socket.close()

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
            for client, port, payload in segments(packet):
                of_port = speaks.setdefault(port, {})
                of_port[client] = of_port.get(client, False) or payload.startswith(_HANDSHAKE)
        if self._lost():
            return {}
        return {
            label: _link([tls for port in its for tls in speaks.get(port, {}).values()])
            for label, its in ports.items()
        }

    def _packets(self) -> Iterator[bytes]:
        while self._socket is not None:
            try:
                packet, address = self._socket.recvfrom(256)
            except BlockingIOError:
                return
            if address[2] != OUTGOING:
                yield packet

    def _lost(self) -> bool:
        """Whether the kernel had no room for a packet since it was last asked."""
        if self._socket is None:
            return False
        statistics = self._socket.getsockopt(_SOL_PACKET, _PACKET_STATISTICS, 8)
        return bool(struct.unpack("II", statistics)[1])


def segments(packet: bytes) -> Iterator[tuple[tuple[bytes, int], int, bytes]]:
    """Yield (client's address and port, port, payload) of a packet that carries something."""
    version = packet[0] >> 4 if packet else 0
    if version == _IPV4:
        length, protocol, source = (packet[0] & 15) * 4, packet[9], packet[12:16]
        whole = struct.unpack_from("!H", packet, 2)[0]
    elif version == _IPV6 and len(packet) > _IPV6_HEADER:
        length, protocol, source = _IPV6_HEADER, packet[6], packet[8:24]
        whole = _IPV6_HEADER + struct.unpack_from("!H", packet, 4)[0]
    else:
        return
    if protocol != _TCP or len(packet) < length + 20:
        return
    client, port = struct.unpack_from("!HH", packet, length)
    payload = length + (packet[length + 12] >> 4) * 4
    if whole > payload:
        yield (source, client), port, packet[payload:]


def _link(speaks: list[bool]) -> Link:
    if not speaks:
        return "none"
    return "tls" if all(speaks) else "mixed" if any(speaks) else "plain"
