"""Sniffing, until the load begins, whether connections to backends speak TLS.

A connection speaks TLS when a segment of its client begins with a handshake, as with PostgreSQL.
"""

import contextlib
import socket
from collections.abc import Collection, Iterator, Mapping

from benchforge.model.trial.observation import Role
from benchforge.model.trial.trial import Link
from benchforge.run.http.wire.packets import lost, opened, segment, waiting
from benchforge.run.sandbox.sandbox import Sandbox

_ROOM = 4 << 20  # bytes that the kernel keeps for us
_HEADS = 256  # bytes of a packet that are enough
_HANDSHAKE = b"\x16\x03"


class Tap:
    """Opened before the services start, where there is a sandbox; closed when the load begins."""

    def __init__(self, sandbox: Sandbox | None) -> None:
        self._socket: socket.socket | None = None
        if sandbox is None:
            return
        with contextlib.suppress(OSError):  # not allowed: then nothing is known
            self._socket = opened(sandbox, _ROOM)

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
        return self._socket is not None and bool(lost(self._socket))


def _link(speaks: list[bool]) -> Link:
    if not speaks:
        return "none"
    return "tls" if all(speaks) else "mixed" if any(speaks) else "plain"
